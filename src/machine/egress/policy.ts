/** policy: whether a command may reach a host. Fixed when the command starts; a person may add hosts while it runs. */
import { allowsHost, containsDomain, deniesHost, type HostPort, type HostRule } from '../../kernel/index.ts'

/** Fixed for the life of one proxy. */
export interface EgressPolicy {
  readonly allowed: readonly HostRule[]
  /** They win over all that is allowed, and no person is asked about them. */
  readonly denied: readonly HostRule[]
  /** Names in the form of `CallLimits.networkDomains` that contain every host that may be reached; absent = any. */
  readonly within?: readonly string[] | undefined
}

/**
 * Why a connection was refused. `denied`: by the list of denied hosts; `limits`: by the rules of the agent; `not-allowed`: no list contains it;
 * `literal`: an address in place of a name; `address`: the name has an address that is not public; `other-host`: what came through names another host,
 * or is neither TLS nor HTTP on a port of the web; `unreachable`: the host did not answer; `malformed`: a request that cannot be read;
 * `masked-upgrade`: another protocol over a connection whose key is masked.
 */
export type RefusedBecause =
  | 'denied'
  | 'limits'
  | 'not-allowed'
  | 'literal'
  | 'address'
  | 'other-host'
  | 'unreachable'
  | 'malformed'
  | 'masked-upgrade'

export type Ruling = 'allowed' | Extract<RefusedBecause, 'denied' | 'limits' | 'not-allowed'>

export function judge({ allowed, denied, within }: EgressPolicy, to: HostPort): Ruling {
  if (denied.some((rule) => deniesHost(rule, to))) return 'denied'
  if (within && !within.some((pattern) => containsDomain(pattern, to.host))) return 'limits'
  return allowed.some((rule) => allowsHost(rule, to)) ? 'allowed' : 'not-allowed'
}
