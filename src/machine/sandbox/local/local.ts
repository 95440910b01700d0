/** local: commands on this machine, confined. Ties the parts together: state, stage, runner, workspace. */
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Diagnostic, isNexusError, type Skill, type TargetFacts, toSafeLine } from '../../../kernel/index.ts'
import { FAILURES, LAYERS, NOT_KEPT, sandboxError } from '../messages.ts'
import { CommandOutput } from '../output.ts'
import { checkRequest, type CheckedRequest, GRACE_MS, neverStarted } from '../request.ts'
import type { EndMessage, SeenPlace } from '../runner/protocol.ts'
import type { CommandRequest, CommandResult, PlacedSkill, Sandbox, SetupRequest, SetupResult } from '../sandbox.ts'
import type { SetsAt } from '../../changes/index.ts'
import { SYSTEM_PATH } from '../../host/index.ts'
import { withChangeSets } from './change-sets.ts'
import { Connection } from './connection.ts'
import { cachePlaces, insideEnvironment, localFacts } from './facts.ts'
import { type LocalOptions, type LocalSettings, READABLE, withDefaults } from './options.ts'
import { MountedPrograms } from './mounted.ts'
import { NamedPrograms } from './programs.ts'
import { Authorities, openWay, type OpenWay } from './way.ts'
import { recoverDead } from './recover.ts'
import { ensureStage, type Stage } from './stage.ts'
import { createLive, openState, type ProjectState, revisionsOf } from './state.ts'
import { openRunnerGroup } from './cgroup.ts'
import { setUp } from './setup.ts'
import { findBwrap, findProgram } from './unavailable.ts'
import type { Entered, Left } from './left.ts'
import { checkWorkspace } from './check-workspace.ts'
import { Workspaces, shorten } from './workspace.ts'

/** Time to take changes back that also a command has which used all of its own. */
const LEAST_BACK_MS = 5_000

/** A runner and what belongs to it. */
interface Running {
  readonly stage: Stage
  readonly connection: Connection
  readonly workspaces: Workspaces
  readonly programs: MountedPrograms
  readonly liveDirectory: string
  /** Absolute path of socat, where it is installed. */
  readonly relay: string | undefined
  readonly authorities: Authorities
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

/** How much of each stream the runner passes on. */
function streamLimit({ onBytes, onOutput, maxLiveBytes, maxOutputBytes }: CheckedRequest): number {
  if (onBytes) return Number.MAX_SAFE_INTEGER
  return onOutput ? maxLiveBytes : maxOutputBytes
}

/** Only the command's own words say that a write failed. */
function refusedWrites(bound: readonly string[], said: string): string[] {
  const lines = said.split('\n').filter((line) => /read-only file system|\bEROFS\b/i.test(line))
  const names = new Set(bound.map((path) => basename(path)))
  return [...names].filter((name) => lines.some((line) => line.includes(name))).map(NOT_KEPT.dependency)
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
  readonly #programs: NamedPrograms
  #state: ProjectState | undefined
  #running: Promise<Running> | undefined
  /** Ends of runners that others replaced. */
  readonly #retired: Promise<void>[] = []
  /** Repairs since the last result. */
  #notes: string[] = []

  constructor(settings: LocalSettings, diagnostics: readonly Diagnostic[]) {
    this.#settings = settings
    this.#programs = new NamedPrograms(settings)
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
      this.#programs.enter(checked.workspace)
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
    await Promise.all(this.#retired)
  }

  async #execute(
    running: Running,
    options: { checked: CheckedRequest; entered: Entered; signal: AbortSignal },
  ): Promise<CommandResult> {
    const { checked, entered, signal } = options
    const output = new CommandOutput(checked)
    const begun = performance.now()
    const programs = await running.programs.now()
    let end: EndMessage
    let left: Left = { notes: [] }
    let way: OpenWay | undefined
    try {
      way = await openWay(checked, { ...running, identity: this.#openState().identity })
      end = await running.connection.run(
        {
          workspace: entered.mount,
          view: entered.view,
          places: [...programs.seen, ...this.#cachesFor(checked)],
          layer: entered.layer,
          startIn: join(checked.workspace, checked.cwd),
          env: {
            ...insideEnvironment(this.#settings, {
              path: [...checked.path, ...programs.first, running.stage.bin, ...SYSTEM_PATH, ...programs.last],
              workspace: checked.workspace,
            }),
            ...way?.env,
            ...checked.env,
          },
          command: checked.command,
          way: way?.mounted,
          hasInput: checked.stdin !== undefined,
          timeoutMs: checked.timeoutMs,
          graceMs: GRACE_MS,
          maxOutputBytes: streamLimit(checked),
        },
        { signal, input: checked.stdin, onBytes: (stream, bytes) => output.add(stream, bytes) },
      )
    } finally {
      checked.stdin?.destroy()
      await way?.close()
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
      notes: [...this.#notes.splice(0), ...shorten([...programs.notes, ...end.notes, ...left.notes, ...refused])],
      ...(way && { network: await way.close() }),
      ...(left.changes && { changes: left.changes }),
      ...(end.survivors && { stillRunning: end.survivors }),
      ...(end.leftInHome && { leftInHome: end.leftInHome }),
    }
  }

  setUp(request: SetupRequest, signal?: AbortSignal): Promise<SetupResult> {
    return this.#open(async () => {
      const running = await this.#start()
      const programs = await running.programs.now()
      const ending = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal
      const parts = { ...running, settings: this.#settings, state: this.#openState(), programs }
      return setUp(request, parts, ending)
    })
  }

  /** The runner, started at first need and again when it has ended by itself. */
  #start(): Promise<Running> {
    const launch = (): Promise<Running> => this.#launch()
    const again = async (running: Running): Promise<Running> => {
      if (running.connection.isOpen && running.programs.isCurrent) return running
      if (running.connection.isOpen) this.#retire(running)
      else await running.connection.removed()
      return launch()
    }
    this.#running = this.#running?.then(again, launch) ?? launch()
    return this.#running
  }

  /** None for a command with secrets: what it wrote there would reach commands of others. */
  #cachesFor({ cache, maker }: CheckedRequest): SeenPlace[] {
    return maker.hasSecrets ? [] : cachePlaces(this.#openState().caches[cache])
  }

  /** Ends a runner after the commands that may still use it. */
  #retire({ workspaces, connection }: Running): void {
    const ended = Promise.allSettled(this.#under).then(async () => {
      await workspaces.close()
      await connection.close()
    })
    this.#retired.push(ended.catch(() => undefined))
  }

  async #launch(): Promise<Running> {
    const settings = this.#settings
    const bwrap = findBwrap(settings)
    const state = this.#openState()
    const stage = ensureStage(state.stages)
    this.#note(await recoverDead(settings))
    const programs = await MountedPrograms.open(settings, this.#programs, state)
    const liveDirectory = createLive(state)
    const relay = findProgram('socat', settings.programDirectories)
    const group = openRunnerGroup(settings, state, liveDirectory)
    const policy = {
      bwrap,
      group: group?.directory,
      unshare: findProgram('unshare', settings.programDirectories),
      helper: stage.helper,
      relay,
      readable: [...READABLE.filter((path) => existsSync(path)), stage.directory, state.revisions],
      liveDirectory,
      limits: settings.limits,
    }
    const connection = await Connection.open(stage, state, policy, { bound: programs.bound, group })
    const workspaces = new Workspaces({ settings, state, liveDirectory })
    return { stage, connection, liveDirectory, relay, workspaces, programs, authorities: new Authorities() }
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
