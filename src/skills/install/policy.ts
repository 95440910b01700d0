import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import * as v from 'valibot'
import { runProgram } from '../../machine/host/index.ts'
import type { Wanted } from './plan.ts'
import { keepRevision, revisionPath } from './revisions.ts'
import type { Scope } from './scope.ts'
import { installError, MESSAGES } from './messages.ts'

/** The program of `skills.install.policy` in the user's own file: it judges what is about to be placed. */
export interface PolicyHook {
  /** Absolute path; undefined where there is none. */
  readonly program: string | undefined
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
  { program, signal, ...asked }: PolicyHook & { readonly program: string },
): Promise<Judged> {
  const { package: packed } = wanted
  const name = packed.directory
  const blocked = (why: string): Judged => ({
    ...{ name, decision: 'block', reason: `its policy program ${why}`, findings: [] },
  })
  const unsafe = whyUnsafe(program, scope)
  if (unsafe !== undefined) return blocked(unsafe)
  await keepRevision(scope.nexusHome, packed)
  const ended = await runProgram({
    ...{ command: [program], environment: {}, input: `${JSON.stringify(requestOf(scope, wanted, asked))}\n` },
    ...{ timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_ANSWER_BYTES, ...(signal && { signal }) },
  })
  if (ended.type === 'failed') return blocked(ended.why)
  if (ended.code !== 0) return blocked(`ended with ${ended.signal ?? `code ${ended.code}`}`)
  return readAnswer(name, ended.stdout) ?? blocked('gave no answer of the protocol')
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
    ...{ sourcePath: revisionPath(scope.nexusHome, packed.digest), sourcePathKind: 'directory' },
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

/** It must be ours or root's, and nobody else may change it or its directory. */
function whyUnsafe(program: string, { kind, root }: Scope): string | undefined {
  if (kind === 'workspace' && program.startsWith(`${root}/`))
    return `is in the workspace, where commands may change it: ${program}`
  try {
    for (const path of [program, dirname(program)]) {
      const { uid, mode } = statSync(path)
      if (uid !== 0 && uid !== process.getuid?.()) return `belongs to another user: ${path}`
      if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) return `can be changed by other users: ${path}`
    }
    return undefined
  } catch {
    return `is not there: ${program}`
  }
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
