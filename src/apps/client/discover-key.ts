/** Where the key of a server is found. Source: contracts §1.5, "Discovery order". */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface KeyPlaces {
  readonly port: number
  /** Such as `process.env`. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

const DEFAULT_PORT = 8765
const MAX_KEY_BYTES = 256
const KEY = /^[A-Za-z0-9_-]{32,128}$/

/**
 * The key for a server of this machine: `NEXUS_API_KEY` or `NEXUS3_API_KEY`, else the file of its port, in `NEXUS_HOME` (`~/.nexus`)
 * or as earlier versions name it. Undefined when there is none. A file that other users can read is left out.
 */
export async function discoverKey({ port, environment }: KeyPlaces): Promise<string | undefined> {
  const given = environment['NEXUS_API_KEY'] ?? environment['NEXUS3_API_KEY']
  if (given !== undefined && given !== '') return given
  const home = environment['HOME'] ?? homedir()
  const nexus = environment['NEXUS_HOME'] ?? join(home, '.nexus')
  const old = join(home, '.nexus3')
  const names = [`apikeys/${port}.key`, `server-${port}.key`, `rpc-${port}.token`]
  const places = [
    join(nexus, 'apikeys', `${port}.key`),
    ...names.map((name) => join(old, name)),
    ...(port === DEFAULT_PORT ? ['server.key', 'rpc.token'].map((name) => join(old, name)) : []),
  ]
  for (const place of places) {
    const key = await readKey(place)
    if (key !== undefined) return key
  }
  return undefined
}

async function readKey(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  if (!file) return undefined
  try {
    const { mode, size, uid } = await file.stat()
    const isOwn = uid === process.getuid?.() || process.getuid === undefined
    if (!isOwn || (mode & 0o077) !== 0 || size > MAX_KEY_BYTES) return undefined
    const key = (await file.readFile('utf8')).trim()
    return KEY.test(key) ? key : undefined
  } finally {
    await file.close()
  }
}
