import { type Diagnostic, nearest, type Tool } from '../kernel/index.ts'
import { GROUPS, type Groups, isGroup, membersOf, PREFIX, type Profile, PROFILE_NAMES, toGroupName } from './groups.ts'
import { ALIASES, entryCovers, entryCoversCapability, hasWildcard, toPolicyName } from './names.ts'
import type { PolicyRules } from './policy.ts'
import { FINDINGS } from './messages.ts'
import { findUnreachable } from './unreachable.ts'

/** A tool as far as checking a policy needs it. */
export type KnownTool = string | Pick<Tool, 'name' | 'options'>

/** The tools part of one agent, and the groups of the configuration, as written. */
export interface PolicyInput {
  /** Default `full`. */
  readonly profile?: string | undefined
  readonly allow?: readonly string[] | undefined
  readonly ask?: readonly string[] | undefined
  readonly deny?: readonly string[] | undefined
  /** Replace shipped groups of the same name, or add to them. */
  readonly groups?: ReadonlyMap<string, readonly string[]> | Readonly<Record<string, readonly string[]>> | undefined
  /** The tools that exist. Without them only names that look like a slip of a shipped one are reported. */
  readonly knownTools?: readonly KnownTool[] | undefined
  /** More tools may exist than `knownTools`, such as those of modules. */
  readonly hasOtherTools?: boolean | undefined
  /** The file that diagnostics speak of; default `nexus.yaml`. */
  readonly path?: string | undefined
  /** Where a part of the input was written, by its keys, such as `['deny', 0]` or `['groups', 'build', 1]`. */
  readonly locate?: ((keys: readonly (string | number)[]) => PolicyPlace | undefined) | undefined
}

export interface PolicyPlace extends Pick<Diagnostic, 'path' | 'line' | 'column'> {
  /** The position of an item in the list of its file, when that is another one. */
  readonly index?: number
}

const WRITTEN_KEYS = ['profile', 'allow', 'ask', 'deny', 'groups'] as const satisfies readonly (keyof PolicyInput)[]
type OtherKey = Exclude<keyof PolicyInput, (typeof WRITTEN_KEYS)[number]>
const OTHER_KEYS: Readonly<Record<OtherKey, true>> = { knownTools: true, hasOtherTools: true, path: true, locate: true }

/**
 * Policy rules from configuration. Never throws: unknown names are warnings with the nearest match, a cycle of groups
 * is an error. So are an unknown profile and an unknown key: the profile is then `minimal`, so that a slip never widens.
 */
export function parsePolicy(input: PolicyInput): {
  readonly rules: PolicyRules
  readonly diagnostics: readonly Diagnostic[]
} {
  const path = input.path ?? 'nexus.yaml'
  const groups = toGroups(input.groups)
  const profile = PROFILE_NAMES.find((name) => name === toPolicyName(input.profile ?? 'full'))
  const known: readonly string[] = [...WRITTEN_KEYS, ...Object.keys(OTHER_KEYS)]
  const unknownKeys = Object.keys(input).filter((key) => !known.includes(key))
  const rules: PolicyRules = {
    profile: unknownKeys.length > 0 || profile === undefined ? 'minimal' : profile,
    allow: input.allow ?? [],
    ask: input.ask ?? [],
    deny: input.deny ?? [],
    groups,
  }
  const found = [
    ...unknownKeys.map(unknownKey),
    ...(profile ? [] : [unknownProfile(input.profile ?? '')]),
    ...checkCycles(groups),
    ...checkEntries(rules, toKnown(input), input.locate),
    ...checkReach(rules, input.locate),
  ]
  const place = (keys: Finding['keys']): PolicyPlace => {
    const { index: _, ...found }: PolicyPlace = input.locate?.(keys) ?? { path }
    return found
  }
  return { rules, diagnostics: found.map(({ keys, ...finding }) => ({ ...finding, ...place(keys) })) }
}

type Finding = Omit<Diagnostic, 'path'> & { readonly keys: readonly (string | number)[] }

/** Names that may be used. `complete` is false when it is not known which tools exist. */
interface Known {
  readonly complete: boolean
  readonly names: readonly string[]
  readonly tools: readonly Pick<Tool, 'name' | 'options'>[]
}

