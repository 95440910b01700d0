import type { JsonValue } from './json.ts'

/** Shorter values would blank out ordinary words. */
const MIN_SECRET_CHARS = 6
/** A line of a secret that has lines is a secret of its own when it is as long as this: shorter ones say nothing. */
const MIN_LINE_CHARS = 16
const BLANK = '[redacted]'

/** Values that must not be shown. Each list may grow: what was added counts from then on. */
type SecretLists = readonly (readonly string[])[]

/**
 * Makes a function that blanks every secret in a JSON value: as written, its long lines, URL-encoded, as JSON text, hexadecimal, and
 * base64 wherever in the encoded text it begins. Secrets of fewer than 6 characters are ignored.
 */
export function createRedactor(...lists: SecretLists): <T extends JsonValue>(value: T) => T {
  const forms = createForms(lists)
  const visit = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return blank(value, forms())
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(visit)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [blank(key, forms()), visit(member)]))
  }
  return <T extends JsonValue>(value: T): T => (forms().length === 0 ? value : (visit(value) as T))
}

function blank(text: string, forms: readonly Form[]): string {
  let clean = text
  for (const { text: form } of forms) if (clean.includes(form)) clean = clean.replaceAll(form, BLANK)
  return clean
}

/** One way in which a secret may be written. */
interface Form {
  readonly text: string
  /** For each length of a beginning of the text: how long its longest own beginning is that is also its end. */
  readonly borders: () => Uint32Array
}

/** The forms of all secrets, the longest first; made again when a list has grown. */
function createForms(lists: SecretLists): () => readonly Form[] {
  let known = -1
  let forms: readonly Form[] = []
  return () => {
    let count = 0
    for (const list of lists) count += list.length
    if (count !== known) {
      forms = formsOf(lists.flat())
      known = count
    }
    return forms
  }
}

function formsOf(secrets: readonly string[]): readonly Form[] {
  const texts = new Set<string>()
  for (const secret of new Set(secrets)) {
    if (secret.length < MIN_SECRET_CHARS) continue
    const bytes = new TextEncoder().encode(secret)
    for (const text of [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)])
      texts.add(text)
    for (const line of secret.split(/[\r\n]+/)) if (line.length >= MIN_LINE_CHARS) texts.add(line)
    for (const text of [...base64Of(bytes), ...hexOf(bytes)]) texts.add(text)
  }
  return [...texts].sort((a, b) => b.length - a.length).map(toForm)
}

function toForm(text: string): Form {
  let made: Uint32Array | undefined
  return { text, borders: () => (made ??= bordersOf(text)) }
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

/** Blanks secrets in text that comes in pieces. */
export interface StreamRedactor {
  /** What can be shown now; the beginning of a possible secret is held back. */
  push(text: string): string
  /** What was held back to the end. When the text was cut off there, the beginning of a secret is blanked. */
  end(isCut?: boolean): string
}

/** As `createRedactor`, for one stream: a secret that is cut between two pieces does not get through either. */
export function createStreamRedactor(...lists: SecretLists): StreamRedactor {
  const forms = createForms(lists)
  let held = ''
  return {
    push(text) {
      const whole = blank(held + text, forms())
      const from = whole.length - possibleStart(whole, forms())
      held = whole.slice(from)
      return whole.slice(0, from)
    },
    end(isCut = false) {
      const rest = isCut && held.length >= MIN_SECRET_CHARS ? BLANK : held
      held = ''
      return rest
    },
  }
}

/** Length of the longest end of the text that is the beginning of a form, but not all of it. */
function possibleStart(text: string, forms: readonly Form[]): number {
  let longest = 0
  for (const { text: form, borders } of forms) {
    if (form.length - 1 <= longest) continue
    const table = borders()
    let length = 0
    for (let at = Math.max(0, text.length - form.length + 1); at < text.length; at++) {
      while (length > 0 && form[length] !== text[at]) length = table[length] as number
      if (form[length] === text[at]) length++
      if (length === form.length) length = table[length] as number
    }
    longest = Math.max(longest, length)
  }
  return longest
}

/** Source: Knuth, Morris and Pratt, so that a long secret costs no more than its length. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length + 1)
  let length = 0
  for (let at = 1; at < text.length; at++) {
    while (length > 0 && text[length] !== text[at]) length = borders[length] as number
    if (text[length] === text[at]) length++
    borders[at + 1] = length
  }
  return borders
}

/** One text that may have been cut off at its end, without secrets and without the beginning of one at the cut. */
export function redactText(text: string, isCut: boolean, ...lists: SecretLists): string {
  const stream = createStreamRedactor(...lists)
  return stream.push(text) + stream.end(isCut)
}

type OnOutput = (chunk: { readonly stream: 'stdout' | 'stderr'; readonly text: string }) => void

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
