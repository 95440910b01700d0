import type { Hash } from 'node:crypto'

/** A SHA-256 to be updated in pieces. Loading `node:crypto` takes a fifth of the start of Node, so it waits for the first use. */
export function createSha256(): Hash {
  return process.getBuiltinModule('node:crypto').createHash('sha256')
}

/** The SHA-256 of some bytes, or of a text in UTF-8, as 64 hex digits. */
export function sha256(data: string | Uint8Array): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', data)
}

/** So many random bytes as hex digits, for names that others cannot guess. */
export function randomHex(bytes: number): string {
  return process.getBuiltinModule('node:crypto').randomBytes(bytes).toString('hex')
}
