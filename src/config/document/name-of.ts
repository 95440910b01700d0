import { toSafeLine } from '../../kernel/index.ts'
import type { PathKey } from './read-yaml.ts'

const MAX_SHOWN = 60

/** A place in words: `agents[0].tools`. */
export function nameOf(keys: readonly PathKey[]): string {
  const parts = keys.map((key, index) =>
    typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${shown(key)}`,
  )
  return parts.join('') || 'The file'
}

/** A text of a file for a message: one line, and short. */
export function shown(text: string): string {
  const line = toSafeLine(text)
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line
}
