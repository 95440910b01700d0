/** egress: the way of one command to the hosts that it may reach: a proxy on a unix socket, by HTTP, CONNECT or SOCKS5. */
import { trustedRoots } from '../net/index.ts'
import type { MaskOptions } from './masks.ts'
import type { DoorOptions } from './door.ts'
import type { Egress } from './egress.ts'
import type { EgressPolicy } from './policy.ts'

export type { DoorOptions as EgressOptions, EgressReport, ReachedHost, RefusedHost } from './door.ts'
export type { Egress } from './egress.ts'
export type { Mask } from './masks.ts'
export type { MaskOptions }
export { type EgressPolicy, judge, type RefusedBecause } from './policy.ts'

/** Whether anybody can have a name below that one, such as `com`, `co.uk` and `github.io`; also for what is not in the list of public suffixes. */
export async function isPublicSuffix(name: string): Promise<boolean> {
  const { getPublicSuffix } = await import('tldts')
  return getPublicSuffix(name, { allowPrivateDomains: true }) === name
}

/** Ends the TLS of hosts that get masked keys. `certificates` are files of the user's own, which are trusted besides the system's. Rejects where one cannot be read. */
export async function openAuthority(certificates: readonly string[]): Promise<Omit<MaskOptions, 'masks'>> {
  const [{ createAuthority }, roots] = await Promise.all([import('./authority.ts'), trustedRoots(certificates)])
  return { authority: createAuthority(), roots }
}

/**
 * Serves one command at `path`, a new unix socket; who speaks through it is who can open it. The policy is fixed from then on, and no secret is in a file.
 * Rejects with the error of the system where the socket cannot be made.
 */
export async function openEgress(path: string, policy: EgressPolicy, options?: DoorOptions): Promise<Egress> {
  // Loaded when used: it loads the network parts of Node.
  const { serveEgress } = await import('./egress.ts')
  return serveEgress(path, policy, options)
}
