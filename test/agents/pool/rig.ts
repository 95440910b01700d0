import type { TestContext } from 'node:test'
import { createPool, type PoolOptions } from '../../../src/agents/pool/index.ts'
import type { Parts } from '../../../src/runtime/index.ts'
import { createMemoryStore, type Store } from '../../../src/store/index.ts'
import { createScriptedSandbox, type ModelScript, startModelServer } from '../../../src/testing/index.ts'
import { workshop } from '../../runtime/rig.ts'
import { localModel } from '../turns/rig.ts'

export interface PoolRig {
  readonly script?: ModelScript
  readonly store?: Store
  readonly parts?: Partial<Parts>
  readonly pool?: Partial<PoolOptions>
}

/** A pool over a real runtime and store, with a scripted model over HTTP. */
export async function startPool(t: TestContext, { script, store: given, parts, pool: more }: PoolRig = {}) {
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
  return { pool, runtime, store, server, sandbox, root: shop.root }
}
