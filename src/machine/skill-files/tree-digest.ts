import { compareUtf8, createSha256, type ManifestEntry, NexusError } from '../../kernel/index.ts'

const PREFIX = 'nexus-skill-tree-v1\0'
const HEX_DIGEST = /^[0-9a-f]{64}$/

/**
 * The revision of a skill: `sha256:` and 64 hex digits over all its files. The hashed bytes are the prefix `nexus-skill-tree-v1` with
 * a zero byte, then per file, sorted by the UTF-8 bytes of its path: length of the path (u32), path, executable (u8, 0 or 1),
 * size (u64), sha256 (32 bytes); integers big-endian. Throws INVALID_ARGUMENT for entries that no file can have.
 * Source: reference/security §6.
 */
export function treeDigest(files: readonly ManifestEntry[]): string {
  const sorted = [...files].sort((a, b) => compareUtf8(a.path, b.path))
  const hash = createSha256().update(PREFIX, 'latin1')
  let previous: string | undefined
  for (const file of sorted) {
    if (file.path === previous) throw invalid(file, 'appears twice')
    previous = file.path
    hash.update(encodeEntry(file))
  }
  return `sha256:${hash.digest('hex')}`
}

function encodeEntry(file: ManifestEntry): Buffer {
  if (file.path === '' || !file.path.isWellFormed()) throw invalid(file, 'has no usable path')
  if (!Number.isSafeInteger(file.size) || file.size < 0) throw invalid(file, `has the size ${file.size}`)
  if (!HEX_DIGEST.test(file.sha256)) throw invalid(file, 'has no sha256 of 64 lower-case hex digits')
  const path = Buffer.from(file.path, 'utf8')
  const entry = Buffer.alloc(4 + path.length + 1 + 8 + 32)
  entry.writeUInt32BE(path.length, 0)
  path.copy(entry, 4)
  entry.writeUInt8(file.executable ? 1 : 0, 4 + path.length)
  entry.writeBigUInt64BE(BigInt(file.size), 5 + path.length)
  entry.write(file.sha256, 13 + path.length, 'hex')
  return entry
}

function invalid(file: ManifestEntry, what: string): NexusError {
  return new NexusError('INVALID_ARGUMENT', `manifest entry ${JSON.stringify(file.path)} ${what}`)
}
