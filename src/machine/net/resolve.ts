/** resolve: the addresses of a target. A name is resolved once, and every answer must be allowed, also those that are not dialled. */
import { lookup as lookupName } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { errorCode, errorMessage, toSafeLine } from '../../kernel/index.ts'
import { createAddressRule } from './addresses.ts'
import { network, refused, USE_PUBLIC } from './errors.ts'
import type { Target } from './target.ts'
import type { Lookup, NetOptions, PinnedAddress } from './types.ts'

export async function resolveTarget(
  target: Pick<Target, 'host' | 'origin' | 'isConfigured'>,
  options: NetOptions,
): Promise<readonly PinnedAddress[]> {
  const { ownAddresses = addressesOfMachine } = options
  const addresses = await addressesOf(target.host, options)
  const rule = createAddressRule(ownAddresses())
  for (const { address } of addresses) {
    const range = rule(address, target.isConfigured)
    if (range !== undefined)
      throw refused(
        `Nexus did not contact ${target.origin}: it has an address that is not public (${range}).`,
        USE_PUBLIC,
      )
  }
  return addresses
}

/** Without any rule: also for a proxy, which the user configured. */
export async function addressesOf(host: string, { lookup = lookupAll }: NetOptions): Promise<readonly PinnedAddress[]> {
  if (isIP(host) !== 0) return [pinned(host)]
  const answers = await lookup(host).catch((error: unknown) => {
    throw unresolved(host, reasonOf(error), error)
  })
  const addresses = [...new Set(answers.map(({ address }) => address))].map(pinned)
  if (addresses.length === 0) throw unresolved(host, 'it has no address')
  return addresses
}

function unresolved(host: string, reason: string, cause?: unknown): Error {
  return network(
    `The name ${host} could not be resolved: ${reason}.`,
    'Check the spelling of the host and your DNS.',
    cause,
  )
}

function pinned(address: string): PinnedAddress {
  return { address, family: isIP(address) === 6 ? 6 : 4 }
}

const lookupAll: Lookup = (name) => lookupName(name, { all: true })

function addressesOfMachine(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address))
}

/** The code of Node's error where it has one: its message repeats names and addresses. */
export function reasonOf(error: unknown): string {
  return toSafeLine(errorCode(error) ?? errorMessage(error)).slice(0, 200)
}
