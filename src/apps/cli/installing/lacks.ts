/** lacks: everything that planned skills require and this machine does not have. */
import { join } from 'node:path'
import { type HeldReason, nameKey, type Skill, SKILL_FILE } from '../../../kernel/index.ts'
import { inspectSkills } from '../../../local/index.ts'
import type { PlannedSkill } from '../../../skills/install/index.ts'
import { type Invocation } from '../command.ts'
import { places } from '../open.ts'
import type { Installing } from './place.ts'
import { INSTALL_WORDS } from './words.ts'

export interface Lacks {
  /** The gates that would hold it. */
  readonly reasons: readonly HeldReason[]
  /** Skills that are neither here nor in the plan, with the words for `nexus skills install`. */
  readonly skills: readonly { readonly name: string; readonly install: readonly string[] }[]
  /** Names from the skill to itself. */
  readonly cycle?: readonly string[]
}

/** By name of the planned skill; looks at this machine only where one requires anything. */
export async function lacksOf(
  planned: readonly PlannedSkill[],
  offers: readonly string[],
  installing: Installing,
  invocation: Invocation,
): Promise<ReadonlyMap<string, Lacks>> {
  const news = planned.filter(({ action, package: { document } }) => action !== 'same' && requiresAnything(document))
  if (news.length === 0) return new Map()
  const { signal } = invocation
  const inspection = await inspectSkills({ ...places(invocation), tolerateConfigErrors: true, signal })
  const catalog = inspection.catalog()
  const required = new Map<string, readonly string[]>()
  for (const { name, metadata } of [...catalog.skills, ...catalog.held.map(({ skill }) => skill)])
    required.set(nameKey(name), metadata.requiredSkills ?? [])
  for (const { package: packed } of planned)
    required.set(nameKey(packed.name), packed.document.metadata.requiredSkills ?? [])
  const asSkills = news.map((plan) => skillOf(plan, installing))
  const { held } = inspection.gate(asSkills)
  const [source = ''] = invocation.positionals
  return new Map(
    news.map((plan, index) => {
      const { name, document } = plan.package
      const missing = (document.metadata.requiredSkills ?? []).filter((each) => !required.has(keyOf(each)))
      const lacks: Lacks = {
        reasons: held.find(({ skill }) => skill === asSkills[index])?.reasons ?? [],
        skills: missing.map((each) => ({ name: each, install: installWords(each, source, offers) })),
        cycle: cycleFrom(name, required),
      }
      return [plan.name, lacks]
    }),
  )
}

/** A requirement may name its source, as `owner/repo@skill`. */
function keyOf(required: string): string {
  return nameKey(required.slice(required.lastIndexOf('@') + 1))
}

function installWords(name: string, source: string, offers: readonly string[]): readonly string[] {
  if (offers.includes(name)) return [source, '--skill', name]
  return name.includes('/') ? [name] : [`OWNER/REPO@${name}`]
}

function requiresAnything({ metadata, description = '' }: PlannedSkill['package']['document']): boolean {
  const { os, requires, unreadable = [], requiredSkills = [] } = metadata
  const lists = [os, unreadable, requiredSkills, ...Object.values(requires)]
  return description.trim() === '' || lists.some((list: readonly unknown[]) => list.length > 0)
}

/** Like one that was found; the gate of trust is said by the plan itself. */
function skillOf({ package: packed, place }: PlannedSkill, { scope }: Installing): Skill {
  const { body: _, ...head } = packed.document
  return {
    ...{ ...head, name: packed.name, description: packed.description, diagnostics: [] },
    ...{ directory: join(scope.root, place), file: SKILL_FILE, stamp: { mtimeMs: 0, size: 0, inode: 0 } },
    origin: { source: 'plan', tier: 'workspace', rank: 0, trusted: true },
  }
}

/** The shortest way along requirements from a skill back to itself. */
function cycleFrom(start: string, required: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const seen = new Set<string>()
  const ways: (readonly string[])[] = [[start]]
  for (const way of ways)
    for (const next of required.get(keyOf(way.at(-1) ?? '')) ?? []) {
      const key = keyOf(next)
      if (key === nameKey(start)) return [...way, start]
      if (!seen.has(key)) ways.push([...way, next])
      seen.add(key)
    }
  return undefined
}

/** Lines below the row of the plan. */
export function lackLines(lacks: Lacks | undefined): readonly string[] {
  if (!lacks) return []
  return [
    ...lacks.reasons.map(({ text, fix }) => INSTALL_WORDS.lacks(text, fix)),
    ...lacks.skills.map(({ name, install }) => INSTALL_WORDS.lacksSkill(name, install)),
    ...(lacks.cycle ? [INSTALL_WORDS.cycle(lacks.cycle)] : []),
  ]
}
