/** What the tests of run_command share: one call of the tool over a scripted sandbox, confined or not. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, Outcome } from '../../src/kernel/index.ts'
import type { Sandbox } from '../../src/machine/sandbox/index.ts'
import { createScriptedSandbox, type Script, type ScriptedSandbox } from '../../src/testing/scripted-sandbox.ts'
import {
  createRegistry,
  createServices,
  EXECUTION,
  type ExecutionSettings,
  executeTool,
  registerBuiltins,
  SANDBOX,
  WORKSPACE,
} from '../../src/tools/index.ts'
import { contextOf } from './rig.ts'

export const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-tools-')))
for (const name of ['data', '..data']) mkdirSync(join(workspace, name))
process.on('exit', () => rmSync(workspace, { recursive: true, force: true }))

export interface Ran {
  readonly outcome: Outcome
  readonly sandbox: ScriptedSandbox
}

export async function run(
  args: JsonObject,
  more: { script?: Script; execution?: ExecutionSettings; signal?: AbortSignal; isUnconfined?: boolean } = {},
): Promise<Ran> {
  const sandbox = createScriptedSandbox(more.script ? { script: more.script } : {})
  const services = createServices()
  services.register(SANDBOX, more.isUnconfined ? unconfined(sandbox) : sandbox)
  services.register(WORKSPACE, workspace)
  if (more.execution) services.register(EXECUTION, more.execution)
  const registry = createRegistry(services)
  registerBuiltins(registry)
  const tool = registry.get('run_command')
  assert.ok(tool)
  const outcome = await executeTool(tool, args, contextOf({ services, ...(more.signal && { signal: more.signal }) }))
  return { outcome, sandbox }
}

/** The same commands, run by a sandbox that confines nothing. */
export function unconfined(sandbox: ScriptedSandbox): Sandbox {
  return {
    kind: 'none',
    facts: () => sandbox.facts(),
    place: (skill, signal) => sandbox.place(skill, signal),
    run: (request, signal) => sandbox.run(request, signal),
    close: () => sandbox.close(),
  }
}

export const notesOf = (outcome: Outcome): readonly string[] => (outcome.data?.notes ?? []) as string[]
export const codeOf = (outcome: Outcome): string => (outcome.type === 'failed' ? outcome.code : outcome.type)
