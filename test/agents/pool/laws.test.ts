import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { narrowing } from '../../../src/agents/pool/opened.ts'
import { readSettings } from '../../../src/agents/pool/settings.ts'
import { createPool } from '../../../src/agents/pool/index.ts'
import { applyDelta, type Ceiling, ceilingLayers, decide, readRules } from '../../../src/authorize/index.ts'
import { isNexusError } from '../../../src/kernel/index.ts'
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts'
import { type AgentRecord, createMemoryStore, type Store } from '../../../src/store/index.ts'
import { createScriptedSandbox } from '../../../src/testing/index.ts'
import { delta, lets, policy } from '../../authorize/any-rules.ts'
import { preset, SHIPPED, WORKSPACE } from '../../authorize/permission-rig.ts'

const SEED = Number(process.env['NEXUS_TEST_SEED'] ?? Date.now() % 2 ** 31)
/** `npm run test:long` sets 20 rounds: 1,000 sequences. */
const RUNS = 'TEST_ROUNDS' in process.env ? 50 * Number(process.env['TEST_ROUNDS']) : 30
const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const

/** An agent below any earlier one with any wish, or the end of the process. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('create' as const),
      under: fc.nat(6),
      preset: fc.option(fc.constantFrom(...SHIPPED), { nil: undefined }),
      permissions: delta,
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'restart' as const }) },
)

/** A process over the store whose one configured agent has this ceiling. */
async function start(store: Store, of: Ceiling) {
  const agents = [
    {
      id: 'main',
      policy: of.policy,
      rules: { ...of, destructiveTools: [], ceilings: [of] },
      inherited: ceilingLayers([of]),
    },
  ]
  const facts = { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false } as const
  const sandbox = createScriptedSandbox({})
  const runtime = await createRuntime({ sources: [], facts, store, agents, workspace: WORKSPACE, sandbox })
  const pool = createPool({ runtime, model: () => Promise.reject(new Error('no model is asked')) })
  return { runtime, pool }
}

/** Every agent of the store is within the ceilings of all its ancestors, and of the configured agent as it is now. */
async function checkAll(runtime: Runtime, now: Ceiling): Promise<number> {
  const rows = await runtime.store.agents.list({ isLiving: true })
  for (const row of rows) {
    const ancestors = (await runtime.store.agents.chain(row.key)).slice(0, -1)
    const handle = runtime.openAgent({ row, ...(await narrowing(runtime, row, readSettings(row))) })
    const ceilings = [now, ...ancestors.map(ownCeiling)]
    for (const name of handle.registry.names) checkTool(handle, name, ceilings)
  }
  return rows.length
}

function ownCeiling(row: AgentRecord): Ceiling {
  const [own] = readRules(row)?.ceilings ?? []
  assert.ok(own)
  return own
}

function checkTool(handle: ReturnType<Runtime['openAgent']>, name: string, ceilings: readonly Ceiling[]): void {
  const { decision } = handle.explain({ tool: name, arguments: {}, origin: 'model' })
  const tool = handle.registry.get(name)
  for (const ceiling of ceilings) {
    const call = { tool: name, arguments: {}, agentId: 'x', origin: 'model' } as const
    const most = decide({ call, tool, policy: ceiling.policy, layers: ceilingLayers([ceiling]) })
    const about = `${handle.id}: ${name} against the ceiling of ${ceiling.of}`
    assert.ok(STRICTNESS[decision.type] >= STRICTNESS[most.type], about)
    if (decision.type === 'deny') continue
    const may = lets(most.limits)
    for (const [what, can] of Object.entries(lets(decision.limits))) assert.ok(!can || may[what], `${about}: ${what}`)
  }
}

test('no child, however made, changed, saved and restored, gets what a ceiling of an ancestor lacks', async () => {
  let made = 0
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(fc.constantFrom(...SHIPPED), delta, policy),
      fc.tuple(fc.constantFrom(...SHIPPED), delta, policy),
      fc.array(step, { minLength: 2, maxLength: 7 }),
      async ([name, changed, rules], [laterName, laterDelta, laterRules], steps) => {
        const store = await createMemoryStore({ projectId: 'default' })
        const first: Ceiling = { of: 'main', permissions: applyDelta(preset(name), changed), policy: rules }
        const later: Ceiling = {
          of: 'main',
          permissions: applyDelta(preset(laterName), laterDelta),
          policy: laterRules,
        }
        let ceiling = first
        let at = await start(store, ceiling)
        for (const each of steps) {
          if (each.type === 'restart') {
            await at.pool.close()
            await at.runtime.close()
            // The user changed the configuration meanwhile: the stricter one of then and now applies.
            ceiling = ceiling === first ? later : first
            at = await start(store, ceiling)
            assert.deepEqual((await at.pool.restore()).failed, [])
          } else {
            const living = await store.agents.list({ isLiving: true })
            const { under, type: _, ...wish } = each
            const parent = living[under % (living.length + 1)]?.id
            const id = `a${(await store.agents.list()).length}`
            try {
              await at.pool.create({ id, ...wish, ...(parent !== undefined && { parent }) })
            } catch (error) {
              const isRefusal = isNexusError(error) && ['CALL_DENIED', 'INVALID_ARGUMENT'].includes(error.code)
              if (!isRefusal) throw error
            }
          }
        }
        made += await checkAll(at.runtime, ceiling)
        await at.pool.close()
        await at.runtime.close()
      },
    ),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  )
  assert.ok(made >= RUNS / 4, `only ${made} agents were made`)
})
