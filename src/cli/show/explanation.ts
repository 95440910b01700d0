import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import {
  type Catalog,
  type Examined,
  type Explanation,
  type ExplainParts,
  explainSkill,
  type Finding,
  type SearchedRoot,
  type StrayFile,
} from '../../catalog/index.ts'
import { shellWord, type Skill, toSafeLine } from '../../kernel/index.ts'
import { examineSkill, findStrays } from '../../load/index.ts'
import type { Look } from '../../local/index.ts'
import { type Invocation, lookingAlike } from '../command.ts'
import { agentFlag } from '../open.ts'
import type { Terminal } from '../terminal.ts'
import { prepareAdvice } from './advice.ts'

/** What was looked at: a look, or an open runtime. */
export type Seen = Pick<Look, 'loaded' | 'sources' | 'facts'> & { readonly catalog: Catalog }

/** What only an open runtime and a session know. */
export type Told = Pick<ExplainParts, 'index' | 'loadTool' | 'snapshot'>

/** Where other programs keep skills, below the home directory. */
const OTHER_CLIENTS = [
  '.claude/skills',
  '.codex/skills',
  '.config/opencode/skills',
  '.copilot/skills',
  '.cursor/skills',
  '.gemini/skills',
  '.openclaw/skills',
  '.pi/agent/skills',
]

/**
 * The one answer about a name, with what this machine knows: files in wrong places, lines of settings and skills, programs out of reach.
 * `asked` may also be a path relative to the working directory.
 */
export async function explainHere(
  asked: string,
  seen: Seen,
  options: { readonly invocation: Invocation; readonly told?: Told },
): Promise<Explanation> {
  const explanation = await explain(asked, seen, options)
  const alike = lookingAlike(options.invocation)
  return { ...explanation, findings: explanation.findings.map((each) => ({ ...each, fix: alike(each.fix) })) }
}

async function explain(
  asked: string,
  seen: Seen,
  { invocation, told = {} }: { readonly invocation: Invocation; readonly told?: Told },
): Promise<Explanation> {
  const { catalog, loaded, facts, sources } = seen
  const { environment, signal } = invocation
  const agentId = agentFlag(invocation) ?? loaded.config.agents[0]?.id
  const roots = sources.flatMap(({ id, folder }) => (folder ? [{ source: id, path: folder.path }] : []))
  const parts: ExplainParts = {
    ...told,
    ...{ catalog, roots, prompt: loaded.config.skills.prompt },
    ...(agentId !== undefined && { agentId }),
  }
  const path = realPathOf(asked, invocation.cwd)
  const byName = explainSkill(asked, parts)
  const name = byName.state === 'missing' && path !== undefined ? path : asked
  const first = name === asked ? byName : explainSkill(name, parts)
  if (first.state === 'missing') {
    const strays = await straysOf(name, { seen, roots: roots.map((root) => root.path), invocation })
    return explainSkill(name, { ...parts, strays: withPath(strays, path, roots) })
  }
  const examined = await examinedIn(first, catalog, signal)
  const held = heldAmong(first, catalog)
  const lacking = catalog.shadowed.filter(({ reasons }) => reasons.length > 0).map(({ skill }) => skill)
  const advised = [...held, ...among(first, lacking)]
  const ground = { loaded, facts, environment, signal, agentId }
  const advise = advised.length > 0 && (await prepareAdvice(advised, ground))
  return explainSkill(name, { ...parts, examined, ...(advise && { advise }) })
}

/** What loading the skills would come to that an explanation says are offered or held. */
async function examinedIn(
  explanation: Explanation,
  catalog: Catalog,
  signal: AbortSignal,
): Promise<NonNullable<ExplainParts['examined']>> {
  const results = new Map<Skill, Examined>()
  for (const skill of [...among(explanation, catalog.skills), ...heldAmong(explanation, catalog)])
    results.set(skill, await examineSkill(skill, { signal }))
  return (skill) => results.get(skill)
}

/** The skills that an explanation says are held. */
export function heldAmong(explanation: Explanation, { held }: Catalog): readonly Skill[] {
  return among(
    explanation,
    held.map(({ skill }) => skill),
  )
}

function among({ findings }: Explanation, skills: readonly Skill[]): readonly Skill[] {
  const files = new Set(findings.map(({ file }) => file))
  return skills.filter(({ file }) => files.has(toSafeLine(file)))
}

