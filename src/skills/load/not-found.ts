import { type Catalog, copiesOf, shownName } from '../catalog/index.ts'
import { nearest, type NexusError, type InvalidSkill, type Skill, toSafeLine } from '../../kernel/index.ts'
import { errorOf, MESSAGES } from './messages.ts'

const MAX_LISTED_NAMES = 20
const MAX_SHOWN_CHARS = 120

/** The copy that is meant, also by a `$name` mention. Throws SKILL_NOT_FOUND, SKILL_INVALID or INVALID_ARGUMENT. */
export function findSkill(catalog: Catalog, nameOrAddress: string): Skill {
  const wanted = typeof nameOrAddress === 'string' ? nameOrAddress.trim() : ''
  if (wanted === '') {
    throw errorOf('INVALID_ARGUMENT', MESSAGES.noName(availableSkills(catalog)))
  }
  const skill = catalog.find(wanted)
  if (skill) return skill
  throw explain(catalog, wanted)
}

/** Why no skill has that name: it is invalid, held, or mistyped. */
function explain(catalog: Catalog, wanted: string): NexusError {
  const shown = toSafeLine(wanted).slice(0, MAX_SHOWN_CHARS)
  const copies = copiesOf(catalog, wanted)
  // A model asks by name; it does not mean a directory of that name.
  const [held] = copies.isDirectory ? [] : copies.held
  const invalid = held || copies.isDirectory ? undefined : copies.invalid[0]
  if (invalid) return invalidSkill(shown, invalid)
  const notFound = (fix: string): NexusError =>
    errorOf('SKILL_NOT_FOUND', MESSAGES.notFound(shown, availableSkills(catalog), fix))
  if (held) return notFound(MESSAGES.held(held.reasons.map(({ text, fix }) => `${text} (${fix})`)))
  const near = nearest(wanted, catalog.skills.map(shownName))
  return notFound(near === undefined ? MESSAGES.useAvailable() : MESSAGES.didYouMean(near))
}

/** `Available skills: a, b`, cut to a length that a model can use. Source: contracts §3.2. */
function availableSkills({ skills, callName }: Catalog): string {
  if (skills.length === 0) return 'Available skills: (none)'
  const listed = skills.slice(0, MAX_LISTED_NAMES).map((skill) => callName(skill).slice(0, MAX_SHOWN_CHARS))
  const more = skills.length - listed.length
  return `Available skills: ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** SKILL_INVALID with the first finding: file, line and fix. The finding is the cause, for callers that print more than the sentence. */
export function invalidSkill(
  name: string,
  { file, diagnostics }: Pick<InvalidSkill, 'file' | 'diagnostics'>,
): NexusError {
  const first = diagnostics.find(({ severity }) => severity === 'error') ?? diagnostics[0]
  const { line, fix } = first ?? {}
  const words = MESSAGES.invalid({ name, file, line, fix, cause: first?.message })
  return errorOf('SKILL_INVALID', words, { path: file, cause: first })
}
