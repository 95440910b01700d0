import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  applyDelta,
  type Ceiling,
  decide,
  exceeds,
  explain,
  grantsLayer,
  type Permissions,
  type PolicyRules,
  readRules,
  saveRules,
} from '../../src/authorize/index.ts'
import type { Decision, PermissionDelta, ToolPermission } from '../../src/kernel/index.ts'
import { toolCovered } from '../../src/authorize/groups.ts'
import { below, delta, entry, lets, OPTIONS, policy, TOOLS, toolPermission } from './any-rules.ts'
import { ceilingOf, decideFor, preset, SHIPPED } from './permission-rig.ts'
import { rulesOf, toolNamed } from './sample.ts'

const SEED = Number(process.env['NEXUS_TEST_SEED'] ?? Date.now() % 2 ** 31)
/** `npm run test:long` sets 20 rounds: 100,000 sequences. */
const RUNS = 'TEST_ROUNDS' in process.env ? 5000 * Number(process.env['TEST_ROUNDS']) : 400
const oneTool: fc.Arbitrary<PermissionDelta> = fc.record({
  toolOverrides: fc.dictionary(entry, toolPermission, { minKeys: 1, maxKeys: 1 }),
})
/** A spawn of a child under the agent before it, a delta to it, or a save and restore. */
const step = fc.oneof(
  fc.record({ type: fc.constant('spawn' as const), preset: fc.constantFrom(...SHIPPED), delta, policy }),
  fc.record({ type: fc.constant('delta' as const), delta }),
  fc.constant({ type: 'restore' as const }),
)
/** The permissions of any agent. */
const member = fc.tuple(fc.constantFrom(...SHIPPED), delta).map(([name, given]) => applyDelta(preset(name), given))
const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const
interface Member {
  readonly permissions: Permissions
  readonly policy: PolicyRules
  readonly ceilings: readonly Ceiling[]
}

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The agents of one line of descent after a step, the youngest last. */
function take(descent: readonly Member[], each: Step): readonly Member[] {
  const last = descent.at(-1)
  if (!last) return descent
  const { permissions, policy: rules, ceilings } = last
  const own = ceilingOf(permissions, rules)
  if (each.type === 'spawn') {
    const child = {
      permissions: applyDelta(preset(each.preset), each.delta),
      policy: each.policy,
      ceilings: [...ceilings, own],
    }
    return [...descent, child]
  }
  // A change of an agent is one within its own ceiling; a restored one is what was saved.
  if (each.type === 'delta')
    return [
      ...descent.slice(0, -1),
      { permissions: applyDelta(permissions, each.delta), policy: rules, ceilings: [...ceilings, own] },
    ]
  const saved = saveRules({ permissions, policy: rules, ceilings: [...ceilings, own] })
  const restored = readRules(JSON.parse(JSON.stringify(saved)) as typeof saved)
  assert.ok(restored)
  assert.deepEqual(saveRules(restored).ceiling, saved.ceiling)
  return [...descent.slice(0, -1), { ...restored, ceilings: restored.ceilings.slice(0, -1) }]
}

/** What a child gets is at most what its parent has; the parent's own question is not handed on, everything stricter is. */
function assertWithin(gets: Decision, has: Decision, name: string): void {
  const isOwnQuestion = has.type === 'ask' && has.chain.every((ruling) => ruling.type !== 'ask' || ruling.isPresetOwn)
  assert.ok(STRICTNESS[gets.type] >= (isOwnQuestion ? 0 : STRICTNESS[has.type]), `${name}: ${has.rule} ${gets.rule}`)
  if (gets.type === 'deny') return
  const wide = lets(has.limits)
  for (const [point, isLet] of Object.entries(lets(gets.limits))) assert.ok(!isLet || wide[point], `${name}: ${point}`)
  assert.ok((gets.limits.timeoutMs ?? Infinity) <= (has.limits.timeoutMs ?? Infinity))
}

/** What is asked for one tool is at most what that decision has. */
function assertHas({ type, limits }: Decision, { allowedPaths, timeoutMs }: ToolPermission, name: string): void {
  if (type === 'deny') return
  for (const path of allowedPaths ?? [])
    assert.ok(limits.readPaths?.some((directory) => below(path, directory)) ?? true, `${name} ${path}`)
  if (timeoutMs !== undefined) assert.ok((timeoutMs || Infinity) <= (limits.timeoutMs ?? Infinity), name)
}

