/** page: what a response contains, as text: its size, kind and charset are checked, because servers state all three wrongly. */
import { TextDecoder } from 'node:util'
import { isNexusError } from '../../kernel/index.ts'
import type { NetResponse } from '../../machine/net/index.ts'
import { htmlToText } from './html-text.ts'

export interface Page {
  readonly type: 'page'
  /** Without parameters, in lower case; `text/plain` where the server names none. */
  readonly contentType: string
  readonly text: string
  /** Bytes of the body that were read. */
  readonly bytes: number
  /** The body or its text was longer than what is read. */
  readonly isCut: boolean
}

/** A response that is not text. */
export interface Binary {
  readonly type: 'binary'
  readonly contentType: string
}

/** Throws what the body throws, but for a body that is too long: its beginning is used. */
export async function readPage(response: NetResponse, signal: AbortSignal): Promise<Page | Binary> {
  const [given = '', ...parameters] = (response.headers['content-type'] ?? '').split(';')
  const contentType = given.trim().toLowerCase()
  if (contentType !== '' && !TEXTUAL.test(contentType)) {
    response.close()
    return { type: 'binary', contentType }
  }
  const { bytes, isCut } = await readBytes(response)
  const isHtml = contentType === '' ? looksLikeHtml(bytes) : HTML.test(contentType)
  const decoded = decode(bytes, charsetIn(parameters.join(';')), isHtml)
  // No text has NUL: the server gave another type than it sent.
  if (decoded.includes('\0')) return { type: 'binary', contentType: contentType || 'application/octet-stream' }
  const page = isHtml ? await htmlToText(decoded, { base: response.url, signal }) : { text: decoded, isCut: false }
  const shownType = contentType || (isHtml ? 'text/html' : 'text/plain')
  return { type: 'page', contentType: shownType, text: page.text, bytes: bytes.length, isCut: isCut || page.isCut }
}

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/
const TEXTUAL =
  /^(?:text\/[\w.+-]+|application\/(?:json|xml|javascript|ecmascript|yaml|x-yaml|toml|sql|graphql|x-ndjson|jsonl|x-sh|[\w.-]+\+(?:json|xml|yaml)))$/

async function readBytes({ body }: NetResponse): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const parts: Uint8Array[] = []
  try {
    for await (const part of body) parts.push(part)
    return { bytes: Buffer.concat(parts), isCut: false }
  } catch (error) {
    if (!isNexusError(error) || error.code !== 'LIMIT_EXCEEDED') throw error
    return { bytes: Buffer.concat(parts), isCut: true }
  }
}

/** How far into a page browsers look for its charset, and we for its kind. */
const HEAD_BYTES = 1024

function looksLikeHtml(bytes: Buffer): boolean {
  return /^\s*(?:<!--|<!doctype html|<html|<head|<body)/i.test(headOf(bytes))
}

function headOf(bytes: Buffer): string {
  return bytes
    .subarray(0, HEAD_BYTES)
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')
}

function charsetIn(text: string): string | undefined {
  return /charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(text)?.[1]
}

/** A byte order mark goes before the header, the header before the page. What is unknown is read as UTF-8. */
function decode(bytes: Buffer, named: string | undefined, isHtml: boolean): string {
  const label = markOf(bytes) ?? named ?? (isHtml ? charsetIn(headOf(bytes)) : undefined) ?? 'utf-8'
  return decoderFor(label).decode(bytes)
}

function markOf(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : undefined
}

function decoderFor(label: string): TextDecoder {
  try {
    return new TextDecoder(label)
  } catch {
    // The name means nothing to Node; most such pages are UTF-8.
    return new TextDecoder()
  }
}
