/** What the tests of the local sandbox share: a state directory and a workspace of their own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  type CommandRequest,
  type CommandResult,
  createSandbox,
  type LocalOptions,
  type Sandbox,
} from '../../../src/machine/sandbox/index.ts'
import { COMPILED } from '../../source-tree.ts'

export const IS_ROOT = process.getuid?.() === 0

/** A directory that any uid can enter. */
export function openDirectory(name = 'nexus-test-'): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), name)))
  chmodSync(path, 0o755)
  return path
}

/** A state directory for all tests of one file: the stage is copied once. */
export const STATE_DIR = openDirectory('nexus-state-')
process.on('exit', () => rmSync(STATE_DIR, { recursive: true, force: true }))

export function localOptions(more: Partial<LocalOptions> = {}): LocalOptions {
  return { kind: 'local', projectId: 'default', stateDir: STATE_DIR, ...more }
}

export interface Rig {
  readonly sandbox: Sandbox
  readonly workspace: string
  run(command: string, more?: Partial<CommandRequest>, signal?: AbortSignal): Promise<CommandResult>
}

/** A sandbox and an empty workspace that both end with the test. */
export async function openRig(context: TestContext, more: Partial<LocalOptions> = {}): Promise<Rig> {
  const sandbox = await createSandbox(localOptions(more))
  const parent = openDirectory()
  const workspace = join(parent, 'work')
  mkdirSync(workspace)
  context.after(async () => {
    await sandbox.close()
    rmSync(parent, { recursive: true, force: true })
  })
  return {
    sandbox,
    workspace,
    run: (command, request = {}, signal) => sandbox.run({ command, workspace, ...request }, signal),
  }
}

/** A place for a program of its own that uses the sandbox. */
export interface ParentPlace {
  readonly root: string
  readonly stateDir: string
  readonly workspace: string
  /** Holds the directories of running sandboxes. */
  readonly live: string
}

export function openPlace(context: TestContext): ParentPlace {
  const root = openDirectory()
  const workspace = join(root, 'work')
  mkdirSync(workspace)
  context.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))
  const stateDir = join(root, 'state')
  return { root, stateDir, workspace, live: join(stateDir, 'projects/default/live') }
}

/** Starts `parent.ts`, or a copy of it, with one command. */
export function startParent(
  { stateDir, workspace }: ParentPlace,
  command: string,
  { mode = 'auto', script = join(import.meta.dirname, 'parent.ts') } = {},
): ChildProcess {
  return spawn(process.execPath, [COMPILED, script, stateDir, workspace, command, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** All that a program wrote when it has ended. */
export async function outputOf(child: ChildProcess): Promise<string> {
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(child, 'close')
  return text
}

/** Most time of the processor, in ms, between two turns of the event loop. */
export function longestStretch(): { stop(): number } {
  let [longest, from] = [0, process.threadCpuUsage()]
  const count = (): void => {
    const { user, system } = process.threadCpuUsage(from)
    longest = Math.max(longest, (user + system) / 1_000)
    from = process.threadCpuUsage()
  }
  const timer = setInterval(count, 1)
  return {
    stop() {
      clearInterval(timer)
      count()
      return longest
    },
  }
}
