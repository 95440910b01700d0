import type { Diagnostic, Gated, InvalidSkill, Skill } from '../../kernel/index.ts'
import { addressesIn, ownAddress, readingsOf } from './address.ts'
import { arrange, type IsSame, type SkippedCopy } from './arrange.ts'
import type { Catalog } from './catalog.ts'
import { type Copy, isReady, takesPart, toKey, compareOrigins } from './copy.ts'
import { MESSAGES } from './messages.ts'
import { shownName, shownText } from './shown-text.ts'
import { versionOf } from './snapshot.ts'

export interface CatalogParts {
  readonly gated: Gated
  readonly invalid?: readonly InvalidSkill[]
  readonly diagnostics?: readonly Diagnostic[]
  /** Tree digests of skills that share a name, by the path of SKILL.md: equal ones are duplicates. A skill without one equals no other. */
  readonly treeDigests?: ReadonlyMap<string, string>
}

/**
 * Decides which copy each name means and lists every other copy with its reason. Highest tier wins, then the earlier source,
 * then, within one source, the last in path order, which discovery warns of. Pure; the same input gives the same catalog and version.
 * A copy that cannot run here leaves its name to a ready one; a disabled copy hides all lower ones; an untrusted one hides no trusted one.
 */
export function buildCatalog({ gated, invalid = [], diagnostics = [], treeDigests }: CatalogParts): Catalog {
  const isSame: IsSame = (a, b) =>
    a.directory === b.directory ||
    (treeDigests?.has(a.file) === true && treeDigests.get(a.file) === treeDigests.get(b.file))
  const { skills, held, shadowed, copies, winners, skipped } = arrange(gated, isSame)
  // Few callers need these two.
  let addresses: ReturnType<typeof addressesIn> | undefined
  let version: string | undefined

  const find = (nameOrAddress: string): Skill | undefined => {
    addresses ??= addressesIn(copies)
    for (const key of readingsOf(nameOrAddress).map(toKey)) {
      // An address wins over a skill whose label merely looks like that address.
      const copy = addresses.copies.get(key) ?? winners.get(key)
      if (copy && isReady(copy)) return copy.skill
      // A held copy keeps its name and address.
      if (copy && takesPart(copy)) return undefined
    }
    return undefined
  }
  const addressOf = (skill: Skill): string =>
    (addresses ??= addressesIn(copies)).numbered.get(skill) ?? ownAddress(skill)
  return Object.freeze({
    ...{ skills: Object.freeze(skills), held: Object.freeze(held), shadowed: Object.freeze(shadowed) },
    invalid,
    diagnostics: [...diagnostics, ...aboutInvalid(invalid, winners), ...skipped.map(aboutHeld)],
    get version() {
      return (version ??= versionOf(skills))
    },
    find,
    addressOf,
    callName: (skill: Skill) => {
      const name = shownName(skill)
      return find(name) === skill ? name : shownText(addressOf(skill))
    },
  })
}

/** A warning for each name whose best copy cannot be read, so that a lower one is used. */
function* aboutInvalid(invalid: readonly InvalidSkill[], winners: ReadonlyMap<string, Copy>): Generator<Diagnostic> {
  for (const { name, file, origin } of invalid) {
    const used = winners.get(toKey(name))?.skill
    if (!used || !origin.trusted || compareOrigins(origin, used.origin) >= 0) continue
    const facts = { name: shownName(used), source: origin.source, file, used: used.origin.source }
    const words = MESSAGES['lower-copy-used'].invalid(facts)
    yield { code: 'lower-copy-used', severity: 'warning', ...words, path: file, subject: facts.name }
  }
}

function aboutHeld({ copy: { skill, reasons }, used }: SkippedCopy): Diagnostic {
  const facts = { name: shownName(used), source: skill.origin.source, file: skill.file, used: used.origin.source }
  const texts = reasons.map(({ text }) => text)
  const words = MESSAGES['lower-copy-used'].held(facts, texts)
  return { code: 'lower-copy-used', severity: 'info', ...words, path: skill.file, subject: facts.name }
}
