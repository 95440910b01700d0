import type { JsonValue } from './json.ts'
import { MIN_SECRET_CHARS } from './vocabulary.ts'

const BLANK = '[redacted]'
/** A line of a secret that has lines is a secret of its own when it is as long as this: shorter ones say nothing. */
const MIN_LINE_CHARS = 16

/** Values that must not be shown. Each list may grow: what was added counts from then on. */
type SecretLists = readonly (readonly string[])[]

/**
 * Makes a function that blanks every secret in a JSON value: as written, its long lines, URL-encoded, as JSON text, hexadecimal, and
 * base64 wherever in the encoded text it begins. Secrets of fewer than 6 characters are ignored; those that overlap are one blank.
 */
export function createRedactor(...lists: SecretLists): <T extends JsonValue>(value: T) => T {
  const forms = createForms(lists)
  const blank = (text: string): string => {
    const stream = streamOf(forms)
    return stream.push(text) + stream.end()
  }
  const visit = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return blank(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(visit)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [blank(key), visit(member)]))
  }
  return <T extends JsonValue>(value: T): T => (forms() === undefined ? value : (visit(value) as T))
}

/** Finds all forms of all secrets at once. A state says which beginnings of forms the text read so far ends with; 0 is none. */
interface Forms {
  readonly next: (state: number, code: number) => number
  /** For each state: the length of the longest form that ends here. */
  readonly found: Uint32Array
  /** For each state: the length of the longest beginning of a form that ends here and may still go on. */
  readonly open: Uint32Array
}

/** The forms of all secrets, made again when a list has grown; `undefined` when there are none. */
function createForms(lists: SecretLists, toForm = (text: string): string => text): () => Forms | undefined {
  let known = 0
  let forms: Forms | undefined
  return () => {
    let count = 0
    for (const list of lists) count += list.length
    if (count !== known) {
      const texts = formsOf(lists.flat()).map(toForm)
      forms = texts.length === 0 ? undefined : compile(texts)
      known = count
    }
    return forms
  }
}

/** The texts as which the secrets may appear: as written, their long lines, URL-encoded, as JSON text, hexadecimal, base64. */
function formsOf(secrets: readonly string[]): readonly string[] {
  const texts = new Set<string>()
  for (const secret of new Set(secrets)) {
    if (secret.length < MIN_SECRET_CHARS) continue
    const bytes = new TextEncoder().encode(secret)
    const encoded = [
      encodeURIComponent(secret.toWellFormed()),
      new URLSearchParams([[secret, '']]).toString().slice(0, -1),
    ]
    const lower = encoded.map((text) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))
    for (const text of [secret, ...encoded, ...lower, JSON.stringify(secret).slice(1, -1)]) texts.add(text)
    for (const line of secret.split(/[\r\n]+/)) if (line.length >= MIN_LINE_CHARS) texts.add(line)
    for (const text of [...base64Of(bytes), ...hexOf(bytes)]) texts.add(text)
  }
  return [...texts]
}

/**
 * Base64 of the bytes at each of the three places where they may begin within a group, as far as no neighbour has a part in it,
 * and whole when they are the end; both alphabets.
 */
function base64Of(bytes: Uint8Array): string[] {
  const found: string[] = []
  for (const before of [0, 1, 2]) {
    let binary = '\0'.repeat(before)
    for (const byte of bytes) binary += String.fromCharCode(byte)
    const from = Math.ceil((before * 8) / 6)
    const padded = btoa(binary).slice(from)
    const own = padded.slice(0, Math.floor(((before + bytes.length) * 8) / 6) - from)
    found.push(padded, padded.replace(/=+$/, ''), own)
  }
  const long = found.filter((text) => text.length >= MIN_SECRET_CHARS)
  return [...long, ...long.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))]
}

function hexOf(bytes: Uint8Array): string[] {
  let hex = ''
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0')
  return [hex, hex.toUpperCase()]
}

/** Source: Aho and Corasick, so that text costs no more than its length, however many forms there are and however they repeat. */
function compile(texts: readonly string[]): Forms {
  const tree = treeOf(texts)
  const { size, child, firstChild, sibling, code } = tree
  const [fall, found, open] = [new Uint32Array(size), tree.whole, new Uint32Array(size)]
  const next = (from: number, char: number): number => {
    let state = from
    let to = child(state, char)
    while (to === 0 && state !== 0) {
      state = fall[state] as number
      to = child(state, char)
    }
    return to
  }
  // Shorter beginnings first: what a state falls back to is known before it.
  const queue = [0]
  for (const state of queue) {
    for (let to = firstChild[state] as number; to !== 0; to = sibling[to] as number) {
      const back = state === 0 ? 0 : next(fall[state] as number, code[to] as number)
      fall[to] = back
      if (found[to] === 0) found[to] = found[back] as number
      open[to] = (firstChild[to] === 0 ? open[back] : tree.depth[to]) as number
      queue.push(to)
    }
  }
  return { next, found, open }
}

