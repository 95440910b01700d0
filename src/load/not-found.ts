import { type Catalog, copiesOf, shownName } from '../catalog/index.ts'
import { nearest, NexusError, type RejectedSkill, shellWord, type Skill, toSafeLine } from '../kernel/index.ts'

const MAX_LISTED_NAMES = 20
const MAX_SHOWN_CHARS = 120

/** The copy that is meant, also by a `$name` mention. Throws SKILL_NOT_FOUND, SKILL_INVALID or INVALID_ARGUMENT. */
export function findSkill(catalog: Catalog, nameOrAddress: string): Skill {
  const wanted = typeof nameOrAddress === 'string' ? nameOrAddress.trim() : ''
  if (wanted === '') {
    throw new NexusError('INVALID_ARGUMENT', 'The name of a skill must be a non-empty text.', {
      fix: availableSkills(catalog),
    })
  }
  const skill = catalog.find(wanted)
  if (skill) return skill
  throw explain(catalog, wanted)
}

/** Why nothing answers to that name, and what to do: it is unreadable, held back, or mistyped. */
function explain(catalog: Catalog, wanted: string): NexusError {
  const shown = toSafeLine(wanted).slice(0, MAX_SHOWN_CHARS)
  const copies = copiesOf(catalog, wanted)
  // A model asks by name; what merely lies in a directory of that name is not what it means.
  const [held] = copies.isDirectory ? [] : copies.held
  const rejected = held || copies.isDirectory ? undefined : copies.rejected[0]
  if (rejected) return invalidSkill(shown, rejected)
  const message = `Skill '${shown}' not found. ${availableSkills(catalog)}`
  if (held) {
    const reasons = held.reasons.map(({ text, fix }) => `${text} (${fix})`)
    return new NexusError('SKILL_NOT_FOUND', message, { fix: `It exists but is held back: ${reasons.join('; ')}` })
  }
  const near = nearest(wanted, catalog.skills.map(shownName))
  const fix = near === undefined ? 'See them all with: nexus skills list --all' : `Did you mean '${toSafeLine(near)}'?`
  return new NexusError('SKILL_NOT_FOUND', message, { fix })
}

/** `Available skills: a, b`, cut to a length that a model can use. Source: contracts §3.2. */
function availableSkills({ skills, callName }: Catalog): string {
  if (skills.length === 0) return 'Available skills: (none)'
  const listed = skills.slice(0, MAX_LISTED_NAMES).map((skill) => callName(skill).slice(0, MAX_SHOWN_CHARS))
  const rest = skills.length - listed.length
  return `Available skills: ${listed.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** SKILL_INVALID with the first finding: file, line, and how to mend it. */
export function invalidSkill(
  name: string,
  { file, diagnostics }: Pick<RejectedSkill, 'file' | 'diagnostics'>,
): NexusError {
  const first = diagnostics.find(({ severity }) => severity === 'error') ?? diagnostics[0]
  const place = first?.line === undefined ? file : `${file}:${first.line}`
  const what = first ? `: ${first.message}` : ''
  return new NexusError(
    'SKILL_INVALID',
    `Skill '${toSafeLine(name)}' cannot be read${toSafeLine(what)} (${toSafeLine(place)}).`,
    {
      path: file,
      fix: first?.fix ?? `Run: nexus skills validate ${shellWord(file)}`,
      // Whoever tells people more than the sentence finds code and line there.
      cause: first,
    },
  )
}
