/** none: runs commands with our own rights and confines nothing. Only for who asks for it by name; `NONE_WARNING` says so. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { accessSync, constants, mkdirSync, mkdtempSync, statSync } from 'node:fs'
import { constants as osConstants, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Skill, type TargetFacts, toOsName } from '../../kernel/index.ts'
import { SYSTEM_PATH } from '../host/index.ts'
import { FAILURES, REQUESTS, sandboxError } from './messages.ts'
import { CommandOutput } from './output.ts'
import { checkRequest, type CheckedRequest, GRACE_MS, neverStarted } from './request.ts'
import { descendantsOf, processesWith, signalProcess } from './runner/process-tree.ts'
import { listHome, removeTree } from './runner/temp.ts'
import type { CommandRequest, CommandResult, PlacedSkill, Sandbox } from './sandbox.ts'

/** No confinement, on purpose. */
export interface NoneOptions {
  readonly kind: 'none'
  readonly projectId: string
}

const PATH = [dirname(process.execPath), ...SYSTEM_PATH]
/** After the command ended and all that we found was killed, an unseen process may still hold the pipes: we do not wait for it. */
const CLOSE_WAIT_MS = 500

/** Makes a sandbox that is none. */
export function createNone(options: NoneOptions): Sandbox {
  return new NoSandbox(options)
}

class NoSandbox implements Sandbox {
  readonly kind = 'none'
  readonly #projectId: string
  readonly #closing = new AbortController()
  readonly #under = new Set<Promise<unknown>>()

  constructor(options: NoneOptions) {
    this.#projectId = options.projectId
  }

  facts(): Promise<TargetFacts> {
    const set = new Set(Object.keys(insideEnvironment('/', '/', '-')))
    return Promise.resolve({
      target: 'this machine, not confined',
      os: toOsName(process.platform),
      hasBin: onPath,
      hasEnv: (name) => set.has(name),
      programDirectories: PATH,
      network: true,
    })
  }

  async place(skill: Skill, signal?: AbortSignal): Promise<PlacedSkill> {
    const { readManifest } = await import('../skill-files/index.ts')
    const { treeDigest } = await readManifest(skill, { signal })
    return { baseDir: skill.directory, treeDigest }
  }

  async run(request: CommandRequest, signal?: AbortSignal): Promise<CommandResult> {
    if (this.#closing.signal.aborted) throw sandboxError(FAILURES.closed())
    const checked = checkRequest(request)
    if (checked.paths || request.networkDomains) throw sandboxError(REQUESTS.pathsUnconfined())
    if (signal?.aborted) return neverStarted()
    const promise = this.#run(checked, signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal)
    this.#under.add(promise)
    try {
      return await promise
    } finally {
      this.#under.delete(promise)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#under)
  }

  async #run(checked: CheckedRequest, signal: AbortSignal): Promise<CommandResult> {
    const temp = mkdtempSync(resolve(tmpdir(), 'nexus-'))
    mkdirSync(join(temp, 'home'))
    const mark = randomBytes(12).toString('hex')
    try {
      const env = {
        ...insideEnvironment(checked.workspace, temp, mark),
        NEXUS_PROJECT: this.#projectId,
        ...checked.env,
      }
      const result = await execute(checked, { env, mark, signal })
      const leftInHome = await listHome(temp)
      return { ...result, ...(leftInHome.length > 0 && { leftInHome }) }
    } finally {
      await removeTree(temp)
    }
  }
}

function insideEnvironment(workspace: string, temp: string, mark: string): Record<string, string> {
  return {
    PATH: PATH.join(':'),
    HOME: join(temp, 'home'),
    TMPDIR: temp,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    NEXUS_SANDBOX: 'none',
    NEXUS_WORKSPACE: workspace,
    // By this we find what left its process group.
    NEXUS_RUN: mark,
  }
}

async function execute(
  checked: CheckedRequest,
  options: { env: Record<string, string>; mark: string; signal: AbortSignal },
): Promise<CommandResult> {
  const { mark, signal } = options
  const startedAt = performance.now()
  const child = spawn('bash', ['--noprofile', '--norc', '-c', checked.command], {
    cwd: join(checked.workspace, checked.cwd),
    env: options.env,
    detached: true,
    stdio: [checked.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  const output = new CommandOutput(checked)
  child.stdout?.on('data', (chunk: Buffer) => output.add('stdout', chunk))
  child.stderr?.on('data', (chunk: Buffer) => output.add('stderr', chunk))
  // The command may end before it has read its input; that is not a fault.
  child.stdin?.on('error', () => undefined)
  // Where it cannot be read on, it is at its end.
  if (child.stdin) checked.stdin?.once('error', () => child.stdin?.end()).pipe(child.stdin)

  let end: CommandResult['end'] | undefined
  let graceTimer: NodeJS.Timeout | undefined
  const stop = (why: 'timeout' | 'cancelled'): void => {
    if (end) return
    end = why
    if (child.pid !== undefined) signalProcess(child.pid, 'SIGTERM')
    graceTimer = setTimeout(() => killAll(child, mark), GRACE_MS)
  }
  const onAbort = (): void => stop('cancelled')
  const timer = setTimeout(() => stop('timeout'), checked.timeoutMs)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    const { code, killed } = await ended(child, mark)
    return {
      end: end ?? (killed ? 'killed' : 'exit'),
      exitCode: end ? -1 : code,
      ...output.finish(),
      durationMs: performance.now() - startedAt,
      notes: ['not confined: sandbox none'],
    }
  } finally {
    checked.stdin?.destroy()
    clearTimeout(timer)
    clearTimeout(graceTimer)
    signal.removeEventListener('abort', onAbort)
  }
}

function ended(child: ChildProcess, mark: string): Promise<{ code: number; killed: boolean }> {
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => reject(sandboxError(FAILURES.noBash({ why: cause.message }), cause)))
    child.on('exit', (code, signal) => {
      killAll(child, mark)
      const timer = setTimeout(() => {
        child.stdout?.destroy()
        child.stderr?.destroy()
      }, CLOSE_WAIT_MS)
      child.on('close', () => {
        clearTimeout(timer)
        resolve({ code: code ?? 128 + (signal ? osConstants.signals[signal] : 0), killed: signal !== null })
      })
    })
  })
}

/** The group, the descendants, and whatever else carries the mark in its environment. As well as it can: a process may hide. */
function killAll(child: ChildProcess, mark: string): void {
  if (child.pid === undefined) return
  const found = [...descendantsOf(child.pid), ...processesWith('environ', `NEXUS_RUN=${mark}`)]
  signalProcess(-child.pid, 'SIGKILL')
  for (const pid of found) signalProcess(pid, 'SIGKILL')
}

function onPath(name: string): boolean {
  if (name === '' || name.includes('/') || name.includes('\0')) return false
  return PATH.some((directory) => {
    try {
      const path = join(directory, name)
      accessSync(path, constants.X_OK)
      return statSync(path).isFile()
    } catch {
      // Not in this directory.
      return false
    }
  })
}
