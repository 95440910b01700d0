import { type Diagnostic, type Gated, type RejectedSkill, type Skill, toSafeLine } from '../kernel/index.ts'
import { addressesIn, ownAddress, readingsOf } from './address.ts'
import { arrange, type IsSame } from './arrange.ts'
import type { Catalog } from './catalog.ts'
import { type Copy, isReady, takesPart, toKey } from './copy.ts'
import { compareOrigins } from './precedence.ts'
import { shownName, shownText } from './shown-text.ts'
import { versionOf } from './snapshot.ts'

/** What discovery and gating found. */
export interface CatalogParts {
  readonly gated: Gated
  readonly rejected?: readonly RejectedSkill[]
  readonly diagnostics?: readonly Diagnostic[]
  /** Digests of SKILL.md files by path, of skills that share a name: equal ones collapse. A file without one equals no other. */
  readonly digests?: ReadonlyMap<string, string>
}

/**
 * Decides which copy each name means and lists every other copy with its reason. Highest tier wins, then the earlier source,
 * then, within one source, the last in path order, which discovery warns of. Pure; the same input gives the same catalog and version.
 * A held copy still hides lower ones, so that a name always means the same copy; an untrusted one never hides a trusted one.
 */
export function buildCatalog({ gated, rejected = [], diagnostics = [], digests }: CatalogParts): Catalog {
  const isSame: IsSame = (a, b) => digests?.has(a.file) === true && digests.get(a.file) === digests.get(b.file)
  const { skills, held, shadowed, copies, winners } = arrange(gated, isSame)
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
    rejected,
    diagnostics: [...diagnostics, ...substitutes(rejected, winners)],
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

/** A warning for each name whose best copy cannot be read, so that a lower one stands in for it. */
function* substitutes(rejected: readonly RejectedSkill[], winners: ReadonlyMap<string, Copy>): Generator<Diagnostic> {
  for (const { name, file, origin } of rejected) {
    const used = winners.get(toKey(name))?.skill
    if (!used || !origin.trusted || compareOrigins(origin, used.origin) >= 0) continue
    const message = `'${shownName(used)}' of source '${origin.source}' cannot be read; ${toSafeLine(used.file)} is used instead.`
    const fix = `Run: nexus skills validate ${toSafeLine(file)}`
    yield { code: 'lower-copy-used', severity: 'warning', message, path: file, subject: shownName(used), fix }
  }
}
