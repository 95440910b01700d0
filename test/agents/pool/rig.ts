import type { TestContext } from 'node:test'
import { createPool, type PoolOptions } from '../../../src/agents/pool/index.ts'
import type { Parts } from '../../../src/runtime/index.ts'
import { createMemoryStore, type Store } from '../../../src/store/index.ts'
import type { JsonObject } from '../../../src/kernel/index.ts'
import {
  createScriptedSandbox,
  type ModelRequest,
  type ModelScript,
  startModelServer,
} from '../../../src/testing/index.ts'
import { workshop } from '../../runtime/rig.ts'
import { localModel, toolAnswers } from '../turns/rig.ts'

export interface PoolRig {
  readonly script?: ModelScript
  readonly store?: Store
  readonly runtime?: Partial<Parts>
  readonly pool?: Partial<PoolOptions>
}

/** A pool over a real runtime and store, with a scripted model over HTTP. */
export async function startPool(t: TestContext, { script, store: given, runtime: parts, pool: more }: PoolRig = {}) {
  const shop = workshop(t)
  const store = given ?? (await createMemoryStore({ projectId: 'default' }))
  const sandbox = createScriptedSandbox({})
  const server = await startModelServer({ script: script ?? [{ type: 'text', text: 'Hi.' }] })
  const runtime = await shop.open({ store, sandbox, workspace: shop.root, waitForAnswers: true, ...parts })
  const pool = createPool({ runtime, model: await localModel(server), ...more })
  t.after(async () => {
    await pool.close()
    await server.close()
  })
  return { pool, runtime, store, server, sandbox, root: shop.root, model: () => localModel(server) }
}

/** One step of an agent: text, or a call. */
export type Step = string | readonly [tool: string, args: JsonObject]

/**
 * Models of several agents: by the first word of the system prompt, the steps that its turns take one after the other. A function
 * gets the request, so that a step can look at what came before. Without steps left it says "Done."
 */
export function brains(
  steps: Readonly<Record<string, readonly (Step | ((request: ModelRequest) => Step))[]>>,
): ModelScript {
  const taken = new Map<string, number>()
  return (request) => {
    const system = request.messages.find(({ role }) => role === 'system')?.text ?? ''
    const who = /^\w+/.exec(system)?.[0] ?? ''
    const at = taken.get(who) ?? 0
    taken.set(who, at + 1)
    const given = steps[who]?.[at] ?? 'Done.'
    const step = typeof given === 'function' ? given(request) : given
    if (typeof step === 'string') return { type: 'text', text: step, usage: { inputTokens: 90, outputTokens: 10 } }
    const [name, args] = step
    return {
      type: 'tool-calls',
      calls: [{ name, arguments: args, id: `${who}-${at}` }],
      usage: { inputTokens: 90, outputTokens: 10 },
    }
  }
}

/** Tools answers in a history, in order. */
export function answersIn(messages: readonly JsonObject[]): readonly string[] {
  return toolAnswers(messages).map(({ text }) => text)
}
