import { lstatSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import * as v from 'valibot'
import { Tree, waysTo } from '../../machine/files/index.ts'
import { runProgram } from '../../machine/host/index.ts'
import { writeFiles } from './copies.ts'
import { hiddenName, sweep } from './names.ts'
import type { Wanted } from './plan.ts'
import { privateDirectory, type Scope } from './scope.ts'
import { installError, MESSAGES } from './messages.ts'

/** The program of `skills.install.policy` in the user's own file: it judges what is about to be placed. */
export interface PolicyHook {
  /** Absolute path; undefined where there is none. */
  readonly program: string | undefined
  /** Commands of agents may change what is in it. */
  readonly workspace: string
  readonly kind: 'install' | 'update' | 'restore'
  /** The source as it was typed. */
  readonly specifier?: string
  readonly signal?: AbortSignal | undefined
}

const ANSWER = v.looseObject({
  protocolVersion: v.literal(1),
  decision: v.picklist(['allow', 'warn', 'block']),
  reason: v.optional(v.string()),
  findings: v.optional(
    v.array(v.looseObject({ severity: v.picklist(['info', 'warn', 'critical']), message: v.string() })),
  ),
})

/** The judgement of one skill. */
export interface Judged {
  readonly name: string
  readonly decision: 'allow' | 'warn' | 'block'
  readonly reason: string
  readonly findings: readonly { readonly severity: string; readonly message: string }[]
}

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 1024 * 1024

/** Asks about each skill. Whatever goes wrong is a `block`. Rejects only with the reason of an aborted signal. */
export async function judge(scope: Scope, wanted: readonly Wanted[], hook: PolicyHook): Promise<readonly Judged[]> {
  const { program } = hook
  if (program === undefined) return []
  const judged: Judged[] = []
  for (const each of wanted) judged.push(await judgeOne(scope, each, { ...hook, program }))
  return judged
}

async function judgeOne(
  scope: Scope,
  wanted: Wanted,
  { program, workspace, signal, ...asked }: PolicyHook & { readonly program: string },
): Promise<Judged> {
  const { directory: name } = wanted.package
  const blocked = (why: string): Judged => ({
    ...{ name, decision: 'block', reason: `its policy program ${why}`, findings: [] },
  })
  const unsafe = whyUnsafe(program, workspace)
  if (unsafe !== undefined) return blocked(unsafe)
  const ended = await withFiles(scope, wanted, (sourcePath) =>
    runProgram({
      command: [realpathSync(program)],
      environment: {},
      input: `${JSON.stringify({ ...requestOf(scope, wanted, asked), sourcePath })}\n`,
      timeoutMs: TIMEOUT_MS,
      maxOutputBytes: MAX_ANSWER_BYTES,
      signal,
    }),
  )
  if (ended.type === 'failed') return blocked(ended.why)
  if (ended.code !== 0) return blocked(`ended with ${ended.signal ?? `code ${ended.code}`}`)
  return readAnswer(name, ended.stdout) ?? blocked('gave no answer of the protocol')
}

/** Gives the path of a directory with the files of a skill, which is there while the work is done. */
async function withFiles<T>(
  { nexusHome }: Pick<Scope, 'nexusHome'>,
  { package: { files } }: Wanted,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = privateDirectory(nexusHome, 'judged')
  using tree = new Tree(directory)
  const own = hiddenName('new')
  try {
    await sweep(tree, '')
    await writeFiles(tree, own, files)
    return await work(`${directory}/${own}`)
  } finally {
    await tree.removeAll(own)
  }
}

/** Source: contracts §2.4. */
function requestOf(
  scope: Scope,
  { package: packed, source }: Wanted,
  { kind, specifier }: Pick<PolicyHook, 'kind' | 'specifier'>,
) {
  const url = 'url' in source ? source.url : undefined
  return {
    ...{ protocolVersion: 1, targetType: 'skill', targetName: packed.directory },
    sourcePathKind: 'directory',
    source: {
      kind: source.type,
      authority: url === undefined ? null : new URL(url).host,
      mutable: source.type === 'local' || (source.type === 'git' && source.follows !== 'commit'),
      network: url !== undefined,
    },
    origin: { ...source, digest: packed.digest },
    request: { kind, mode: scope.kind, requestedSpecifier: specifier ?? null },
    files: packed.manifest.map(({ path, size, executable }) => ({ path, size, executable })),
  }
}

function readAnswer(name: string, output: Uint8Array): Judged | undefined {
  try {
    const { decision, reason = '', findings = [] } = v.parse(ANSWER, JSON.parse(new TextDecoder().decode(output)))
    return { name, decision, reason, findings: findings.map(({ severity, message }) => ({ severity, message })) }
  } catch {
    return undefined
  }
}

/** Nobody but its owner, who is this user or root, may change it or replace a directory on the way to it. */
function whyUnsafe(program: string, workspace: string): string | undefined {
  try {
    const real = realpathSync(program)
    if ([program, real].some((path) => path.startsWith(`${workspace}/`)))
      return `is in the workspace, where commands may change it: ${program}`
    return (
      whyChangeable(real) ?? [...waysTo(dirname(program)), ...waysTo(dirname(real))].map(whyChangeable).find(Boolean)
    )
  } catch {
    return `is not there: ${program}`
  }
}

function whyChangeable(path: string): string | undefined {
  const stats = lstatSync(path)
  const { uid, mode } = stats
  if (uid !== 0 && uid !== process.getuid?.()) return `belongs to another user: ${path}`
  // In a sticky directory only the owner can replace a file. What a link leads to is looked at as well.
  const isShared = !stats.isSymbolicLink() && (mode & 0o022) !== 0 && !(stats.isDirectory() && (mode & 0o1000) !== 0)
  return isShared ? `can be changed by other users: ${path}` : undefined
}

/** Throws CALL_DENIED for a block, INVALID_ARGUMENT for a warning that nobody accepted by name. */
export function enforce(judged: readonly Judged[], accepted: ReadonlySet<string>, again: readonly string[]): void {
  const blocked = judged.find(({ decision }) => decision === 'block')
  if (blocked) throw installError('CALL_DENIED', MESSAGES.policyBlocked(blocked.name, blocked.reason))
  const warned = judged.filter(({ name, decision }) => decision === 'warn' && !accepted.has(name))
  const [first] = warned
  const names = warned.map(({ name }) => name)
  if (first) throw installError('INVALID_ARGUMENT', MESSAGES.policyWarned(names, first.reason, again))
}
