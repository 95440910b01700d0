/** messages: why a connection was refused, in one line with one next step. */
import type { RefusedBecause } from './policy.ts'

export interface RefusalFacts {
  readonly host: string
  readonly port: number
  /** In the form of a setting. */
  readonly shown: string
  readonly setting: string | undefined
  /** The words of the cause. */
  readonly detail: string | undefined
}

const DEFAULT_SETTING = 'execution.network.allowedDomains'

export const REFUSED: Readonly<Record<RefusedBecause, (facts: RefusalFacts) => string>> = {
  denied: ({ host, port }) =>
    `Nexus refused ${host} port ${port}: execution.network.deniedDomains names it. Only the user can remove it there.`,
  limits: ({ host, port }) =>
    `Nexus refused ${host} port ${port}: the permissions of this agent do not contain it. The user can add it to the agent's permissions.network.`,
  'not-allowed': ({ host, port, shown, setting = DEFAULT_SETTING }) =>
    `Nexus refused ${host} port ${port}: no setting allows it. The user can add ${shown} to ${setting}.`,
  literal: ({ host, port }) =>
    `Nexus refused ${host} port ${port}: commands reach hosts by name only. Use the name of the server.`,
  address: ({ host, port }) =>
    `Nexus refused ${host} port ${port}: the name has an address that is not public. Only localhost:PORT can be allowed on private networks.`,
  'other-host': ({ host, port, detail = 'the connection names another host' }) =>
    `Nexus ended the connection to ${host} port ${port}: ${detail}. Ask for the host that is meant.`,
  unreachable: ({ host, port, detail = 'it did not answer' }) =>
    `Nexus could not reach ${host} port ${port}: ${detail.replace(/\.$/, '')}. Try again later.`,
  malformed: ({ host, port }) =>
    `Nexus refused a connection to ${host} port ${port}: the request cannot be read. Use the proxy variables as they are set.`,
}
