import { MIN_SECRET_CHARS } from './vocabulary.ts'

/** A line of a secret that has lines is a secret of its own when it is as long as this: shorter ones say nothing. */
const MIN_LINE_CHARS = 16

/** The texts as which the secrets may appear: as written, their long lines, URL-encoded, as JSON text, hexadecimal, base64. */
export function formsOf(secrets: readonly string[]): readonly string[] {
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
