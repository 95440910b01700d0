import { toSafeLine } from '../../../kernel/index.ts'
import {
  type Applied,
  applyPlan,
  type Asks,
  asksAnything,
  installError,
  type PlannedSkill,
  type Scope,
} from '../../../skills/install/index.ts'
import type { Invocation } from '../command.ts'
import { confirm } from '../interactive/confirm.ts'
import { lackLines, type Lacks, lacksOf } from './lacks.ts'
import { askPolicy, type Installing, namesFlag, overwriting, scopeData, typedAgain } from './place.ts'
import { sourceText } from '../show/installed.ts'
import { INSTALL_WORDS } from './words.ts'
import { join } from 'node:path'
import { Tree } from '../../../machine/files/index.ts'

/** Settings that a placed copy would get. */
interface Grant {
  readonly name: string
  readonly key: string
  readonly variables: readonly string[]
}

/** Settings reach a copy by its name, or by the key that it names itself. Those that the replaced copy of the same source had are not asked about. */
function grantsOf(planned: readonly PlannedSkill[], { loaded, isTrusted }: Installing): readonly Grant[] {
  if (!isTrusted) return []
  const { entries } = loaded.config.skills
  return planned.flatMap(({ name, action, keys, keysBefore, source, before }) => {
    if (action === 'same') return []
    const had = before !== undefined && sameOrigin(before.source, source) ? keysBefore : []
    return keys.flatMap((key) => {
      const entry = entries.get(key)
      if (!entry || had.includes(key)) return []
      const secret = entry.hasApiKey ? ['apiKey'] : []
      return [{ name, key, variables: [...secret, ...Object.keys(entry.env)] }]
    })
  })
}

function sameOrigin(a: PlannedSkill['source'], b: PlannedSkill['source']): boolean {
  const origin = (source: PlannedSkill['source']) =>
    `${source.type} ${'url' in source ? source.url : ''} ${source.path}`
  return origin(a) === origin(b)
}

/** The end of a plan. */
export interface Outcome {
  readonly data: Readonly<Record<string, unknown>>
  readonly applied: Applied | undefined
  /** Exit code 1 when the person says no. */
  readonly exit: number
}

/**
 * Shows a plan, asks where that is needed, and places it. `from`: the folder or archive of this machine that was named; `offers`: every
 * skill of the source. Throws INVALID_ARGUMENT where nobody can answer.
 */
export async function carryOut(
  planned: readonly PlannedSkill[],
  installing: Installing,
  invocation: Invocation,
  { from, offers = [] }: { readonly from?: string | undefined; readonly offers?: readonly string[] } = {},
): Promise<Outcome> {
  const { terminal, flags } = invocation
  const { scope, alone } = installing
  const replacing = overwriting(invocation)
  const grants = grantsOf(planned, installing)
  const lacks = await lacksOf(planned, offers, installing, invocation)
  await showPlan(planned, { grants, lacks }, installing, invocation)
  const data = { ...scopeData(scope), skills: planned.map((plan) => planData(plan, grants, lacks.get(plan.name))) }
  const news = planned.filter(({ action }) => action !== 'same')
  await askPolicy(news, installing, invocation)
  if (flags['dry-run'] === true) {
    terminal.note(INSTALL_WORDS.dryRun())
    return { data: { ...data, applied: false }, applied: undefined, exit: 0 }
  }
  if (news.length > 0 && !(await isAgreed(grants, invocation))) {
    terminal.note(INSTALL_WORDS.refused())
    return { data: { ...data, applied: false }, applied: undefined, exit: 1 }
  }
  const options = { alone, ...replacing, now: new Date(), from }
  const applied = await applyPlan(scope, planned, options)
  const kept = Object.fromEntries([...applied.kept].map(([name, path]) => [name, toSafeLine(path)]))
  return { data: { ...data, applied: true, kept }, applied, exit: 0 }
}

async function isAgreed(grants: readonly Grant[], invocation: Invocation): Promise<boolean> {
  const { terminal, flags } = invocation
  const accepted = namesFlag(invocation, 'accept')
  const open = [...new Set(grants.map(({ name }) => name))].filter((name) => !accepted.has(name))
  if (flags['yes'] === true && open.length === 0) return true
  if (flags['yes'] === true)
    throw installError('INVALID_ARGUMENT', INSTALL_WORDS.needsAccept(open, typedAgain(invocation)))
  if (!terminal.isInteractive) throw installError('INVALID_ARGUMENT', INSTALL_WORDS.needsYes(typedAgain(invocation)))
  return (await confirm(INSTALL_WORDS.question(), invocation)) === true
}

