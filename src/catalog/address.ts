import { type Skill, skillAddress } from '../kernel/index.ts'
import { addressKeyOf, type Copy, type Groups, keyOf, PLAIN_NAME, takesPart } from './look-up.ts'
import { shownName, shownText } from './shown-text.ts'

const SCHEME = 'skill://'
const FILE = '/SKILL.md'

/** Copies that share `source/name` with one above them, by their own addresses; and those addresses. */
export interface Twins {
  readonly byKey: ReadonlyMap<string, Copy>
  readonly addresses: ReadonlyMap<Skill, string>
}

/** The address that a copy has when no other of its source has that name. */
export function ownAddress(skill: Skill): string {
  return PLAIN_NAME.test(skill.name) ? skillAddress(skill) : `${skill.origin.source}/${shownName(skill)}`
}

/**
 * `source/name` is the first copy of a name in a source; the second has `source/name~2`, the third `~3`, in order of precedence. A skill
 * whose label ends like that keeps its address, and the number is left out. `all` gives every skill.
 */
export function twinsIn(groups: Groups, all: () => readonly Skill[]): Twins {
  let labels: ReadonlySet<string> | undefined
  const isTaken = (key: string): boolean => (labels ??= keysWithTilde(all())).has(key)
  const byKey = new Map<string, Copy>()
  const addresses = new Map<Skill, string>()
  for (const copies of groups.values()) {
    const counts = new Map<string, number>()
    // Those that may be used come first, so that the plain address is that of the copy that the source stands for.
    for (const copy of [...copies.filter(takesPart), ...copies.filter((each) => !takesPart(each))]) {
      const key = addressKeyOf(copy.skill)
      let number = (counts.get(key) ?? 0) + 1
      while (number > 1 && isTaken(`${key}~${number}`)) number++
      counts.set(key, number)
      if (number === 1) continue
      byKey.set(`${key}~${number}`, copy)
      addresses.set(copy.skill, `${ownAddress(copy.skill)}~${number}`)
    }
  }
  return { byKey, addresses }
}

function keysWithTilde(skills: readonly Skill[]): ReadonlySet<string> {
  return new Set(skills.filter((skill) => keyOf(skill).includes('~')).map(addressKeyOf))
}

/** An address as the location of its SKILL.md. What could be taken for a part of a path is escaped; `fromSkillUri` reads it back. */
export function toSkillUri(address: string): string {
  const slash = address.indexOf('/')
  const [source, name] = [address.slice(0, slash), address.slice(slash + 1)].map((part) => escaped(shownText(part)))
  return `${SCHEME}${source}/${name}${FILE}`
}

function escaped(part: string): string {
  // Of a name that is all dots nothing else would be escaped.
  if (/^\.+$/.test(part)) return part.replaceAll('.', '%2E')
  // What a URI shows as it is: letters and digits of all scripts, so that a model can read it, and no separators.
  return part.replace(/[^\p{L}\p{M}\p{N}_.~:-]/gu, (character) => encodeURIComponent(character))
}

/** The address in a location, as `toSkillUri` made it; undefined for any other text. */
export function fromSkillUri(text: string): string | undefined {
  if (!text.startsWith(SCHEME)) return undefined
  const address = text.slice(SCHEME.length, text.endsWith(FILE) ? -FILE.length : undefined)
  try {
    return decodeURIComponent(address)
  } catch {
    // Somebody's own text with a percent sign in it.
    return address
  }
}

/** What a text may mean, the first that means something counts: a location is an address, and `$name` may be a name itself. */
export function readingsOf(text: string): readonly string[] {
  const plain = text.trim()
  const address = fromSkillUri(plain)
  if (address !== undefined) return [address, plain]
  return plain.startsWith('$') ? [plain, plain.slice(1)] : [plain]
}
