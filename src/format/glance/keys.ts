import { ALIASES, SLIPS_BEGIN, TOP_LEVEL } from '../fields/metadata-keys.ts'
import { COLON } from '../quick/bytes.ts'

/** The keys that a glance looks at, as marks. */
export const MARKS = {
  name: markOf('name:', 0),
  description: markOf('description:', 0),
  metadata: markOf('metadata:', 0),
  license: markOf('license:', 0),
  compatibility: markOf('compatibility:', 0),
  tools: markOf('allowed-tools:', 0),
  emoji: markOf('emoji:', 0),
  homepage: markOf('homepage:', 0),
} as const

/** Keys that say who may start the skill. */
const FLAGS: ReadonlySet<number> = new Set(
  ['disable-model-invocation', 'user-invocable', 'user_invocable'].map((key) => markOf(`${key}:`, 0)),
)

/** Top-level keys that are only shown. */
const SHOWN: readonly string[] = ['emoji', 'homepage']

/** Other keys whose values gate, or may be wrong. */
const INFLUENTIAL: ReadonlySet<number> = new Set(
  ['arguments', ...TOP_LEVEL].filter((key) => !SHOWN.includes(key)).map((key) => markOf(`${key}:`, 0)),
)

/** True for the mark of a key that may say who starts the skill. */
export function isFlag(mark: number): boolean {
  return FLAGS.has(mark)
}

/** True for the mark of another key that only a closer look can judge. */
export function isInfluential(mark: number): boolean {
  return INFLUENTIAL.has(mark)
}

/** Marks of keys below metadata that may gate, or may be slips of such keys. */
export const IN_METADATA: ReadonlySet<number> = new Set(
  [...ALIASES, ...TOP_LEVEL, 'always', 'skillKey', ...SLIPS_BEGIN].map((key) => markOf(`${key}:`, 0)),
)

/** The first four characters of a key as a number. Two keys of one mapping that share it are left to the scanner. */
export function markOf(text: string, at: number): number {
  let mark = text.charCodeAt(at)
  for (let index = at + 1; index < at + 4; index++) {
    const unit = text.charCodeAt(index)
    if (unit === COLON) break
    mark = (mark << 7) | unit
  }
  return mark
}
