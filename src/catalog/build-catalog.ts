import { type Diagnostic, type Gated, type RejectedSkill, type Skill, toSafeLine } from '../kernel/index.ts'
import { ownAddress, readingsOf, twinsIn } from './address.ts'
import { arrange, hasSameBytes } from './arrange.ts'
import type { Catalog } from './catalog.ts'
import { type Copy, createLookUp, keyOf, toKey } from './look-up.ts'
import { compareOrigins } from './precedence.ts'
import { shownName, shownText } from './shown-text.ts'
import { versionOf } from './snapshot.ts'
import { atOnce, type Breathe, inSlices, type Steps, STRIDE } from './steps.ts'

/** What discovery and gating found. */
export interface CatalogParts {
  readonly gated: Gated
  readonly rejected?: readonly RejectedSkill[]
  readonly diagnostics?: readonly Diagnostic[]
}

/** The code that sources use too. */
const DUPLICATE = 'duplicate-name'

/**
 * Decides which copy each name means and lists every other copy with its reason. Highest tier wins, then the earlier source,
 * then, within one source, the last in path order with a warning. Pure; the same input gives the same catalog and version.
 * A held copy still hides lower ones, so that a name always means the same copy; an untrusted one never hides a trusted one.
 */
export function buildCatalog(parts: CatalogParts): Catalog {
  return atOnce(building(parts))
}

/** `buildCatalog` for thousands of skills in a server: the same outcome, with pauses. */
export function buildCatalogInSlices(parts: CatalogParts, breathe: Breathe): Promise<Catalog> {
  return inSlices(building(parts), breathe)
}

function* building({ gated, rejected = [], diagnostics = [] }: CatalogParts): Steps<Catalog> {
  const { skills, held, shadowed, groups, winners } = yield* arrange(gated)
  const told = new Set(diagnostics.filter(({ code }) => code === DUPLICATE).map(({ path }) => path))
  const more: Diagnostic[] = []
  for (const copies of groups.values()) more.push(...(yield* duplicatesOf(copies, told)))
  if (rejected.length > 0) more.push(...(yield* substitutes(rejected, winners())))
  // All are needed by some callers only.
  const twins = once(() => twinsIn(groups, () => [...skills, ...held.map(toSkill), ...shadowed.map(toSkill)]))
  const lookUp = once(() => createLookUp({ skills, held, groups, twins: twins().byKey }))
  const find = (nameOrAddress: string): Skill | undefined => {
    const [first = '', second] = readingsOf(nameOrAddress).map(toKey)
    const skill = lookUp().find(first)
    return skill || second === undefined || lookUp().isHeld(first) ? skill : lookUp().find(second)
  }
  const addressOf = (skill: Skill): string =>
    (groups.size === 0 ? undefined : twins().addresses.get(skill)) ?? ownAddress(skill)
  let version: string | undefined
  return Object.freeze({
    ...{ skills: Object.freeze(skills), held: Object.freeze(held), shadowed: Object.freeze(shadowed) },
    rejected,
    diagnostics: [...diagnostics, ...more],
    get version() {
      return (version ??= atOnce(versionOf(skills)))
    },
    versionInSlices: async (breathe: Breathe) => (version ??= await inSlices(versionOf(skills), breathe)),
    find,
    addressOf,
    callName: (skill: Skill) => {
      const name = shownName(skill)
      return find(name) === skill ? name : shownText(addressOf(skill))
    },
  })
}

function toSkill({ skill }: { readonly skill: Skill }): Skill {
  return skill
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** One warning for each copy that another of the same source hides, unless the source has told of one of the two files. */
function* duplicatesOf(copies: readonly Copy[], told: ReadonlySet<string>): Steps<Diagnostic[]> {
  const firstOf = new Map<string, Skill>()
  const found: Diagnostic[] = []
  for (const { skill } of copies) {
    yield
    const first = firstOf.get(skill.origin.source)
    if (!first) firstOf.set(skill.origin.source, skill)
    else if (!told.has(first.file) && !told.has(skill.file) && !hasSameBytes(first, skill)) {
      found.push(duplicate(skill, first))
    }
  }
  return found
}

function duplicate(hidden: Skill, used: Skill): Diagnostic {
  const name = shownName(hidden)
  return {
    code: DUPLICATE,
    severity: 'warning',
    message: `Source '${hidden.origin.source}' has '${name}' twice: ${toSafeLine(used.file)} is used, ${toSafeLine(hidden.file)} is not.`,
    path: hidden.file,
    fix: 'Give one of them another name, or remove it.',
  }
}

/** A warning for each name whose best copy cannot be read, so that a lower one stands in for it. */
function* substitutes(rejected: readonly RejectedSkill[], winners: readonly Skill[]): Steps<Diagnostic[]> {
  const broken = new Set<string>()
  for (let index = 0; index < rejected.length; index++) {
    if (index % STRIDE === 0) yield
    broken.add(toKey((rejected[index] as RejectedSkill).name))
  }
  const byKey = new Map<string, Skill>()
  for (let index = 0; index < winners.length; index++) {
    if (index % STRIDE === 0) yield
    const key = keyOf(winners[index] as Skill)
    if (broken.has(key)) byKey.set(key, winners[index] as Skill)
  }
  const found: Diagnostic[] = []
  for (let index = 0; index < rejected.length; index++) {
    if (index % STRIDE === 0) yield
    const { name, file, origin } = rejected[index] as RejectedSkill
    const used = byKey.get(toKey(name))
    if (!used || !origin.trusted || compareOrigins(origin, used.origin) >= 0) continue
    const message = `'${shownName(used)}' of source '${origin.source}' cannot be read; ${toSafeLine(used.file)} is used instead.`
    const fix = `Run: nexus skills validate ${toSafeLine(file)}`
    found.push({ code: 'lower-copy-used', severity: 'warning', message, path: file, fix })
  }
  return found
}
