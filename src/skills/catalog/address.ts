import { type Skill, SKILL_FILE, skillAddress } from '../../kernel/index.ts'
import { winnerOf } from './arrange.ts'
import { addressKeyOf, type CopiesByName, type Copy, PLAIN_NAME, takesPart } from './copy.ts'
import { shownName, shownText } from './shown-text.ts'

const SCHEME = 'skill://'
const FILE = `/${SKILL_FILE}`

export interface Addresses {
  /** Copies that are trusted and meant for this agent, by the keys of their addresses. */
  readonly copies: ReadonlyMap<string, Copy>
  /** Addresses with a number: of copies that share `source/name` with one above them. */
  readonly numbered: ReadonlyMap<Skill, string>
}

/** The address that a copy has when no other of its source has that name. */
export function ownAddress(skill: Skill): string {
  return PLAIN_NAME.test(skill.name) ? skillAddress(skill) : `${skill.origin.source}/${shownName(skill)}`
}

/**
 * `source/name` is the first copy of a name in a source; the second has `source/name~2`, the third `~3`, in order of precedence. A skill
 * whose label ends like that keeps its address, and the number is left out.
 */
export function addressesIn(byName: CopiesByName): Addresses {
  const all = [...byName.values()].flat()
  const taken = new Set(all.map(({ skill }) => addressKeyOf(skill)))
  const copies = new Map<string, Copy>()
  const last = new Map<string, number>()
  const numbered = new Map<Skill, string>()
  for (const copy of inOrderOfAddress(all)) {
    const key = addressKeyOf(copy.skill)
    let number = (last.get(key) ?? 0) + 1
    while (number > 1 && taken.has(`${key}~${number}`)) number++
    last.set(key, number)
    if (takesPart(copy)) copies.set(number === 1 ? key : `${key}~${number}`, copy)
    if (number > 1) numbered.set(copy.skill, `${ownAddress(copy.skill)}~${number}`)
  }
  return { copies, numbered }
}

/** The copy that its source uses comes before the others of its name there, so that it has the plain address; then those that may be used. */
function inOrderOfAddress(all: readonly Copy[]): readonly Copy[] {
  const usable = all.filter(takesPart)
  const bySource = Map.groupBy(usable, ({ skill }) => addressKeyOf(skill))
  const used = new Set([...bySource.values()].map(winnerOf))
  return [...used, ...usable.filter((copy) => !used.has(copy)), ...all.filter((copy) => !takesPart(copy))]
}

/** An address as the location of its SKILL.md. What could be taken for a part of a path is escaped; `fromSkillUri` reads it back. */
export function toSkillUri(address: string): string {
  const slash = address.indexOf('/')
  const [source, name] = [address.slice(0, slash), address.slice(slash + 1)].map((part) => escaped(shownText(part)))
  return `${SCHEME}${source}/${name}${FILE}`
}

function escaped(part: string): string {
  // In a name that is all dots nothing else would be escaped.
  if (/^\.+$/.test(part)) return part.replaceAll('.', '%2E')
  // A URI shows these as they are: letters and digits of all scripts, so that a model can read it, and no separators.
  return part.replace(/[^\p{L}\p{M}\p{N}_.~:-]/gu, (character) => encodeURIComponent(character))
}

/** The address in a location, as `toSkillUri` made it; undefined for any other text. */
function fromSkillUri(text: string): string | undefined {
  if (!text.startsWith(SCHEME)) return undefined
  const address = text.slice(SCHEME.length, text.endsWith(FILE) ? -FILE.length : undefined)
  try {
    return decodeURIComponent(address)
  } catch {
    // Other text with a percent sign in it.
    return address
  }
}

/** The first reading that leads to a skill counts: a location is an address, and `$name` may be a name itself. */
export function readingsOf(text: string): readonly string[] {
  const plain = text.trim()
  const address = fromSkillUri(plain)
  if (address !== undefined) return [address, plain]
  return plain.startsWith('$') ? [plain, plain.slice(1)] : [plain]
}
