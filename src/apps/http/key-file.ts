/** The key of an HTTP server: a file that only its user reads. Source: decisions, "server key file". */
import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode, NexusError, toSafeLine } from '../../kernel/index.ts'

const KEY = /^[A-Za-z0-9_-]{32,128}$/
const KEY_BYTES = 32
/** New keys have it; those of earlier versions stay valid. Source: contracts §1.5. */
const PREFIX = 'nxk_'
const MAX_FILE_BYTES = 256

/** The key in that file, made when there is none. Throws CONFIG_INVALID for a file or directory that others can read or change. */
export async function openKeyFile(file: string): Promise<string> {
  const directory = dirname(file)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await checkDirectory(directory)
  try {
    const made = await open(file, 'wx', 0o600)
    try {
      const key = `${PREFIX}${Buffer.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES))).toString('base64url')}`
      await made.writeFile(key)
      return key
    } finally {
      await made.close()
    }
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw unusable(file, 'it cannot be written')
  }
  return readKey(file)
}

async function readKey(file: string): Promise<string> {
  const opened = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => {
    throw unusable(file, 'it is a link, or cannot be read')
  })
  try {
    const stats = await opened.stat()
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES) throw unusable(file, 'it is not a file with a key')
    if (isOthers(stats, 0o077)) throw unusable(file, 'other users can read it')
    const key = (await opened.readFile('utf8')).trim()
    if (!KEY.test(key)) throw unusable(file, 'it holds no key')
    return key
  } finally {
    await opened.close()
  }
}

/** A directory that others may change lets them put a key of their own there. */
async function checkDirectory(directory: string): Promise<void> {
  const opened = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(() => {
    throw unusable(directory, 'it is no directory, or a link')
  })
  try {
    if (isOthers(await opened.stat(), 0o022)) throw unusable(directory, 'other users can write to it')
  } finally {
    await opened.close()
  }
}

function isOthers({ uid, mode }: { readonly uid: number; readonly mode: number }, bits: number): boolean {
  return uid !== process.getuid?.() || (mode & bits) !== 0
}

function unusable(file: string, why: string): NexusError {
  return new NexusError('CONFIG_INVALID', `Nexus does not use ${toSafeLine(file)} for the key of its server: ${why}.`, {
    fix: 'Remove it. Nexus makes a new one, which only you can read, at the next start.',
  })
}
