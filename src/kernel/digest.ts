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

/** Order of two texts by their UTF-8 bytes, which is the order of their code points; independent of any locale. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const x = a.charCodeAt(at)
    const y = b.charCodeAt(at)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** UTF-16 units in code point order: surrogates encode what is above U+FFFF. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** The text with its byte order mark; undefined for other bytes: they would not be the same again when the text is written. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