/** All beginnings of the texts, each once; 0 is the empty one. `whole` is the depth where a text is whole, else 0. */
function treeOf(texts: readonly string[]) {
  const room = texts.reduce((sum, text) => sum + text.length, 1)
  const [firstChild, sibling, code] = [new Uint32Array(room), new Uint32Array(room), new Uint16Array(room)]
  const [depth, whole] = [new Uint32Array(room), new Uint32Array(room)]
  let size = 1
  const child = (node: number, char: number): number => {
    let at = firstChild[node] as number
    while (at !== 0 && code[at] !== char) at = sibling[at] as number
    return at
  }
  const grow = (node: number, char: number): number => {
    code[size] = char
    depth[size] = (depth[node] as number) + 1
    sibling[size] = firstChild[node] as number
    firstChild[node] = size
    return size++
  }
  for (const text of texts) {
    let node = 0
    for (let at = 0; at < text.length; at++) {
      const char = text.charCodeAt(at)
      node = child(node, char) || grow(node, char)
    }
    whole[node] = text.length
  }
  return { size, child, firstChild, sibling, code, depth, whole }
}

/** Blanks secrets in text that comes in pieces. */
export interface StreamRedactor {
  /** Text that can be shown now; the beginning of a possible secret is held back. */
  push(text: string): string
  /** Text that was held back to the end. When the text was cut off there, the beginning of a secret is blanked. */
  end(isCut?: boolean): string
}

/** Like `createRedactor`, for one stream: it shows the same, wherever the text is cut into pieces. */
export function createStreamRedactor(...lists: SecretLists): StreamRedactor {
  return streamOf(createForms(lists))
}

/** Like `createStreamRedactor`, for bytes; all that is no secret stays as it is, also what is not UTF-8. */
export function createByteRedactor(...lists: SecretLists) {
  // A character for each byte: then the same search finds the UTF-8 of every form.
  const stream = streamOf(createForms(lists, (text) => Buffer.from(text).toString('latin1')))
  return {
    push: (bytes: Uint8Array): Uint8Array => Buffer.from(stream.push(Buffer.from(bytes).toString('latin1')), 'latin1'),
    end: (isCut?: boolean): Uint8Array => Buffer.from(stream.end(isCut), 'latin1'),
  }
}

function streamOf(getForms: () => Forms | undefined): StreamRedactor {
  let forms: Forms | undefined
  let state = 0
  const held = createHeld()
  const read = (text: string, offset: number): void => {
    if (forms === undefined) return
    for (let at = 0; at < text.length; at++) {
      state = forms.next(state, text.charCodeAt(at))
      const length = forms.found[state] as number
      if (length > 0) held.cover(offset + at + 1 - length, offset + at + 1)
    }
  }
  const openLength = (): number => forms?.open[state] ?? 0
  return {
    push(text) {
      const current = getForms()
      if (current !== forms) {
        forms = current
        state = 0
        held.uncover()
        read(held.text(), 0)
      }
      const offset = held.text().length
      held.add(text)
      read(text, offset)
      return held.release(held.text().length - openLength())
    },
    end(isCut = false) {
      const { length } = held.text()
      if (isCut && openLength() >= MIN_SECRET_CHARS) held.cover(length - openLength(), length)
      const rest = held.release(length)
      state = 0
      return rest
    },
  }
}

/** Text as it came that is not shown yet, with the ranges to blank in it. A range that begins before it is shown already. */
function createHeld() {
  let raw = ''
  let ranges: { readonly start: number; readonly end: number }[] = []
  return {
    text: () => raw,
    add: (text: string): void => {
      raw += text
    },
    /** Ranges that overlap become one; ones that only touch do not. */
    cover: (from: number, to: number): void => {
      let [start, end] = [from, to]
      for (let last = ranges.at(-1); last !== undefined && last.end > start; last = ranges.at(-1)) {
        start = Math.min(start, last.start)
        end = Math.max(end, last.end)
        ranges.pop()
      }
      ranges.push({ start, end })
    },
    /** Gives out all before the place, blanked. */
    release: (to: number): string => {
      if (to === 0) return ''
      let shown = ''
      let at = 0
      for (const { start, end } of ranges) {
        if (start >= to) break
        if (start >= 0) shown += raw.slice(at, start) + BLANK
        at = Math.min(end, to)
      }
      shown += raw.slice(at, to)
      raw = raw.slice(to)
      ranges = ranges.filter(({ end }) => end > to).map(({ start, end }) => ({ start: start - to, end: end - to }))
      return shown
    },
    /** Forgets the ranges that are not shown yet. */
    uncover: (): void => {
      ranges = ranges.filter(({ start }) => start < 0)
    },
  }
}

/** One text that may have been cut off at its end, without secrets and without the beginning of one at the cut. */
export function redactText(text: string, isCut: boolean, ...lists: SecretLists): string {
  const stream = createStreamRedactor(...lists)
  return stream.push(text) + stream.end(isCut)
}

/** Takes output of a command as it comes; must not throw. */
export type OnOutput = (chunk: { readonly stream: 'stdout' | 'stderr'; readonly text: string }) => void

/** Live output of a command without secrets, also when one is cut between two chunks; `end` gives out what was held back. */
export function redactOutput(
  onOutput: OnOutput,
  ...lists: SecretLists
): { readonly onOutput: OnOutput; readonly end: (isCut?: boolean) => void } {
  const streams = { stdout: createStreamRedactor(...lists), stderr: createStreamRedactor(...lists) }
  const pass = (stream: 'stdout' | 'stderr', text: string): void => {
    if (text !== '') onOutput({ stream, text })
  }
  return {
    onOutput: ({ stream, text }) => pass(stream, streams[stream].push(text)),
    end: (isCut) => {
      for (const stream of ['stdout', 'stderr'] as const) pass(stream, streams[stream].end(isCut))
    },
  }
}
