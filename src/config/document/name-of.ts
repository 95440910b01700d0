import { toSafeLine } from '../../kernel/index.ts'
import { maskToken } from '../secrets/mask.ts'
import type { PathKey } from './read-yaml.ts'

const MAX_SHOWN = 60

/** A place in words: `agents[0].tools`. */
export function nameOf(keys: readonly PathKey[]): string {
  const parts = keys.map((key, index) =>
    typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${shown(key)}`,
  )
  return parts.join('') || 'The file'
}

/** A text of a file for a message: one line, short, and no key of a service. */
export function shown(text: string): string {
  const line = toSafeLine(maskToken(text))
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line
}