/** The real path of a file or directory that was named; undefined when nothing is there. */
export function realPathOf(asked: string, cwd: string): string | undefined {
  if (!/[/\\]|\.md$/i.test(asked)) return undefined
  const path = resolve(cwd, asked)
  try {
    return lstatSync(path).isDirectory() ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))
  } catch {
    // Nothing there that can be looked at: it is a name, or an address.
    return undefined
  }
}

interface Search {
  readonly seen: Seen
  readonly roots: readonly string[]
  readonly invocation: Invocation
}

function straysOf(name: string, { seen, roots, invocation }: Search): Promise<readonly StrayFile[]> {
  const { skills, held, shadowed, rejected } = seen.catalog
  const readable = [...skills, ...held.map(({ skill }) => skill), ...shadowed.map(({ skill }) => skill)]
  const { home } = invocation.environment
  return findStrays(name, {
    roots,
    workspace: seen.loaded.workspace.directory,
    elsewhere: home === '' ? [] : OTHER_CLIENTS.map((path) => join(home, path)),
    known: new Set([...readable, ...rejected].map(({ file }) => file)),
    signal: invocation.signal,
  })
}

/** A SKILL.md that was named by its path is in a wrong place, wherever that is; of what lies in a root the search has spoken. */
function withPath(
  strays: readonly StrayFile[],
  path: string | undefined,
  roots: readonly SearchedRoot[],
): readonly StrayFile[] {
  if (path === undefined || strays.some(({ file }) => file === path || dirname(file) === path)) return strays
  if (roots.some((root) => path.startsWith(`${realOf(root.path)}/`))) return strays
  const file = /^skill\.md$/i.test(basename(path)) ? path : join(path, 'SKILL.md')
  return lstatSync(file, { throwIfNoEntry: false })?.isFile() ? [{ file, why: 'beside-root' }] : strays
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // Nothing lies in what is not there.
    return path
  }
}

const HEADLINES: Readonly<Record<Explanation['state'], string>> = {
  offered: 'is offered to the model',
  unloadable: 'is offered to the model, but cannot be loaded',
  held: 'is held back',
  shadowed: 'is shadowed by another copy',
  rejected: 'cannot be read as a skill',
  missing: 'was not found',
}

/** Headlines of skills that are ready, and still not simply offered. */
const READY_BUT: Readonly<Record<string, string>> = {
  'over-budget-omitted': 'is ready, but left out of the prompt',
  'person-only': 'is ready, for people only',
  nobody: 'is ready, but nobody may start it',
  'no-loader': 'is ready, but its agent cannot load it',
}

/** The answer for people, each finding with its place and what to do next; at the end the command that tells whether it helped. */
export function printExplanation(explanation: Explanation, invocation: Invocation): void {
  const { terminal } = invocation
  const { name, state, findings } = explanation
  const headline = (state === 'offered' && READY_BUT[findings[0]?.code ?? '']) || HEADLINES[state]
  terminal.line(`${terminal.paint('bold', name)} ${headline}.`)
  for (const found of findings) terminal.line(`\n${formatFinding(found, terminal.paint)}`)
  const problem = findings.find(({ severity }) => severity === 'problem')
  if (problem === undefined || problem.fix.includes('nexus skills why ')) return
  const again = `${lookingAlike(invocation)('nexus skills why')} ${shellWord(nameAfter(explanation))}`
  terminal.line(`\n${terminal.paint('dim', `When that is done, ask again: ${again}`)}`)
}

/** What lies in a wrong place is moved, and has another path then. */
function nameAfter({ name, state, findings }: Explanation): string {
  if (state !== 'missing' || !findings.some(({ code }) => code === 'wrong-place')) return name
  return basename(name.replace(/\/SKILL\.md$/i, '').replace(/\.(?:md|zip|skill)$/i, '')) || name
}

const MARKS = { ok: ['green', '✓'], note: ['dim', '·'], problem: ['red', '✗'] } as const

export function formatFinding({ severity, code, text, file, line, fix }: Finding, paint: Terminal['paint']): string {
  const [style, mark] = MARKS[severity]
  const place = file === undefined ? '' : `\n    ${paint('dim', line === undefined ? file : `${file}:${line}`)}`
  return `${paint(style, mark)} ${text} ${paint('dim', `(${code})`)}${place}\n    ${paint('cyan', 'next:')} ${fix}`
}
