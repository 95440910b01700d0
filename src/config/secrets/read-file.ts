import { codeOf, readSmall } from '../../machine/files/index.ts'
import { DEFAULTS, isJsonObject, type JsonValue } from '../../kernel/index.ts'

export type SecretFile =
  | { readonly type: 'read'; readonly secret: string; readonly isOpen: boolean }
  /** `why` completes the sentence "the file …". */
  | { readonly type: 'refused'; readonly why: string }

/** Reads a secret from a small regular file: all of it but the last line break, or the text at a JSON pointer. */
export function readSecretFile(path: string, pointer?: string): SecretFile {
  try {
    const { bytes, stats } = readSmall(path, { maxBytes: DEFAULTS.maxSecretBytes })
    const { mode } = stats
    const text = Buffer.from(bytes)
      .toString('utf8')
      .replace(/\r?\n$/, '')
    const secret = pointer === undefined ? text : textAt(text, pointer)
    if (secret === undefined) return refused('is not JSON with a text at that place')
    if (secret === '') return refused('is empty')
    return { type: 'read', secret, isOpen: process.platform !== 'win32' && (mode & 0o077) !== 0 }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENXIO' || code === 'EFBIG') return refused('is not a small regular file')
    return refused(`cannot be read (${code || 'unknown'})`)
  }
}

/** The text at a JSON pointer (RFC 6901); undefined when there is none. Only own properties count. */
export function textAt(json: string, pointer: string): string | undefined {
  let value: JsonValue | undefined = parse(json)
  const steps = pointer === '' ? [] : pointer.replace(/^\//, '').split('/')
  for (const step of steps) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(value)) value = value[Number(key)]
    else value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  return typeof value === 'string' ? value : undefined
}

function parse(json: string): JsonValue | undefined {
  try {
    return JSON.parse(json) as JsonValue
  } catch {
    // Not JSON: the caller says that the file does not hold what was asked for.
    return undefined
  }
}

function refused(why: string): SecretFile {
  return { type: 'refused', why }
}