const SHIPPED_NAMES = [...[...GROUPS.values()].flat().filter((name) => !hasWildcard(name)), ...ALIASES.values()].map(
  toPolicyName,
)

function toGroups(groups: PolicyInput['groups']): Groups {
  const entries = groups instanceof Map ? [...groups] : Object.entries(groups ?? {})
  return new Map([...GROUPS, ...entries.map(([name, members]) => [toGroupName(name), members] as const)])
}

function toKnown({ knownTools, hasOtherTools = false }: PolicyInput): Known {
  const known = (knownTools ?? []).map((tool) => (typeof tool === 'string' ? { name: tool } : tool))
  return {
    complete: knownTools !== undefined && !hasOtherTools,
    tools: known,
    names: [...known.map(({ name }) => toPolicyName(name)), ...SHIPPED_NAMES],
  }
}

function unknownProfile(profile: string): Finding {
  const guess: Profile | undefined = PROFILE_NAMES.find((name) => name === nearest(profile, PROFILE_NAMES))
  return {
    keys: ['profile'],
    code: 'policy-unknown-profile',
    severity: 'error',
    ...FINDINGS['policy-unknown-profile'](profile, PROFILE_NAMES, guess),
  }
}

function unknownKey(key: string): Finding {
  const words = FINDINGS['policy-unknown-key'](key, WRITTEN_KEYS, nearest(key, WRITTEN_KEYS))
  return { keys: [key], code: 'policy-unknown-key', severity: 'error', ...words }
}

/** Reports each cycle once, at the group through which it is first entered. */
function checkCycles(groups: Groups): Finding[] {
  const done = new Set<string>()
  const findings: Finding[] = []
  for (const start of groups.keys()) {
    const trail: { name: string; rest: string[] }[] = [{ name: start, rest: nestedIn(start, groups) }]
    for (let top = trail.at(-1); top; top = trail.at(-1)) {
      const next = done.has(top.name) ? undefined : top.rest.shift()
      if (next === undefined) {
        done.add(top.name)
        trail.pop()
        continue
      }
      const from = trail.findIndex(({ name }) => name === next)
      if (from < 0) trail.push({ name: next, rest: nestedIn(next, groups) })
      else findings.push(cycle([...trail.slice(from).map(({ name }) => name), next]))
    }
  }
  return findings
}

function nestedIn(group: string, groups: Groups): string[] {
  return (membersOf(group, groups) ?? []).map(toPolicyName).filter(isGroup)
}

function cycle(names: readonly string[]): Finding {
  return {
    keys: ['groups', names.at(-2) ?? ''],
    code: 'policy-group-cycle',
    severity: 'error',
    ...FINDINGS['policy-group-cycle'](names),
  }
}

function checkEntries(rules: PolicyRules, known: Known, locate: PolicyInput['locate']): Finding[] {
  const { groups } = rules
  const own = [...groups].filter(([group, members]) => GROUPS.get(group) !== members)
  const lists = [
    ...(['allow', 'ask', 'deny'] as const).map((list) => ({ list, name: list, above: [list], entries: rules[list] })),
    ...own.map(([name, entries]) => ({ list: 'group' as const, name, above: ['groups', name], entries })),
  ]
  return lists.flatMap(({ list, name, above, entries }) =>
    entries.flatMap((entry, index) => {
      const keys = [...above, index]
      const where = (): string => `${name}[${locate?.(keys)?.index ?? index}]`
      return checkEntry(entry, { keys, where, list, known, groups })
    }),
  )
}

function checkReach(rules: PolicyRules, locate: PolicyInput['locate']): Finding[] {
  return findUnreachable(rules).map(({ list, index, entry, by }) => {
    const keys = [list, index]
    const where = `${list}[${locate?.(keys)?.index ?? index}]`
    const words = FINDINGS['policy-unreachable'](entry, { where, by })
    return { keys, code: 'policy-unreachable', severity: 'warning', ...words }
  })
}

/**
 * Findings about names in lists of permissions, such as `disableTools`: warnings with the nearest match. `where` is the list as people call
 * it; the keys of a finding are the position in the list.
 */
