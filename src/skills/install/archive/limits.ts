/** A file of an archive, whole. */
export interface ArchiveFile {
  readonly path: string
  readonly bytes: Uint8Array
  readonly executable: boolean
}

/** Source: reference/security §2.3. */
export const ARCHIVE_LIMITS = {
  archiveBytes: 25 * 1024 * 1024,
  entries: 2_000,
  fileBytes: 10 * 1024 * 1024,
  totalBytes: 50 * 1024 * 1024,
  /** Decoded bytes for each encoded one, for files above `ratioFromBytes`. */
  ratio: 200,
  ratioFromBytes: 1024 * 1024,
  pathBytes: 512,
  depth: 16,
} as const

/** An archive that is refused; `why` completes "the archive …". */
export class Refused extends Error {
  readonly isLimit: boolean

  constructor(why: string, isLimit = false) {
    super(why)
    this.isLimit = isLimit
  }
}

const DEVICES = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i

/** The paths of an archive: each one that every system reads in the same way, and none twice. */
export class Paths {
  readonly #taken = new Map<string, 'file' | 'directory'>()
  #entries = 0

  /** Throws Refused. `name` ends with a slash for a directory. */
  add(name: string): void {
    if (++this.#entries > ARCHIVE_LIMITS.entries)
      throw new Refused(`has more than ${ARCHIVE_LIMITS.entries} entries`, true)
    const isDirectory = name.endsWith('/')
    const parts = (isDirectory ? name.slice(0, -1) : name).split('/')
    const isLong = Buffer.byteLength(name) > ARCHIVE_LIMITS.pathBytes || parts.length > ARCHIVE_LIMITS.depth
    if (isLong || !parts.every(isPortable)) throw new Refused(`has a name that is refused: ${JSON.stringify(name)}`)
    for (let count = 1; count <= parts.length; count++) {
      const key = parts.slice(0, count).join('/').toLowerCase()
      const kind = count === parts.length && !isDirectory ? 'file' : 'directory'
      const before = this.#taken.get(key)
      if (before === 'file' || (before !== undefined && kind === 'file'))
        throw new Refused(`has two entries of one name: ${JSON.stringify(name)}`)
      this.#taken.set(key, kind)
    }
  }
}

/** Whether a part of a path is the same name on every system, and names no repository. */
export function isPortable(part: string): boolean {
  if (part === '' || part === '.' || part === '..' || part.toLowerCase() === '.git') return false
  if (/[. ]$/.test(part) || DEVICES.test(part)) return false
  return !/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD\\:*?"<>|]/u.test(part) && part === part.normalize('NFC')
}

/** Adds up what files have. Throws Refused. */
export class Sizes {
  #total = 0

  add(path: string, size: number, encoded = size): void {
    this.#total += size
    const { fileBytes, totalBytes, ratio, ratioFromBytes } = ARCHIVE_LIMITS
    if (size > fileBytes) throw new Refused(`has a file of more than ${fileBytes} bytes: ${JSON.stringify(path)}`, true)
    if (this.#total > totalBytes) throw new Refused(`has more than ${totalBytes} bytes`, true)
    if (size > ratioFromBytes && size > ratio * encoded)
      throw new Refused(`unpacks to more than ${ratio} times its size`, true)
  }
}

/** Names are UTF-8, or the archive is refused. */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refused('has a name that is not UTF-8')
  }
}