describe('laws of permissions', () => {
  it('a child never gets what its parent lacks, after any spawns, deltas, saves and restores', (context) => {
    context.diagnostic(`seed ${SEED} (NEXUS_TEST_SEED)`)
    fc.assert(
      fc.property(member, policy, fc.array(step, { maxLength: 8 }), (permissions, rules, steps) => {
        const root: Member = { permissions, policy: rules, ceilings: [] }
        const descent = steps.reduce<readonly Member[]>(take, [root])
        const decided = ({ permissions: granted, ...more }: Member, name: string): Decision =>
          decideFor(granted, name, { ...more, options: OPTIONS })
        for (const [index, child] of descent.slice(1).entries()) {
          const parent = descent[index] ?? root
          for (const name of TOOLS) assertWithin(decided(child, name), decided(parent, name), name)
        }
      }),
      { seed: SEED, numRuns: RUNS },
    )
  })

  it('one more disabled tool is never less strict, and the explanation is the decision', () => {
    fc.assert(
      fc.property(member, entry, fc.constantFrom(...TOOLS), (before, off, name) => {
        const after = applyDelta(before, { disableTools: [off] })
        assert.ok(STRICTNESS[decideFor(after, name).type] >= STRICTNESS[decideFor(before, name).type])
        const input = {
          call: { tool: name, arguments: {}, agentId: 'main', origin: 'model' as const },
          tool: toolNamed(name),
          policy: rulesOf(),
          layers: [grantsLayer(after)],
        }
        assert.deepEqual(explain(input).decision, decide(input))
      }),
      { seed: SEED, numRuns: RUNS },
    )
  })

  it('groups that replace shipped ones never move a safety rule: no network, and a skill that restricts', () => {
    const tools = [...TOOLS, 'web_search', 'load_skill', 'read_skill_file', 'find_skills']
    fc.assert(
      fc.property(member, policy, fc.constantFrom(...tools), (granted, rules, name) => {
        const shipped = { ...rules, groups: new Map() }
        const networkless = { ...granted, network: false }
        if (['web_fetch', 'web_search'].includes(name)) {
          assert.equal(decideFor(networkless, name, { policy: rules }).type, 'deny')
          const denied = { ...rules, deny: ['sandbox.network'] }
          assert.equal(decideFor(granted, name, { policy: denied, options: OPTIONS }).type, 'deny')
        }
        const restricted = (given: PolicyRules): boolean =>
          decide({
            call: { tool: name, arguments: {}, agentId: 'main', origin: 'model' },
            tool: toolNamed(name),
            policy: given,
            skillsInUse: [{ name: 'x', isTrusted: true, allowedTools: ['group:web'], restricts: true }],
          }).chain.some(({ layer, type }) => layer === 'skill' && type === 'deny')
        assert.equal(restricted(rules), restricted(shipped))
      }),
      { seed: SEED, numRuns: RUNS },
    )
  })

  it('a request that is not refused gives no tool and no path that the parent lacks', () => {
    fc.assert(
      // Most whole deltas are refused for several reasons, so most requests here have one.
      fc.property(member, fc.constantFrom(...SHIPPED), fc.oneof(delta, oneTool), (parent, base, asked) => {
        const excess = exceeds(parent, { base: preset(base), delta: asked }, new Map())
        if (excess) return
        for (const name of (asked.enableTools ?? []).filter((one) => TOOLS.includes(one)))
          assert.doesNotMatch(JSON.stringify(decideFor(parent, name).chain), /is disabled/)
        for (const path of asked.allowedPaths ?? [])
          assert.ok(parent.allowedPaths === null || parent.allowedPaths.some((directory) => below(path, directory)))
        for (const [of, override] of Object.entries(asked.toolOverrides ?? {}))
          for (const name of TOOLS.filter((tool) => toolCovered(of, tool, new Map())))
            assertHas(decideFor(parent, name), override, name)
      }),
      { seed: SEED, numRuns: RUNS },
    )
  })
})
