/** runner: keeps the policy, runs commands at the same time, and removes all of it in the end. */
import { join } from 'node:path'
import { type Running, startCommand } from './command.ts'
import { overOverlay } from './overlay.ts'
import { PipePool } from './pipes.ts'
import { bwrapArguments } from './profile.ts'
import type { EndMessage, FromRunner, Policy, RunMessage, ToRunner } from './protocol.ts'
import { type CommandGroup, openGroup } from './cgroup.ts'
import { reachedInGroup } from './reached.ts'
import { createTemp, listHome, tryRemoveTree } from './temp.ts'
import { Watch } from './watch.ts'

/** How long the end of a command waits for the removal of its temp; the rest goes with the runner's directory. */
const REMOVAL_MS = 2_000

/** The policy and what belongs to it. */
interface Configured {
  readonly policy: Policy
  readonly pipes: PipePool
  readonly watch: Watch
}

/** The one of its process. */
export class Runner {
  readonly #running = new Map<number, Running>()
  readonly #cancelled = new Set<number>()
  /** Commands with all that belongs to them, to the last step. */
  readonly #under = new Set<Promise<unknown>>()
  #policy: Configured | undefined
  #isClosing = false

  receive(message: ToRunner): void {
    if (message.type === 'configure') void this.#configure(message.policy)
    else if (message.type === 'run') void this.#execute(message)
    else if (message.type === 'input') this.#running.get(message.id)?.give(message.bytes)
    else this.#cancel(message.id)
  }

  /** The parent is gone or wants no more: nothing may outlive it. */
  async shutDown(): Promise<void> {
    this.#isClosing = true
    for (const command of this.#running.values()) command.kill()
    await Promise.allSettled(this.#under)
    const live = this.#policy?.policy.liveDirectory
    // The next start tries again to put the rest right.
    if (live !== undefined) await tryRemoveTree(live)
    process.exit(0)
  }

  /** Takes the policy and proves it: a real command under the real profile must begin and end well. */
  async #configure(policy: Policy): Promise<void> {
    this.#policy = { policy, pipes: new PipePool(policy.liveDirectory), watch: new Watch(policy.limits) }
    const workspace = createTemp(policy.liveDirectory)
    try {
      const end = await this.#confine(trial(workspace))
      if (end.exitCode !== 7) throw new Error(`a trial command ended with ${end.end} ${end.exitCode}`)
      send({ type: 'ready' })
    } catch (error) {
      send({ type: 'unavailable', reason: messageOf(error) })
    } finally {
      await tryRemoveTree(workspace)
    }
  }

  async #execute(run: RunMessage): Promise<void> {
    const work = this.#confine(run)
    this.#under.add(work)
    try {
      send(await work)
    } catch (error) {
      send({ type: 'failed', id: run.id, reason: messageOf(error) })
    } finally {
      this.#under.delete(work)
    }
  }

  async #confine(run: RunMessage): Promise<EndMessage> {
    const { policy } = this.#policyOf()
    const temp = createTemp(policy.liveDirectory)
    const group = policy.group === undefined ? undefined : openGroup(policy.group, run.id, policy.limits)
    try {
      const end = await this.#start(run, temp, group)
      // The kernel closes it to everybody, also to who removes the rest.
      if (run.layer !== undefined) await tryRemoveTree(join(run.layer, 'work'))
      const leftInHome = await listHome(temp)
      const notes = group?.isOutOfMemory() === true ? [reachedInGroup(policy.limits)] : end.notes
      return { ...end, notes, ...(leftInHome.length > 0 && { leftInHome }) }
    } finally {
      group?.remove()
      this.#running.delete(run.id)
      this.#cancelled.delete(run.id)
      await tryRemoveTree(temp, { maxMs: REMOVAL_MS })
      // Nobody takes its changes any more.
      if (this.#isClosing && run.layer !== undefined) await tryRemoveTree(run.layer)
    }
  }

  /** Runs the command, watched, to its end. */
  async #start(run: RunMessage, temp: string, group: CommandGroup | undefined): Promise<EndMessage> {
    const { policy, pipes, watch } = this.#policyOf()
    const program = programOf(policy, run.layer, bwrapArguments(policy, run, temp))
    const open = await pipes.open()
    if (this.#isClosing) throw new Error('the runner is ending')
    const command = startCommand(group ? group.entered(program) : program, { run, send, pipes: open })
    const { pid } = command
    const directories = [temp, run.layer ?? run.workspace.source]
    const forget = pid === undefined ? undefined : watch.add({ pid, directories, end: command.endFor })
    this.#running.set(run.id, command)
    if (this.#cancelled.has(run.id)) command.cancel()
    return command.done.finally(forget)
  }

  #policyOf(): Configured {
    if (!this.#policy) throw new Error('the runner has no policy yet')
    return this.#policy
  }

  #cancel(id: number): void {
    const command = this.#running.get(id)
    if (command) command.cancel()
    else this.#cancelled.add(id)
  }
}

/** Bubblewrap, in a namespace with the overlay where there is one. */
function programOf({ bwrap, unshare }: Policy, layer: string | undefined, args: string[]): readonly string[] {
  if (layer === undefined) return [bwrap, ...args]
  if (unshare === undefined) throw new Error('unshare is not installed')
  return [unshare, ...overOverlay([bwrap, ...args])]
}

function send(message: FromRunner, sent?: () => void): void {
  // Without a channel the parent is gone, and the answer is not needed.
  if (process.connected) process.send?.(message, undefined, undefined, () => sent?.())
  else sent?.()
}

function trial(workspace: string): RunMessage {
  return {
    type: 'run',
    id: 0,
    workspace: { source: workspace, path: workspace },
    view: undefined,
    layer: undefined,
    places: [],
    way: undefined,
    hasInput: false,
    startIn: workspace,
    env: {},
    command: 'exit 7',
    timeoutMs: 20_000,
    graceMs: 0,
    maxOutputBytes: 0,
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
