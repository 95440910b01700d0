import { isUtf8 } from 'node:buffer'
import { FORMAT_LIMITS } from './limits.ts'
import type { Facts } from './messages/messages.ts'
import type { Report } from './report.ts'

const START = { line: 1, column: 1 } as const

/** Line and column of an offset, from 1, whatever the line ends are. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split(/\r\n?|\n/)
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
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
  let at = text.indexOf('\uFFFD')
  let offset = Buffer.byteLength(text.slice(0, at))
  // The author may have written the replacement character itself.
  while (bytes[offset] === 0xef && bytes[offset + 1] === 0xbf && bytes[offset + 2] === 0xbd) {
    const next = text.indexOf('\uFFFD', at + 1)
    offset += Buffer.byteLength(text.slice(at, next))
    at = next
  }
  const value = (bytes[offset] ?? 0).toString(16).padStart(2, '0')
  report.add('encoding-invalid', placeOf(text, at), value, offset)
  return text
}

/** A view on the same bytes. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
