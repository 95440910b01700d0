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

export interface RefusalWords {
  readonly message: string
  readonly fix: string
}

export const DEFAULT_SETTING = 'execution.network.allowedDomains'

export const REFUSED: Readonly<Record<RefusedBecause, (facts: RefusalFacts) => RefusalWords>> = {
  denied: ({ host, port }) => ({
    message: `Nexus refused ${host} port ${port}: execution.network.deniedDomains names it.`,
    fix: 'Only the user can remove it there.',
  }),
  limits: ({ host, port }) => ({
    message: `Nexus refused ${host} port ${port}: the permissions of this agent do not contain it.`,
    fix: "Only the user can add it to the agent's permissions.network.",
  }),
  'not-allowed': ({ host, port, shown, setting = DEFAULT_SETTING }) => ({
    message: `Nexus refused ${host} port ${port}: no setting allows it.`,
    fix: `Only the user can allow it: add ${shown} to ${setting}.`,
  }),
  literal: ({ host, port }) => ({
    message: `Nexus refused ${host} port ${port}: commands reach hosts by name only.`,
    fix: 'Use the name of the server.',
  }),
  address: ({ host, port }) => ({
    message: `Nexus refused ${host} port ${port}: the name has an address that is not public.`,
    fix: 'Use a public server. Of this machine only localhost:PORT can be allowed.',
  }),
  'other-host': ({ host, port, detail = 'the connection names another host' }) => ({
    message: `Nexus ended the connection to ${host} port ${port}: ${detail}.`,
    fix: 'Ask for the host that is meant.',
  }),
  unreachable: ({ host, port, detail = 'it did not answer' }) => ({
    message: `Nexus could not reach ${host} port ${port}: ${detail.replace(/\.$/, '')}.`,
    fix: 'Try again later.',
  }),
  malformed: ({ host, port }) => ({
    message: `Nexus refused a connection to ${host} port ${port}: the request cannot be read.`,
    fix: 'Use the proxy variables as they are set.',
  }),
  'masked-upgrade': ({ host, port }) => ({
    message: `Nexus refused ${host} port ${port}: with a masked key only HTTP passes, and the request asks for another protocol.`,
    fix: 'Only the user can change it: remove credentials: mask from the entry of the skill.',
  }),
}
