import { gunzipSync } from 'node:zlib'
import { ARCHIVE_LIMITS, type ArchiveFile, Paths, Refused, Sizes, textOf } from './limits.ts'

const BLOCK = 512
/** Content, headers and padding. */
const MAX_DECODED = ARCHIVE_LIMITS.totalBytes + 2 * BLOCK * (ARCHIVE_LIMITS.entries + 2)

/** The files of a tar.gz with plain headers only: no link, device, long-name or overriding header. Throws Refused. */
export function readTarGz(archive: Buffer): ArchiveFile[] {
  const tar = decoded(archive)
  const paths = new Paths()
  const sizes = new Sizes()
  const files: ArchiveFile[] = []
  let at = 0
  for (; at + BLOCK <= tar.length;) {
    const header = tar.subarray(at, at + BLOCK)
    if (isZero(header)) break
    checkSum(header)
    const size = octal(header.subarray(124, 136))
    const start = at + BLOCK
    if (start + size > tar.length) throw new Refused('is cut')
    at = start + Math.ceil(size / BLOCK) * BLOCK
    const file = readMember(header, tar.subarray(start, start + size))
    if (!file) continue
    paths.add(file.path)
    sizes.add(file.path, size)
    if (!file.path.endsWith('/')) files.push(file)
  }
  if (!isZero(tar.subarray(at))) throw new Refused('has something after its end')
  if (files.length === 0) throw new Refused('is empty')
  return files
}

function decoded(archive: Buffer): Buffer {
  try {
    const tar = gunzipSync(archive, { maxOutputLength: MAX_DECODED })
    if (tar.length > ARCHIVE_LIMITS.ratioFromBytes && tar.length > ARCHIVE_LIMITS.ratio * archive.length)
      throw new Refused(`unpacks to more than ${ARCHIVE_LIMITS.ratio} times its size`, true)
    return tar
  } catch (error) {
    if (error instanceof Refused) throw error
    const isLarge = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'
    throw isLarge
      ? new Refused(`has more than ${ARCHIVE_LIMITS.totalBytes} bytes`, true)
      : new Refused('is no gzip, or is damaged')
  }
}

/** Undefined for the comment that git writes. */
function readMember(header: Buffer, bytes: Buffer): ArchiveFile | undefined {
  const type = String.fromCharCode(header[156] ?? 0)
  if (type === 'g') {
    if (/^\d+ comment=[0-9a-f]{40,64}\n$/.test(bytes.toString('latin1'))) return undefined
    throw new Refused('has a header that changes others')
  }
  if (header.subarray(257, 262).toString('latin1') !== 'ustar') throw new Refused('is no tar of the usual kind')
  // GNU tar has times in the place of the prefix.
  const prefix = header[262] === 0 ? field(header.subarray(345, 500)) : ''
  const name = field(header.subarray(0, 100))
  const path = (prefix === '' ? name : `${prefix}/${name}`).replace(/^\.\//, '')
  if (type === '5') return { path: path.endsWith('/') ? path : `${path}/`, bytes, executable: false }
  if (type !== '0' && type !== '\0')
    throw new Refused(`has a link, a special file or a header of another kind: ${JSON.stringify(path)}`)
  return { path, bytes, executable: (octal(header.subarray(100, 108)) & 0o111) !== 0 }
}

function field(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  return textOf(end < 0 ? bytes : bytes.subarray(0, end))
}

function octal(bytes: Buffer): number {
  const text = bytes.toString('latin1').replace(/[\0 ]+$/, '')
  if (!/^[0-7]{1,11}$/.test(text)) throw new Refused('has a number that is refused')
  return Number.parseInt(text, 8)
}

function checkSum(header: Buffer): void {
  let sum = 0
  for (const [index, byte] of header.entries()) sum += index >= 148 && index < 156 ? 32 : byte
  if (octal(header.subarray(148, 156)) !== sum) throw new Refused('is damaged')
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0)
}
