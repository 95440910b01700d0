import { isUtf8 } from 'node:buffer'
import { FORMAT_LIMITS } from './limits.ts'
import type { Facts } from './messages/messages.ts'
import type { Report } from './report.ts'

const START = { line: 1, column: 1 } as const

/** Line and column of an offset, from 1, whatever the line ends are. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const cr = text.indexOf('\r')
  if (cr >= 0 && cr < offset) return placeAmongAllEnds(text, offset)
  let line = 1
  let start = 0
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', start)) {
    line++
    start = at + 1
  }
  return { line, column: offset - start + 1 }
}

function placeAmongAllEnds(text: string, offset: number): { line: number; column: number } {
  let line = 1
  let start = 0
  for (let at = 0; at < offset; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10)) {
      line++
      start = at + 1
    }
  }
  return { line, column: offset - start + 1 }
}

/** The text of a file without its byte order mark, or undefined when it is too large or no UTF-8 text at all. */
export function readText(input: string | Uint8Array, report: Report, maxBytes: number): string | undefined {
  const bytes = typeof input === 'string' ? Buffer.byteLength(input) : input.byteLength
  if (bytes > maxBytes) {
    report.add('file-too-large', START, bytes, maxBytes)
    return undefined
  }
  if (bytes > FORMAT_LIMITS.largeFileBytes) report.add('file-large', START, bytes, FORMAT_LIMITS.largeFileBytes)
  const decoded = typeof input === 'string' ? wellFormed(input, report) : decode(input, report)
  if (decoded === undefined) return undefined
  const text = decoded.startsWith('\uFEFF') ? decoded.slice(1) : decoded
  if (text !== decoded) report.add('byte-order-mark', START)
  const nul = text.indexOf('\0')
  if (nul < 0) return text
  report.add('nul-character', placeOf(text, nul), kindOfNul(text, nul))
  return undefined
}

function kindOfNul(text: string, nul: number): Facts<'nul-character'>[0] {
  if (nul <= 1 && text.indexOf('\0', nul + 1) === nul + 2) return nul === 0 ? 'utf16-be' : 'utf16-le'
  return text.startsWith('PK') ? 'zip' : 'binary'
}

function wellFormed(text: string, report: Report): string {
  if (text.isWellFormed()) return text
  report.add('encoding-invalid', placeOf(text, text.search(/\p{Surrogate}/u)))
  return text.toWellFormed()
}

function decode(bytes: Uint8Array, report: Report): string | undefined {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    report.add('encoding-utf16', START)
    return undefined
  }
  if (isUtf8(bytes)) return asBuffer(bytes).toString('utf8')
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const valid = validPrefix(bytes)
  const before = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, valid))
  const value = (bytes[valid] ?? 0).toString(16).padStart(2, '0')
  report.add('encoding-invalid', placeOf(before, before.length), value, valid)
  return text
}

/** A view on the same bytes. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function decodeStrict(bytes: Uint8Array, partial = false): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: partial })
  } catch {
    // The decoder's only way to say "not UTF-8"; the caller reports it with its place.
    return undefined
  }
}

/** How many leading bytes are whole UTF-8 characters. */
function validPrefix(bytes: Uint8Array): number {
  let low = 0
  let high = bytes.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (decodeStrict(bytes.subarray(0, middle), true) === undefined) high = middle - 1
    else low = middle
  }
  // A stream accepts the first bytes of a broken character; step back over them.
  while (low > 0 && decodeStrict(bytes.subarray(0, low)) === undefined) low--
  return low
}
