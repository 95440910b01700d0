import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

import {
  type CallOptions,
  type CallRequest,
  type CallResult,
  createFolderSource,
  createRuntime,
  type Parts,
  type Runtime,
  type TargetFacts,
} from '../../src/public/index.ts'
import type { JsonObject, Outcome } from '../../src/kernel/index.ts'

const FACTS: TargetFacts = { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false }

/** A directory of skills that a test writes, and a runtime over it. */
export interface Workshop {
  readonly root: string
  write(name: string, options?: { readonly description?: string; readonly body?: string }): string
  open(more?: Partial<Parts>): Promise<Runtime>
}

export function workshop(t: TestContext): Workshop {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-runtime-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  return {
    root,
    write(name, { description = `Does ${name}.`, body = `Work on ${name}.` } = {}) {
      mkdirSync(join(root, name), { recursive: true })
      const file = join(root, name, 'SKILL.md')
      writeFileSync(file, `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`)
      return file
    },
    async open(more = {}) {
      const source = createFolderSource({ id: 'mine', tier: 'workspace', rank: 0, path: root, trusted: true })
      const runtime = await createRuntime({ sources: [source], facts: FACTS, ...more })
      t.after(() => runtime.close())
      return runtime
    },
  }
}

/** One call of an agent, default the first one, in a session where one is named. */
export async function callOf(
  runtime: Runtime,
  { agentId, sessionId, ...request }: CallRequest & { readonly agentId?: string; readonly sessionId?: string },
  options?: CallOptions,
): Promise<CallResult> {
  return runtime.openAgent({ id: agentId, sessionId }).call(request, options)
}

/** What a call came to: `success`, `partial`, or the code of its failure. */
export function codeOf(outcome: Outcome): string {
  return outcome.type === 'failed' ? outcome.code : outcome.type
}

export function wordsOf(outcome: Outcome): string {
  return outcome.type === 'failed' ? outcome.message : outcome.text
}

export function dataOf(outcome: Outcome): JsonObject {
  return outcome.data ?? {}
}
