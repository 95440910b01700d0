import { join } from 'node:path'
import { buildCatalog } from '../../src/skills/catalog/index.ts'
import { gate, NO_GATE_RULES } from '../../src/skills/gate/index.ts'
import { type Outcome, succeeded, type Tool, type ToolContext, type ToolOptions } from '../../src/kernel/index.ts'
import { createLoader, type Loader } from '../../src/skills/load/index.ts'
import { createFolderSource, discover } from '../../src/skills/sources/index.ts'
import { createServices } from '../../src/tools/index.ts'

export const SKILLS = join(import.meta.dirname, '../fixtures/tools/skills')

/** A loader over the fixture skills, or over `path`. */
export async function loaderOver(path = SKILLS): Promise<Loader> {
  const found = await discover([createFolderSource({ id: 'mine', tier: 'workspace', rank: 0, path, trusted: true })])
  const gated = gate(
    found.skills,
    { target: 'here', os: 'linux', hasBin: () => true, hasEnv: () => true },
    NO_GATE_RULES,
  )
  const catalog = buildCatalog({ gated, invalid: found.invalid, diagnostics: found.diagnostics })
  return createLoader({ catalog: () => catalog })
}

export function contextOf(
  parts: Partial<Pick<ToolContext, 'services' | 'signal' | 'origin' | 'limits' | 'input'>> = {},
): ToolContext {
  const signal = new AbortController().signal
  return { callId: 'c1', projectId: 'default', agentId: 'main', signal, services: createServices(), ...parts }
}

/** A tool that takes anything and does what it is told. */
export function toolThat(execute: Tool['execute'], options: ToolOptions = {}): Tool {
  return { name: 'probe', description: 'Does what the test says.', parameters: { type: 'object' }, options, execute }
}

export const DONE: Outcome = succeeded('It is done.')

export function messageOf(outcome: Outcome): string {
  return outcome.type === 'failed' ? outcome.message : outcome.text
}
