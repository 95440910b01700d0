/** What the tests of the local sandbox share: a state directory and a workspace of their own, and whether the sandbox works here. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  checkSandbox,
  type CommandRequest,
  type CommandResult,
  createSandbox,
  type LocalOptions,
  type Sandbox,
} from '../../src/sandbox/index.ts'

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

/** Why the local sandbox cannot be had on this machine; undefined where it can. */
export async function whySkipped(): Promise<string | undefined> {
  const [found] = await checkSandbox(localOptions())
  return found && `${found.message}; ${found.fix ?? ''}`
}

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
