/** net: resolve, check, pin and fetch addresses; with `pg` and the AI SDK the only code that dials. Node's network is loaded at the first request. */
import type { Duplex } from 'node:stream'
import type { Net, NetOptions } from './types.ts'

export { proxySettings } from './proxy.ts'
export { type Roots, trustedRoots } from './roots.ts'
export type { Net, NetLimits, NetOptions, NetRequest, NetResponse } from './types.ts'

/**
 * A connection to a port of a name whose every address is public, or to `localhost`, for the program that speaks through it. The signal ends it.
 * Throws `NexusError` ADDRESS_REFUSED, NETWORK_FAILED, TIMEOUT or CANCELLED.
 */
export async function connectPinned(
  to: { readonly host: string; readonly port: number; readonly signal: AbortSignal },
  options: NetOptions = {},
): Promise<Duplex> {
  const { openPinned } = await import('./open-pinned.ts')
  return openPinned(to, options)
}

/**
 * TLS with the server at the other end of `socket`, whose certificate must be that of the host. HTTP/1.1 is the one protocol offered.
 * Throws `NexusError` NETWORK_FAILED, TIMEOUT or CANCELLED.
 */
export async function securePinned(
  socket: Duplex,
  to: { readonly host: string; readonly port: number; readonly signal: AbortSignal },
  options: NetOptions,
): Promise<Duplex> {
  const { secureOver } = await import('./open-pinned.ts')
  return secureOver(socket, to, options)
}

/** A client that dials only addresses that were checked. It keeps no connection open after a response. */
export function createNet(options: NetOptions = {}): Net {
  return {
    async request(request) {
      const { requestPinned } = await import('./request.ts')
      return requestPinned(request, options)
    },
  }
}
