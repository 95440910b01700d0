import type { JsonValue } from './json.ts'

/** Shorter values would blank out ordinary words. */
const MIN_SECRET_CHARS = 6

/**
 * Makes a function that blanks every secret in a JSON value: as written, URL-encoded, base64, and as JSON text.
 * Secrets of fewer than 6 characters are ignored. The list may grow: what was added counts from then on.
 */
export function createRedactor(secrets: readonly string[]): <T extends JsonValue>(value: T) => T {
  let known = secrets.length
  let longestFirst = formsOf(secrets)
  const inText = (text: string): string => {
    let clean = text
    for (const form of longestFirst) if (clean.includes(form)) clean = clean.replaceAll(form, '[redacted]')
    return clean
  }
  const visit = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return inText(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(visit)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [inText(key), visit(member)]))
  }
  return <T extends JsonValue>(value: T): T => {
    if (secrets.length !== known) longestFirst = formsOf(secrets)
    known = secrets.length
    return longestFirst.length === 0 ? value : (visit(value) as T)
  }
}

function formsOf(secrets: readonly string[]): string[] {
  const forms = new Set<string>()
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_CHARS) continue
    const bytes = new TextEncoder().encode(secret)
    const base64 = btoa(String.fromCharCode(...bytes)).replace(/=+$/, '')
    for (const form of [secret, encodeURIComponent(secret), base64, JSON.stringify(secret).slice(1, -1)])
      forms.add(form)
  }
  return [...forms].sort((a, b) => b.length - a.length)
}

/** Blanks secrets in text that comes in pieces. */
export interface StreamRedactor {
  /** What can be shown now; the beginning of a possible secret is held back. */
  push(text: string): string
  /** What was held back to the end. */
  end(): string
}

/** As `createRedactor`, for one stream: a secret that is cut between two pieces does not get through either. */
export function createStreamRedactor(secrets: readonly string[]): StreamRedactor {
  const redact = createRedactor(secrets)
  const forms = formsOf(secrets)
  let held = ''
  return {
    push(text) {
      const whole = redact(held + text)
      const from = whole.length - possibleStart(whole, forms)
      held = whole.slice(from)
      return whole.slice(0, from)
    },
    end() {
      const rest = held
      held = ''
      return rest
    },
  }
}

/** Length of the longest end of the text that is the beginning of a form, but not all of it. */
function possibleStart(text: string, forms: readonly string[]): number {
  let longest = 0
  for (const form of forms) {
    for (let length = Math.min(form.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(form.slice(0, length))) longest = length
    }
  }
  return longest
}

type OnOutput = (chunk: { readonly stream: 'stdout' | 'stderr'; readonly text: string }) => void

/** Live output of a command without secrets, also when one is cut between two chunks; `end` gives out what was held back. */
export function redactOutput(
  onOutput: OnOutput,
  secrets: readonly string[],
): { readonly onOutput: OnOutput; readonly end: () => void } {
  const streams = { stdout: createStreamRedactor(secrets), stderr: createStreamRedactor(secrets) }
  const pass = (stream: 'stdout' | 'stderr', text: string): void => {
    if (text !== '') onOutput({ stream, text })
  }
  return {
    onOutput: ({ stream, text }) => pass(stream, streams[stream].push(text)),
    end: () => {
      for (const stream of ['stdout', 'stderr'] as const) pass(stream, streams[stream].end())
    },
  }
}
