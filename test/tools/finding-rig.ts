/** What the tests of notes about commands share: one command that ends as scripted, and the findings about it. */
import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, Outcome, ToolContext } from '../../src/kernel/index.ts'
import { createScriptedSandbox, type ScriptedResult } from '../../src/testing/scripted-sandbox.ts'
import {
  createRegistry,
  createServices,
  EXECUTION,
  type ExecutionSettings,
  executeTool,
  registerBuiltins,
  SANDBOX,
  TARGET,
  toModelText,
  WORKSPACE,
} from '../../src/tools/index.ts'
import { contextOf } from './rig.ts'

export const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-findings-')))
process.on('exit', () => rmSync(workspace, { recursive: true, force: true }))

export interface Case {
  readonly command?: string
  readonly result: ScriptedResult
  readonly network?: boolean
  readonly execution?: ExecutionSettings
  readonly origin?: NonNullable<ToolContext['origin']>
  readonly input?: AsyncIterable<Uint8Array>
}

export async function outcomeOf({
  command = 'do',
  result,
  network = false,
  execution,
  origin,
  input,
}: Case): Promise<Outcome> {
  const sandbox = createScriptedSandbox({ script: () => result, network })
  const services = createServices()
  services.register(SANDBOX, sandbox)
  services.register(TARGET, await sandbox.facts())
  services.register(WORKSPACE, workspace)
  if (execution) services.register(EXECUTION, execution)
  const registry = createRegistry(services)
  registerBuiltins(registry)
  const tool = registry.get('run_command')
  assert.ok(tool)
  return executeTool(tool, { command }, contextOf({ services, input, ...(origin && { origin }) }))
}

export async function found(
  of: Case,
): Promise<{ rows: readonly JsonObject[]; notes: readonly string[]; text: string }> {
  const outcome = await outcomeOf(of)
  const { findings = [], notes = [] } = outcome.data ?? {}
  const text = toModelText(outcome)
  for (const note of notes as string[]) assert.ok(text.includes(note), `the model does not read: ${note}`)
  assert.doesNotMatch(text, /"code":/)
  return { rows: findings as JsonObject[], notes: notes as string[], text }
}
