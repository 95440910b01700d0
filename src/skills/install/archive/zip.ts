import { crc32, inflateRawSync } from 'node:zlib'
import { ARCHIVE_LIMITS, type ArchiveFile, Paths, Refused, Sizes, textOf } from './limits.ts'

interface Entry {
  readonly name: string
  readonly nameBytes: Buffer
  readonly flags: number
  readonly method: number
  readonly crc: number
  readonly packed: number
  readonly size: number
  readonly at: number
  readonly executable: boolean
}

const END = 0x06054b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50
const DESCRIPTOR = 0x08074b50
const END_BYTES = 22
const CENTRAL_BYTES = 46
const LOCAL_BYTES = 30
const MAX_COMMENT = 256
/** Levels of deflate, a descriptor after the data, names in UTF-8. */
const KNOWN_FLAGS = 0x080e
const HAS_DESCRIPTOR = 0x0008
/** Extra fields that give an entry another size, name or encryption. */
const REFUSED_EXTRAS: ReadonlySet<number> = new Set([0x0001, 0x7075, 0x6375, 0x9901, 0x0017])

/**
 * The files of a zip that every reader reads in the same way: one end record, entries without gap or overlap, both headers of each equal.
 * All headers are checked before anything is inflated. Throws Refused. Source: reference/security §2.3.
 */
export function readZip(zip: Buffer): ArchiveFile[] {
  const entries = readDirectory(zip)
  const sizes = new Sizes()
  for (const { name, size, packed } of entries) sizes.add(name, size, packed)
  let at = 0
  const data = entries
    .toSorted((a, b) => a.at - b.at)
    .map((entry) => {
      if (entry.at !== at) throw new Refused('has bytes that belong to no entry, or to two')
      const start = checkLocal(zip, entry)
      at = endOf(zip, entry, start)
      return { entry, packed: zip.subarray(start, start + entry.packed) }
    })
  if (at !== zip.readUInt32LE(endRecord(zip) + 16)) throw new Refused('has bytes that belong to no entry')
  return data.flatMap(({ entry, packed }) => {
    const bytes = unpack(entry, packed)
    return entry.name.endsWith('/') ? [] : [{ path: entry.name, bytes, executable: entry.executable }]
  })
}

function endRecord(zip: Buffer): number {
  for (let at = zip.length - END_BYTES; at >= Math.max(0, zip.length - END_BYTES - MAX_COMMENT); at--) {
    if (zip.readUInt32LE(at) !== END) continue
    const comment = zip.subarray(at + END_BYTES)
    if (zip.readUInt16LE(at + 20) !== comment.length || !/^[\x20-\x7e]*$/.test(comment.toString('latin1')))
      throw new Refused('has something after its end')
    return at
  }
  throw new Refused('is no zip, or its end is missing')
}

function readDirectory(zip: Buffer): Entry[] {
  const end = endRecord(zip)
  const [disk, start, here, count] = [4, 6, 8, 10].map((offset) => zip.readUInt16LE(end + offset))
  const size = zip.readUInt32LE(end + 12)
  const offset = zip.readUInt32LE(end + 16)
  if (disk !== 0 || start !== 0 || here !== count) throw new Refused('has several parts')
  if (count === undefined || count === 0) throw new Refused('is empty')
  if (count > ARCHIVE_LIMITS.entries) throw new Refused(`has more than ${ARCHIVE_LIMITS.entries} entries`, true)
  if (offset + size !== end) throw new Refused('has a directory that is not where its end says')
  const paths = new Paths()
  const entries: Entry[] = []
  let at = offset
  for (let index = 0; index < count; index++) {
    const { entry, next } = readEntry(zip, at, end)
    paths.add(entry.name)
    entries.push(entry)
    at = next
  }
  if (at !== end) throw new Refused('has more entries than it says')
  return entries
}

