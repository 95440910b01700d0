/** page: what a response contains, as text: its size, kind and charset are checked, because servers state all three wrongly. */
import { TextDecoder } from 'node:util'
import { isNexusError } from '../../kernel/index.ts'
import type { NetResponse } from '../../machine/net/index.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TransformPlugin } from '@mdream/js'

export interface Page {
  readonly type: 'page'
  /** Without parameters, in lower case; `text/plain` where the server names none. */
  readonly contentType: string
  readonly text: string
  readonly bytes: number
  /** The body or its text was longer than what is read. */
  readonly isCut: boolean
}

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

/** Characters that are converted at once: at most some 0.4 s of work, whatever they are. */
const PART_CHARS = 256 * 1024
const MAX_TEXT_CHARS = 2 * 1024 * 1024

export interface PageText {
  readonly text: string
  readonly isCut: boolean
}

/** `base`: the URL of the page; links are made absolute by it, and only those to http, https and mailto stay. */
export async function htmlToText(
  html: string,
  { base, signal }: { readonly base: string; readonly signal: AbortSignal },
): Promise<PageText> {
  const { streamHtmlToMarkdown } = await import('@mdream/js')
  const parts = streamHtmlToMarkdown(ReadableStream.from(partsOf(html, signal)), {
    hooks: [absoluteLinks(base)],
    plugins: {
      filter: { exclude: ['noscript', 'template', 'iframe', 'object', 'svg'] },
      // The library buffers quotes, and nested ones multiply the text.
      tagOverrides: { blockquote: 'div' },
    },
  })
  let text = ''
  for await (const part of parts) {
    text += part
    if (text.length > MAX_TEXT_CHARS) return { text: text.slice(0, MAX_TEXT_CHARS).toWellFormed(), isCut: true }
  }
  return { text, isCut: false }
}

async function* partsOf(html: string, signal: AbortSignal): AsyncGenerator<string> {
  for (let at = 0; at < html.length; at += PART_CHARS) {
    signal.throwIfAborted()
    yield html.slice(at, at + PART_CHARS)
    await nextTurn()
  }
}

function absoluteLinks(base: string): TransformPlugin {
  return {
    processAttributes: ({ attributes }) => {
      for (const name of ['href', 'src']) {
        const given = attributes[name]
        const url = given === undefined ? null : URL.parse(given, base)
        if (url && /^(?:https?|mailto):$/.test(url.protocol)) attributes[name] = url.href
        else delete attributes[name]
      }
    },
  }
}
