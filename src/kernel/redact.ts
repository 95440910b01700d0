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
