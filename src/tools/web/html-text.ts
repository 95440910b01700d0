/** html-text: a page as Markdown, converted in parts so that other work goes on and a hostile page cannot grow without end. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TransformPlugin } from '@mdream/js'

/** Characters that are converted at once: at most some 0.4 s of work, whatever they are. */
const PART_CHARS = 256 * 1024
/** Text beyond this is left out. */
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
