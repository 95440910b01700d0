/** local: commands on this machine, confined. Ties the parts together: state, stage, runner, workspace. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Diagnostic, isNexusError, type Skill, type TargetFacts, toSafeLine } from '../../../kernel/index.ts'
import { FAILURES, LAYERS, NOT_KEPT, sandboxError } from '../messages.ts'
import { dependencyName } from '../mirror/dependencies.ts'
import { CommandOutput } from '../output.ts'
import { checkRequest, type CheckedRequest, GRACE_MS, neverStarted } from '../request.ts'
import type { EndMessage } from '../runner/protocol.ts'
import type { CommandRequest, CommandResult, PlacedSkill, Sandbox } from '../sandbox.ts'
import type { SetsAt } from '../../changes/index.ts'
import { withChangeSets } from './change-sets.ts'
import { Connection } from './connection.ts'
import { insideEnvironment, localFacts, READABLE } from './facts.ts'
import { type LocalOptions, type LocalSettings, withDefaults } from './options.ts'
import { recoverDead } from './recover.ts'
import { ensureStage, type Stage } from './stage.ts'
import { createLive, openState, type ProjectState, revisionsOf } from './state.ts'
import { findBwrap, findProgram } from './unavailable.ts'
import type { Left } from './left.ts'
import type { Entered } from './entered.ts'
import { checkWorkspace } from './check-workspace.ts'
import { Workspaces, shorten } from './workspace.ts'

/** Time to take changes back that also a command has which used all of its own. */
const LEAST_BACK_MS = 5_000

/** A runner and what belongs to it. */
interface Running {
  readonly stage: Stage
  readonly connection: Connection
  readonly workspaces: Workspaces
}

/** Makes a local sandbox. Nothing is started, copied or made before the first command or skill; what dead ones left is put right. */
export async function createLocal(options: LocalOptions): Promise<Sandbox> {
  const settings = withDefaults(options)
  return new LocalSandbox(settings, await recoverDead(settings))
}

/** Starts a runner, lets it prove itself with a trial command, and ends it. Throws SANDBOX_UNAVAILABLE. */
export async function tryLocal(options: LocalOptions): Promise<void> {
  const sandbox = new LocalSandbox(withDefaults(options), [])
  try {
    await sandbox.warmUp()
  } finally {
    await sandbox.close()
  }
}

/** Throws INVALID_ARGUMENT for a directory in which no command is run. */
export function checkLocalWorkspace(workspace: string, options: LocalOptions): void {
  checkWorkspace(workspace, withDefaults(options))
}

/** How much of each stream the runner passes on. */
function streamLimit({ onBytes, onOutput, maxLiveBytes, maxOutputBytes }: CheckedRequest): number {
  if (onBytes) return Number.MAX_SAFE_INTEGER
  return onOutput ? maxLiveBytes : maxOutputBytes
}

/** Only the command's own words say that a write failed. */
function refusedWrites(bound: readonly string[], said: string): string[] {
  const lines = said.split('\n').filter((line) => /read-only file system|\bEROFS\b/i.test(line))
  const names = bound.filter((path) => lines.some((line) => line.includes(dependencyName(path)))).map(dependencyName)
  return [...new Set(names)].map(NOT_KEPT.dependency)
}

/** A layer does not rename directories of the workspace; the system says that it would be another device. */
function refusedMoves(said: string): string[] {
  return /cross-device link|\bEXDEV\b/i.test(said) ? [LAYERS.crossDevice()] : []
}

class LocalSandbox implements Sandbox {
  readonly kind = 'local'
  readonly diagnostics: readonly Diagnostic[]
  readonly #settings: LocalSettings
  readonly #under = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  #state: ProjectState | undefined
  #running: Promise<Running> | undefined
  /** Repairs since the last result. */
  #notes: string[] = []

  constructor(settings: LocalSettings, diagnostics: readonly Diagnostic[]) {
    this.#settings = settings
    this.diagnostics = diagnostics
    // A program that opens the sandbox with its first command sees them with its result.
    this.#note(diagnostics)
  }

  /** Starts the runner ahead of the first command. */
  async warmUp(): Promise<void> {
    await this.#start()
  }

  facts(): Promise<TargetFacts> {
    return this.#open(() => ({ ...localFacts(this.#settings), skillsDirectory: revisionsOf(this.#settings) }))
  }

