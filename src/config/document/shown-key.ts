/** shown-key: which keys of a file may be shown. */
import { toSafeLine } from '../../kernel/index.ts'
import { FREE_MAPS, NAMED_MAPS } from '../schema/no-file.ts'
import { fits, HIDDEN, isWithin, type Path, type PathKey } from './path.ts'

const MAX_KEY_CHARS = 80
/** A setting of a secret, and its value without a blank between them. */
const JOINED_SECRET = /(?:key|token|secret|password|credentials?|auth(?:orization)?)["']?\s*[:=]|^apiKey\s/i

/** A key where the schema expects known ones. Another, such as `apiKey:abc`, may be a value that lost its place. */
export function shownKey(key: string): string {
  return /^(?:group:)?[\p{L}\p{N}_./~-]{1,64}$/u.test(key) ? key : HIDDEN
}

/** The last key of a path. A key of free settings is a name for sure only when it holds a map or a list (`isHolder`). */
export function shownKeyAt(path: Path, isHolder: boolean): string {
  const key = String(path.at(-1))
  const holder = path.slice(0, -1)
  const plain = shownKey(key)
  if (plain !== HIDDEN) return plain
  const isName =
    NAMED_MAPS.some((pattern) => fits(pattern, holder)) ||
    (isHolder && FREE_MAPS.some((pattern) => isWithin(pattern, holder)))
  if (!isName || key.includes('://') || JOINED_SECRET.test(key)) return HIDDEN
  const line = [...toSafeLine(key)]
  if (line.length === 0) return HIDDEN
  return line.length > MAX_KEY_CHARS ? `${line.slice(0, MAX_KEY_CHARS - 1).join('')}…` : line.join('')
}

/** The keys of a map at `at` as they are shown. Those that look the same get a number. */
export function shownKeys(members: readonly (readonly [key: string, value: unknown])[], at: Path): readonly string[] {
  const seen = new Set<string>()
  return members.map(([key, value]) => {
    const shown = shownKeyAt([...at, key], typeof value === 'object' && value !== null)
    let unique = shown
    for (let number = 2; seen.has(unique); number++) unique = `${shown} ${number}`
    seen.add(unique)
    return unique
  })
}

/** A path in words: `agents[0].tools`. */
export function nameOf(path: Path): string {
  const parts = path.map((key: PathKey, index) => {
    const shown = typeof key === 'number' ? `[${key}]` : shownKeyAt(path.slice(0, index + 1), index < path.length - 1)
    return typeof key === 'number' || index === 0 ? shown : `.${shown}`
  })
  return parts.join('')
}
