import type { JsonValue } from '../../../kernel/index.ts'
import type { Frontmatter } from '../front.ts'
import type { Report } from '../report.ts'

const TRUE: ReadonlySet<string> = new Set(['true', 'yes', 'on', '1'])
const FALSE: ReadonlySet<string> = new Set(['false', 'no', 'off', '0'])

/** A boolean as people write it: true, yes, on, 1 and their opposites, quoted or not; undefined for anything else. */
export function asBoolean(value: JsonValue | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' || typeof value === 'number' ? String(value).trim().toLowerCase() : ''
  return TRUE.has(word) ? true : FALSE.has(word) ? false : undefined
}

/** A boolean key, also in the spelling with underscores; `fallback` when absent or, unless it keeps the skill from models, unreadable. */
export function readFlag(
  front: Frontmatter,
  key: keyof typeof UNDERSCORED,
  { fallback, report }: { fallback: boolean; report: Report },
): boolean {
  const found = spelledKey(front, key, report)
  const value = front.values[found]
  if (value === undefined || value === null) return fallback
  const flag = asBoolean(value)
  if (flag !== undefined) return flag
  // The author wanted to keep it from models: what cannot be read may not offer it to them.
  const isKept = key === 'disable-model-invocation'
  report.add('field-type', front.place(found), found, {
    wanted: 'true or false',
    example: `${key}: ${!fallback}`,
    ...(isKept && { effect: 'Until it is, Nexus keeps the skill from models.' }),
  })
  return isKept || fallback
}

const UNDERSCORED = {
  'allowed-tools': 'allowed_tools',
  'disable-model-invocation': 'disable_model_invocation',
  'user-invocable': 'user_invocable',
} as const

/** The key that is there: itself, or its spelling with underscores, which is reported. */
export function spelledKey(front: Frontmatter, key: keyof typeof UNDERSCORED, report: Report): string {
  const other = UNDERSCORED[key]
  if (front.values[key] !== undefined || front.values[other] === undefined) return key
  const edit = front.rename(other, key)
  report.add('key-spelling', { ...front.place(other), edit }, other, key)
  return other
}
