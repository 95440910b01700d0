/** net: the public function of the room; what reaches the network is loaded at the first request. */
import type { Net, NetOptions } from './types.ts'

/** A client that dials only addresses that were checked. It keeps no connection open after a response. */
export function createNet(options: NetOptions = {}): Net {
  return {
    async request(request) {
      const { requestPinned } = await import('./request.ts')
      return requestPinned(request, options)
    },
  }
}