export function checkToolNames(
  entries: readonly string[],
  {
    where,
    ...input
  }: Pick<PolicyInput, 'groups' | 'knownTools' | 'hasOtherTools' | 'locate' | 'path'> & {
    readonly where: string
  },
): readonly Diagnostic[] {
  const known = toKnown(input)
  const groups = toGroups(input.groups)
  return entries.flatMap((entry, index) => {
    const { index: at = index, ...place }: PolicyPlace = input.locate?.([index]) ?? { path: input.path ?? 'nexus.yaml' }
    const context = { keys: [index], where: () => `${where}[${at}]`, list: 'group', known, groups } as const
    return checkEntry(entry, context).map(({ keys: _, ...finding }) => ({ ...finding, ...place }))
  })
}

interface EntryContext {
  readonly keys: readonly (string | number)[]
  readonly where: () => string
  readonly list: 'allow' | 'ask' | 'deny' | 'group'
  readonly known: Known
  readonly groups: Groups
}

function checkEntry(entry: string, place: EntryContext): Finding[] {
  const name = toPolicyName(entry)
  if (isGroup(name)) return checkGroup(entry, name, place)
  const { known } = place
  if (isTool(name, known)) return []
  const capable = known.tools.some((tool) => namesCapability(name, tool))
  if (capable) return place.list === 'deny' || place.list === 'group' ? [] : [notDeniable(entry, place)]
  const guess = guessFor(name, place)
  return known.complete || guess !== undefined ? [unknown(entry, place, guess)] : []
}

/** A group without tools is good for one thing: skills that ask for it are held from who denies it. See `toolGroupRule`. */
function checkGroup(entry: string, name: string, place: EntryContext): Finding[] {
  const members = membersOf(name, place.groups)
  if (members !== undefined && (members.length > 0 || place.list !== 'deny')) return []
  const others = [...place.groups.keys()].filter((group) => group !== name).map((group) => group.slice(PREFIX.length))
  const guess = members === undefined ? nearest(name.slice(PREFIX.length), others) : undefined
  const found = unknown(entry, place, guess && PREFIX + guess)
  const message = `${place.where()}: no tool here is in '${entry}', so the line only holds skills that ask for that group.`
  return [place.list === 'deny' ? { ...found, message } : found]
}

/** While other tools may exist, only what looks like a shipped name is a slip. */
function guessFor(name: string, { known, groups }: EntryContext): string | undefined {
  if (!known.complete) return nearest(name, known.names)
  return groups.has(PREFIX + name) ? PREFIX + name : nearest(name, similarNames(name, known))
}

/** Names that may be meant by a typo: tools first, then their other names, then capabilities of any of them. */
function* similarNames(name: string, { names, tools }: Known): Generator<string> {
  yield* names
  yield* ALIASES.keys()
  if (!name.includes('.')) return
  for (const { name: tool, options } of tools)
    for (const head of namesOf(toPolicyName(tool)))
      for (const capability of options?.capabilities ?? []) yield `${head}.${toPolicyName(capability)}`
}

function namesOf(tool: string): string[] {
  return [tool, ...[...ALIASES].filter(([, ours]) => ours === tool).map(([alias]) => alias)]
}

/** MCP servers come and go, so their names are never unknown. */
function isTool(name: string, known: Known): boolean {
  return name.startsWith('mcp:') || ALIASES.has(name) || known.names.some((tool) => entryCovers(name, tool))
}

function namesCapability(name: string, tool: Pick<Tool, 'name' | 'options'>): boolean {
  const capabilities = tool.options?.capabilities ?? []
  return capabilities.some((capability) =>
    entryCoversCapability(name, toPolicyName(tool.name), toPolicyName(capability)),
  )
}

function unknown(entry: string, { keys, where, known, list }: EntryContext, guess: string | undefined): Finding {
  const declared = entry.includes('.') ? known.tools.flatMap(({ options }) => options?.capabilities ?? []) : []
  return {
    keys,
    code: 'policy-unknown-name',
    // A denial that a typo makes void would allow what it names.
    severity: list === 'deny' && guess !== undefined ? 'error' : 'warning',
    ...FINDINGS['policy-unknown-name'](entry, { where: where(), capabilities: [...new Set(declared)], guess }),
  }
}

function notDeniable(entry: string, { keys, where, list }: EntryContext): Finding {
  return {
    keys,
    code: 'policy-capability',
    severity: 'warning',
    ...FINDINGS['policy-capability'](entry, { where: where(), isAsk: list === 'ask' }),
  }
}
