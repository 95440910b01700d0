/** open-pinned: a connection without a protocol of its own, to addresses that were checked. */
import type { Duplex } from 'node:stream'
import { beforeAbort, within } from './deadline.ts'
import { openPlain, secured } from './dial.ts'
import { LIMITS } from './request.ts'
import { resolveTarget } from './resolve.ts'
import type { NetOptions, PinnedAddress } from './types.ts'

const LOOPBACK: readonly PinnedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

export async function openPinned(
  { host, port, signal }: { readonly host: string; readonly port: number; readonly signal: AbortSignal },
  options: NetOptions,
): Promise<Duplex> {
  const isLocal = host === 'localhost'
  const origin = `${host}:${port}`
  const target = { host, port, origin, isTls: port !== 80 }
  const limits = { ...LIMITS, ...options.limits }
  return await within({ origin, limits, signal }, 'connectMs', async (bounded) => {
    if (isLocal) {
      const { proxy: _, ...direct } = options
      return openPlain(target, LOOPBACK, { ...bounded, options: direct })
    }
    const addresses = await beforeAbort(resolveTarget({ ...target, isConfigured: false }, options), bounded)
    return openPlain(target, addresses, { ...bounded, options })
  })
}

export async function secureOver(
  socket: Duplex,
  { host, port, signal }: { readonly host: string; readonly port: number; readonly signal: AbortSignal },
  options: NetOptions,
): Promise<Duplex> {
  const origin = `${host}:${port}`
  const limits = { ...LIMITS, ...options.limits }
  return within({ origin, limits, signal }, 'connectMs', async (bounded) =>
    secured(socket, host, { ...bounded, options }),
  )
}
