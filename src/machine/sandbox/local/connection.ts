/** connection: starts the runner as the dropped uid and speaks with it; when either side dies, nothing is left. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { errorCode, errorMessage, type NexusError } from '../../../kernel/index.ts'
import { FAILURES, sandboxError, UNAVAILABLE } from '../messages.ts'
import type { EndMessage, FromRunner, Policy, RunMessage, ToRunner } from '../runner/protocol.ts'
import { removeTree } from '../runner/temp.ts'
import { type Bound, inBoundNamespace } from './bound.ts'
import type { RunnerGroup } from './cgroup.ts'
import type { Stage } from './stage.ts'
import type { Identity, ProjectState } from './state.ts'
import { cannotDrop, explainRefusal } from './unavailable.ts'

/** How long a runner may take to end itself after its channel closed. */
const CLOSE_WAIT_MS = 10_000
const STDERR_CHARS = 4000

/** One order without the part that the connection adds. */
export type Order = Omit<RunMessage, 'type' | 'id'>

interface Pending {
  readonly onBytes: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void
  readonly onWants: () => void
  readonly resolve: (end: EndMessage) => void
  readonly reject: (error: Error) => void
}

/** Where a runner is started besides its policy. */
interface StartedIn {
  readonly bound?: Bound | undefined
  readonly group?: RunnerGroup | undefined
}

/** A runner that is ready. */
export class Connection {
  readonly #child: ChildProcess
  readonly #policy: Policy
  readonly #pending = new Map<number, Pending>()
  readonly #gone: Promise<void>
  #ready: PromiseWithResolvers<void> = Promise.withResolvers<void>()
  #stderr = ''
  #lastId = 0
  #isOpen = true
  #removed: Promise<unknown> | undefined

  private constructor(child: ChildProcess, policy: Policy, group: RunnerGroup | undefined) {
    this.#child = child
    this.#policy = policy
    if (child.pid !== undefined) group?.enter(child.pid)
    this.#gone = new Promise((resolve) => {
      child.on('error', (cause) => {
        this.#ready.reject(cannotStart(cause))
        if (child.pid === undefined) resolve()
      })
      child.on('exit', () => {
        group?.remove()
        this.#lost()
        resolve()
      })
    })
    child.on('message', (message: FromRunner) => this.#receive(message))
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_CHARS)
    })
  }

  /** Starts a runner and waits until a trial command ran well under the policy. Throws SANDBOX_UNAVAILABLE. */
  static async open(
    stage: Stage,
    state: ProjectState,
    policy: Policy,
    { bound, group }: StartedIn,
  ): Promise<Connection> {
    const connection = new Connection(start(stage, state, policy.liveDirectory, bound), policy, group)
    connection.#send({ type: 'configure', policy })
    try {
      await connection.#ready.promise
    } catch (error) {
      await connection.close()
      throw error
    }
    connection.#hold()
    return connection
  }

  /** False once the runner has ended, for whatever reason. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Runs one command. Throws SANDBOX_FAILED when it could not be started or the runner ended under it. */
  async run(
    order: Order,
    options: { signal: AbortSignal | undefined; input?: Readable | undefined; onBytes: Pending['onBytes'] },
  ): Promise<EndMessage> {
    const id = ++this.#lastId
    const pieces = options.input?.iterator() as AsyncIterator<Uint8Array> | undefined
    const give = (bytes?: Uint8Array): void => this.#send({ type: 'input', id, bytes })
    // Where it cannot be read on, it is at its end.
    const onWants = (): void =>
      void pieces?.next().then(
        ({ value, done }) => give(done ? undefined : value),
        () => give(),
      )
    const cancel = (): void => this.#send({ type: 'cancel', id })
    try {
      return await new Promise<EndMessage>((resolve, reject) => {
        this.#pending.set(id, { onBytes: options.onBytes, onWants, resolve, reject })
        this.#hold()
        this.#send({ type: 'run', id, ...order })
        options.signal?.addEventListener('abort', cancel, { once: true })
        if (options.signal?.aborted) cancel()
      })
    } finally {
      options.signal?.removeEventListener('abort', cancel)
      this.#pending.delete(id)
      this.#hold()
    }
  }

  /** Ends all commands and the runner, and waits until they are gone. */
  async close(): Promise<void> {
    this.#isOpen = false
    this.#child.ref()
    if (this.#child.connected) this.#child.disconnect()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), CLOSE_WAIT_MS)
    await this.#gone
    clearTimeout(timer)
    await this.removed()
  }

  /** After the end of the runner, however it came: its directory is gone when this resolves. */
  removed(): Promise<unknown> {
    this.#removed ??= removeTree(this.#policy.liveDirectory)
    return this.#removed
  }

  #send(message: ToRunner): void {
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  #receive(message: FromRunner): void {
    if (message.type === 'ready') return this.#ready.resolve()
    if (message.type === 'unavailable') return this.#ready.reject(explainRefusal(message.reason))
    const pending = this.#pending.get(message.id)
    if (!pending) return
    if (message.type === 'output') pending.onBytes(message.stream, message.bytes)
    else if (message.type === 'wants') pending.onWants()
    else if (message.type === 'end') pending.resolve(message)
    else pending.reject(sandboxError(FAILURES.notStarted({ why: message.reason })))
  }

  #lost(): void {
    this.#isOpen = false
    const words = this.#stderr.trim()
    this.#ready.reject(sandboxError(UNAVAILABLE.runnerEnded({ said: words })))
    const error = sandboxError(FAILURES.runnerEnded({ said: words }))
    for (const pending of this.#pending.values()) pending.reject(error)
  }

  /** Only work under way keeps the parent's event loop alive; an idle runner does not. */
  #hold(): void {
    const busy = this.#pending.size > 0
    for (const handle of [this.#child, this.#child.channel]) {
      if (busy) handle?.ref()
      else handle?.unref()
    }
    const stderr = this.#child.stderr as unknown as { unref?: () => void } | null
    stderr?.unref?.()
  }
}

function start(
  stage: Stage,
  { identity, empty }: ProjectState,
  liveDirectory: string,
  bound: Bound | undefined,
): ChildProcess {
  // The directory is named so that a later start can see that the runner of it still works.
  const runner = [stage.node, '--no-warnings', stage.runner, liveDirectory]
  const [program = '', ...args] = bound ? inBoundNamespace(runner, bound, identity) : runner
  try {
    return spawn(program, args, {
      cwd: empty,
      // Its own session: a Ctrl-C in the terminal is for the parent, which then decides.
      detached: true,
      env: { PATH: '/usr/bin:/bin', HOME: empty, LANG: 'C.UTF-8' },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      ...(!bound && drop(identity)),
    })
  } catch (cause) {
    // A refused setuid is thrown at once; a missing file comes as an event.
    throw cannotStart(cause)
  }
}

/** Setting uid and gid from root also drops every supplementary group. */
function drop(identity: Identity): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? identity : {}
}

function cannotStart(cause: unknown): NexusError {
  const code = errorCode(cause)
  if (process.getuid?.() === 0 && (code === 'EPERM' || code === 'EINVAL')) return cannotDrop('setuid', cause)
  return sandboxError(UNAVAILABLE.runnerNotStarted({ why: code ?? errorMessage(cause) }), cause)
}
