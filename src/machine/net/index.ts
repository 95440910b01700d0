/** net: resolve, check, pin and fetch addresses; with `pg` and the AI SDK the only code that dials. Node's network is loaded at the first request. */
export { createNet } from './net.ts'
export { type ProxySettings, proxySettings } from './proxy.ts'
export type { Connect, Lookup, Net, NetLimits, NetOptions, NetRequest, NetResponse, PinnedAddress } from './types.ts'
