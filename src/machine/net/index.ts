/** net: resolve, check, pin and fetch addresses; with `pg` and the AI SDK the only code that dials. Node's network is loaded at the first request. */
import type { Net, NetOptions } from './types.ts'

export { proxySettings } from './proxy.ts'
export type { Net, NetLimits, NetOptions, NetRequest, NetResponse } from './types.ts'

/** A client that dials only addresses that were checked. It keeps no connection open after a response. */
export function createNet(options: NetOptions = {}): Net {
  return {
    async request(request) {
      const { requestPinned } = await import('./request.ts')
      return requestPinned(request, options)
    },
  }
}