async function showPlan(
  planned: readonly PlannedSkill[],
  { grants, lacks }: { readonly grants: readonly Grant[]; readonly lacks: ReadonlyMap<string, Lacks> },
  { scope, isTrusted }: Installing,
  invocation: Invocation,
): Promise<void> {
  const { terminal } = invocation
  terminal.note(INSTALL_WORDS.plan(terminal.shortPath(`${scope.root}/skills`)))
  for (const plan of planned) {
    for (const line of linesOf(plan)) terminal.note(line)
    for (const line of lackLines(lacks.get(plan.name))) terminal.note(line)
    if (plan.action === 'replace') await showChanges(plan, scope, invocation)
    for (const { key, variables } of grants.filter(({ name }) => name === plan.name))
      terminal.note(INSTALL_WORDS.gets(key, variables))
  }
  terminal.note(isTrusted ? INSTALL_WORDS.trusted() : INSTALL_WORDS.untrusted())
}

const MARKS = { add: '+', replace: '~', same: '=' } as const
const KINDS: Readonly<Record<keyof Asks, string>> = {
  scripts: 'scripts',
  tools: 'tools',
  variables: 'variables',
  programs: 'programs',
  config: 'settings',
  installs: 'installs',
  secret: 'the settings of another key',
  skills: 'skills',
  hosts: 'hosts',
}

function linesOf(plan: PlannedSkill): string[] {
  const { name, action, package: packed, changes, edited, asks, widens } = plan
  const bytes = packed.files.reduce((sum, file) => sum + file.bytes.length, 0)
  const what = action === 'same' ? INSTALL_WORDS.same() : INSTALL_WORDS.files(packed.files.length, bytes)
  const row = { mark: MARKS[action], name, what, from: sourceText(plan.source) }
  const first = INSTALL_WORDS.row(row)
  if (action === 'same') return [first]
  const shown = action === 'add' ? asks : widens
  const words = Object.entries(shown).filter(([, all]) => all.length > 0)
  const say = action === 'add' ? INSTALL_WORDS.asks : INSTALL_WORDS.widens
  return [
    first,
    ...(action === 'replace' ? changes.map(({ change, path }) => INSTALL_WORDS.change(change, path)) : []),
    ...words.map(([kind, all]) => say(KINDS[kind as keyof Asks], all)),
    ...(packed.leftOut.length > 0 ? [INSTALL_WORDS.leftOut(packed.leftOut)] : []),
    ...(edited.length > 0 ? [INSTALL_WORDS.edited(edited)] : []),
  ]
}

function planData(plan: PlannedSkill, grants: readonly Grant[], lacks: Lacks | undefined) {
  const { name, place, action, package: packed, source, changes, edited, asks, widens, isOurs } = plan
  return {
    ...{ name, place, action, source, digest: packed.digest, description: packed.description },
    files: packed.manifest.map(({ path, size, executable }) => ({ path, size, executable })),
    ...{ changes, edited, asks, widens, ours: isOurs, widening: asksAnything(widens) && action === 'replace' },
    leftOut: packed.leftOut,
    missing: (lacks?.reasons ?? []).map(({ code, missing, text, fix }) => ({ code, missing, text, fix })),
    missingSkills: lacks?.skills ?? [],
    cycle: lacks?.cycle ?? [],
    grants: grants.filter((grant) => grant.name === name).map(({ key, variables }) => ({ key, variables })),
  }
}

/** Lines of one skill; `--dry-run` has no limit. */
const MAX_LINES = 120
const MAX_BYTES = 256 * 1024

/** Prints the diff of every changed text, by the copy that is there, edits too. */
export async function showChanges(
  { place, changes, package: packed }: PlannedSkill,
  { root }: Pick<Scope, 'root'>,
  { terminal, flags }: Invocation,
): Promise<void> {
  const { printDiff } = await import('../show/diff.ts')
  const room = flags['dry-run'] === true ? Number.POSITIVE_INFINITY : MAX_LINES
  let lines = 0
  const line = (text = ''): void => {
    lines += 1
    if (lines <= room) terminal.note(`      ${text}`)
  }
  const tree = new Tree(join(root, place))
  try {
    for (const { path, change } of changes) {
      const after = textOf(packed.files.find((file) => file.path === path)?.bytes)
      if (change !== 'changed' || after === undefined) continue
      if ((tree.entry(path)?.size ?? 0) > MAX_BYTES) continue
      const before = textOf((await tree.read(path, { maxBytes: MAX_BYTES })).bytes)
      if (before !== undefined && before !== after)
        printDiff({ before, after }, toSafeLine(path), { line, paint: terminal.paintNote })
    }
  } finally {
    tree.close()
  }
  if (lines > room) terminal.note(INSTALL_WORDS.moreLines(lines - room))
}

/** Undefined for large files and those that are no text. */
function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (!bytes || bytes.length > MAX_BYTES || bytes.includes(0)) return undefined
  return new TextDecoder().decode(bytes)
}