  place(skill: Skill, signal?: AbortSignal): Promise<PlacedSkill> {
    return this.#open(async () => {
      const { placeSkill } = await import('./place.ts')
      return placeSkill(skill, this.#openState().revisions, signal)
    })
  }

  run(request: CommandRequest, signal?: AbortSignal): Promise<CommandResult> {
    return this.#open(async () => {
      const checked = checkRequest(request)
      checkWorkspace(checked.workspace, this.#settings)
      if (signal?.aborted) return neverStarted()
      const ending = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal
      const running = await this.#start()
      let entered: Entered
      try {
        entered = await running.workspaces.enter(checked.workspace, { ...checked, signal: ending })
      } catch (error) {
        if (ending.aborted && !isNexusError(error)) return neverStarted()
        throw error
      }
      return this.#execute(running, { checked, entered, signal: ending })
    })
  }

  async alone<T>(directory: string, work: (sets?: SetsAt) => Promise<T>, signal?: AbortSignal): Promise<T> {
    // Elsewhere no command runs.
    if (process.platform !== 'linux') return work()
    return withChangeSets(directory, this.#settings, { work, signal })
  }

  async close(): Promise<void> {
    this.#closing.abort(sandboxError(FAILURES.closedUnderway()))
    await Promise.allSettled(this.#under)
    const running = await this.#running?.catch(() => undefined)
    this.#running = undefined
    await running?.workspaces.close()
    await running?.connection.close()
  }

  async #execute(
    running: Running,
    options: { checked: CheckedRequest; entered: Entered; signal: AbortSignal },
  ): Promise<CommandResult> {
    const { checked, entered, signal } = options
    const output = new CommandOutput(checked)
    const begun = performance.now()
    let end: EndMessage
    let left: Left = { notes: [] }
    try {
      end = await running.connection.run(
        {
          workspace: entered.mount,
          view: entered.view,
          layer: entered.layer,
          startIn: join(checked.workspace, checked.cwd),
          env: {
            ...insideEnvironment(this.#settings, { bin: running.stage.bin, workspace: checked.workspace }),
            ...checked.env,
          },
          command: checked.command,
          stdin: checked.stdin,
          timeoutMs: checked.timeoutMs,
          graceMs: GRACE_MS,
          maxOutputBytes: streamLimit(checked),
        },
        { signal, onBytes: (stream, bytes) => output.add(stream, bytes) },
      )
    } finally {
      left = await entered.leave(Math.max(LEAST_BACK_MS, checked.timeoutMs - (performance.now() - begun)))
    }
    const finished = output.finish(end)
    const said = finished.stderr + finished.stdout
    const refused = entered.layer === undefined ? refusedWrites(entered.bound ?? [], said) : refusedMoves(said)
    return {
      end: end.end,
      exitCode: end.exitCode,
      ...finished,
      durationMs: end.durationMs,
      notes: [...this.#notes.splice(0), ...shorten([...end.notes, ...left.notes, ...refused])],
      ...(left.changes && { changes: left.changes }),
      ...(end.leftInHome && { leftInHome: end.leftInHome }),
    }
  }

  /** The runner, started at first need and again when it has ended by itself. */
  #start(): Promise<Running> {
    const launch = (): Promise<Running> => this.#launch()
    const again = async (running: Running): Promise<Running> => {
      if (running.connection.isOpen) return running
      await running.connection.removed()
      return launch()
    }
    this.#running = this.#running?.then(again, launch) ?? launch()
    return this.#running
  }

  async #launch(): Promise<Running> {
    const settings = this.#settings
    const bwrap = findBwrap(settings)
    const state = this.#openState()
    const stage = ensureStage(state.stages)
    this.#note(await recoverDead(settings))
    const liveDirectory = createLive(state)
    const connection = await Connection.open(stage, state, {
      bwrap,
      unshare: findProgram('unshare', settings.programDirectories),
      helper: stage.helper,
      readable: [...READABLE.filter((path) => existsSync(path)), stage.directory, state.revisions],
      liveDirectory,
      limits: settings.limits,
    })
    return { stage, connection, workspaces: new Workspaces({ settings, state, liveDirectory }) }
  }

  #note(diagnostics: readonly Diagnostic[]): void {
    this.#notes.push(...diagnostics.map(({ path, message }) => toSafeLine(`${path}: ${message}`)))
  }

  #openState(): ProjectState {
    this.#state ??= openState(this.#settings)
    return this.#state
  }

  /** Refuses work after close and lets close wait for work under way. */
  async #open<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) throw sandboxError(FAILURES.closed())
    const promise = Promise.resolve().then(work)
    this.#under.add(promise)
    try {
      return await promise
    } finally {
      this.#under.delete(promise)
    }
  }
}