function readEntry(zip: Buffer, at: number, end: number): { entry: Entry; next: number } {
  if (at + CENTRAL_BYTES > end || zip.readUInt32LE(at) !== CENTRAL) throw new Refused('has fewer entries than it says')
  const nameEnd = at + CENTRAL_BYTES + zip.readUInt16LE(at + 28)
  const extraEnd = nameEnd + zip.readUInt16LE(at + 30)
  const next = extraEnd + zip.readUInt16LE(at + 32)
  if (next > end || zip.readUInt16LE(at + 34) !== 0) throw new Refused('has an entry that is cut')
  const nameBytes = zip.subarray(at + CENTRAL_BYTES, nameEnd)
  const name = textOf(nameBytes)
  checkExtras(zip.subarray(nameEnd, extraEnd))
  const entry = {
    ...{ name, nameBytes, executable: isExecutable(zip, at, name) },
    flags: zip.readUInt16LE(at + 8),
    method: zip.readUInt16LE(at + 10),
    crc: zip.readUInt32LE(at + 16),
    packed: zip.readUInt32LE(at + 20),
    size: zip.readUInt32LE(at + 24),
    at: zip.readUInt32LE(at + 42),
  }
  checkKind(entry)
  return { entry, next }
}

function checkKind({ flags, method, name }: Entry): void {
  if ((flags & ~KNOWN_FLAGS) !== 0)
    throw new Refused(`has an entry that is encrypted or of an unknown kind: ${JSON.stringify(name)}`)
  if (method !== 0 && method !== 8)
    throw new Refused(`has an entry that is packed in an unknown way: ${JSON.stringify(name)}`)
}

/** Unix attributes say the kind of an entry: files and directories only. */
function isExecutable(zip: Buffer, at: number, name: string): boolean {
  const isUnix = zip.readUInt8(at + 5) === 3
  const mode = isUnix ? zip.readUInt16LE(at + 40) : 0
  const kind = mode & 0o170000
  const wanted = name.endsWith('/') ? 0o040000 : 0o100000
  if (kind !== 0 && kind !== wanted) throw new Refused(`has a link or a special file: ${JSON.stringify(name)}`)
  return (mode & 0o111) !== 0
}

function checkExtras(extras: Buffer): void {
  for (let at = 0; at < extras.length;) {
    if (at + 4 > extras.length) throw new Refused('has an extra field that is cut')
    if (REFUSED_EXTRAS.has(extras.readUInt16LE(at))) throw new Refused('has an extra field that changes an entry')
    at += 4 + extras.readUInt16LE(at + 2)
  }
}

/** Returns where the data begins. */
function checkLocal(zip: Buffer, { at, name, nameBytes, flags, method, crc, packed, size }: Entry): number {
  const differs = new Refused(`has two headers that differ: ${JSON.stringify(name)}`)
  if (at + LOCAL_BYTES > zip.length || zip.readUInt32LE(at) !== LOCAL) throw differs
  const [nameLength = 0, extraLength = 0] = [26, 28].map((offset) => zip.readUInt16LE(at + offset))
  const start = at + LOCAL_BYTES + nameLength + extraLength
  if (start + packed > zip.length) throw new Refused('is cut')
  const isSame = zip.readUInt16LE(at + 6) === flags && zip.readUInt16LE(at + 8) === method
  if (!isSame || !zip.subarray(at + LOCAL_BYTES, at + LOCAL_BYTES + nameLength).equals(nameBytes)) throw differs
  checkExtras(zip.subarray(start - extraLength, start))
  const said = [14, 18, 22].map((offset) => zip.readUInt32LE(at + offset))
  const isLater = (flags & HAS_DESCRIPTOR) !== 0 && said.every((number) => number === 0)
  if (!isLater && String(said) !== String([crc, packed, size])) throw differs
  return start
}

/** Returns the end of the data, after a descriptor that says the same as the directory. */
function endOf(zip: Buffer, { flags, name, crc, packed, size }: Entry, start: number): number {
  const end = start + packed
  if ((flags & HAS_DESCRIPTOR) === 0) return end
  const at = end + 4 <= zip.length && zip.readUInt32LE(end) === DESCRIPTOR ? end + 4 : end
  const said = at + 12 > zip.length ? [] : [0, 4, 8].map((offset) => zip.readUInt32LE(at + offset))
  if (String(said) !== String([crc, packed, size]))
    throw new Refused(`has two headers that differ: ${JSON.stringify(name)}`)
  return at + 12
}

function unpack({ method, size, crc, name }: Entry, packed: Buffer): Uint8Array {
  const damaged = new Refused(`is damaged: ${JSON.stringify(name)}`)
  let bytes: Buffer
  try {
    bytes = method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(1, size) })
  } catch {
    throw damaged
  }
  if (bytes.length !== size || crc32(bytes) !== crc) throw damaged
  return bytes
}
