import { Buffer, isAscii, isUtf8 } from 'node:buffer'

/** First bytes that show what a file is, whatever its name says. */
const MAGIC: readonly (readonly [bytes: string, mediaType: string])[] = [
  ['89504e470d0a1a0a', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['47494638', 'image/gif'],
  ['25504446', 'application/pdf'],
  ['504b0304', 'application/zip'],
  ['1f8b', 'application/gzip'],
  ['7f454c46', 'application/x-elf'],
  ['4d5a', 'application/vnd.microsoft.portable-executable'],
  ['0061736d', 'application/wasm'],
  ['53514c69746520666f726d6174203300', 'application/vnd.sqlite3'],
]

const TEXT_BY_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['md', 'text/markdown'],
  ['html', 'text/html'],
  ['css', 'text/css'],
  ['csv', 'text/csv'],
  ['js', 'text/javascript'],
  ['mjs', 'text/javascript'],
  ['json', 'application/json'],
  ['svg', 'image/svg+xml'],
  ['xml', 'application/xml'],
  ['yaml', 'application/yaml'],
  ['yml', 'application/yaml'],
])

/** The media type of text by its file name; `text/plain` when the ending says nothing. */
export function textType(path: string): string {
  return TEXT_BY_EXTENSION.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase()) ?? 'text/plain'
}

/** The media type of bytes that are not text, by their first bytes; `application/octet-stream` when they say nothing. */
export function binaryType(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString('hex')
  if (start.startsWith('52494646') && start.slice(16, 24) === '57454250') return 'image/webp'
  return MAGIC.find(([magic]) => start.startsWith(magic))?.[1] ?? 'application/octet-stream'
}

/** The text without its byte order mark, or undefined when the bytes are none: not UTF-8, or with a NUL. */
export function decodeText(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.includes(0) || !isUtf8(buffer)) return undefined
  // A character for each byte needs no decoding.
  const text = buffer.toString(isAscii(buffer) ? 'latin1' : 'utf8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}
