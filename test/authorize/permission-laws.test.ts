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
} from '../../src/authorize/index.ts'
import type { Decision, PermissionDelta } from '../../src/kernel/index.ts'
import { ceilingOf, decideFor, preset, SHIPPED } from './permission-rig.ts'
import { rulesOf, toolNamed } from './sample.ts'

const SEED = Number(process.env['NEXUS_TEST_SEED'] ?? Date.now() % 2 ** 31)
/** `npm run test:long` sets 20 rounds: 100,000 sequences. */
const RUNS = 'TEST_ROUNDS' in process.env ? 5000 * Number(process.env['TEST_ROUNDS']) : 400
const TOOLS = ['read_file', 'write_file', 'run_command', 'web_fetch', 'nexus_create', 'nexus_send', 'sleep', 'mcp:a.b']
const PATHS = ['/', '/w', '/w/a', '/w/a/b', '/x']
const entry = fc.constantFrom(...TOOLS, 'group:fs', 'group:web', 'group:nexus', '*', '*_file', 'mcp:a')
const paths = fc.option(fc.array(fc.constantFrom(...PATHS), { maxLength: 2 }), { nil: null })
const toolPermission = fc.record(
  {
    enabled: fc.boolean(),
    allowedPaths: paths,
    timeoutMs: fc.nat(3),
    requiresConfirmation: fc.boolean(),
  },
  { requiredKeys: [] },
)
const delta: fc.Arbitrary<PermissionDelta> = fc.record(
  {
    disableTools: fc.array(entry, { maxLength: 2 }),
    enableTools: fc.array(entry, { maxLength: 2 }),
    allowedPaths: paths,
    addBlockedPaths: fc.array(fc.constantFrom(...PATHS), { maxLength: 1 }),
    toolOverrides: fc.dictionary(entry, toolPermission, { maxKeys: 2 }),
  },
  { requiredKeys: [] },
)
/** A spawn of a child under the agent before it, a delta to it, or a save and restore. */
const step = fc.oneof(
  fc.record({ type: fc.constant('spawn' as const), preset: fc.constantFrom(...SHIPPED), delta }),
  fc.record({ type: fc.constant('delta' as const), delta }),
  fc.constant({ type: 'restore' as const }),
)
/** The permissions of any agent. */
const member = fc.tuple(fc.constantFrom(...SHIPPED), delta).map(([name, given]) => applyDelta(preset(name), given))
const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const
const below = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`)

/** Whether limits let a call write at a path; the same for reading. */
function lets({ readPaths, writePaths, blockedPaths = [] }: Decision['limits'], path: string): [boolean, boolean] {
  const isFree = !blockedPaths.some((blocked) => below(path, blocked))
  return [readPaths, writePaths].map(
    (list) => isFree && (list === undefined || list.some((directory) => below(path, directory))),
  ) as [boolean, boolean]
}

interface Member {
  readonly permissions: Permissions
  readonly ceilings: readonly Ceiling[]
}

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The agents of one line of descent after a step, the youngest last. */
function take(line: readonly Member[], each: Step): readonly Member[] {
  const last = line.at(-1)
  if (!last) return line
  const { permissions, ceilings } = last
  if (each.type === 'spawn') {
    const child = {
      permissions: applyDelta(preset(each.preset), each.delta),
      ceilings: [...ceilings, ceilingOf(permissions, `${line.length}`)],
    }
    return [...line, child]
  }
  // A change of an agent is one within its own ceiling; a restored one is what was saved.
  const changed =
    each.type === 'delta'
      ? { permissions: applyDelta(permissions, each.delta), ceilings: [...ceilings, ceilingOf(permissions, 'own')] }
      : { permissions: JSON.parse(JSON.stringify(permissions)) as Permissions, ceilings }
  return [...line.slice(0, -1), changed]
}

/** What a child gets is at most what its parent has; the parent's own question is not handed on, everything stricter is. */
function assertWithin(gets: Decision, has: Decision, name: string): void {
  const isOwnQuestion = has.type === 'ask' && has.chain.every((ruling) => ruling.type !== 'ask' || ruling.isPresetOwn)
  assert.ok(STRICTNESS[gets.type] >= (isOwnQuestion ? 0 : STRICTNESS[has.type]), `${name}: ${has.rule} ${gets.rule}`)
  if (gets.type === 'deny') return
  for (const path of PATHS)
    for (const at of [0, 1] as const)
      assert.ok(!lets(gets.limits, path)[at] || lets(has.limits, path)[at], `${name} ${path}`)
  assert.ok((gets.limits.timeoutMs ?? Infinity) <= (has.limits.timeoutMs ?? Infinity))
}

describe('laws of permissions', () => {
  it('a child never gets what its parent lacks, after any spawns, deltas, saves and restores', (context) => {
    context.diagnostic(`seed ${SEED} (NEXUS_TEST_SEED)`)
    fc.assert(
      fc.property(fc.constantFrom(...SHIPPED), delta, fc.array(step, { maxLength: 8 }), (first, start, steps) => {
        const root: Member = { permissions: applyDelta(preset(first), start), ceilings: [] }
        const line = steps.reduce<readonly Member[]>(take, [root])
        for (const [index, child] of line.slice(1).entries()) {
          const parent = line[index] ?? root
          for (const name of TOOLS)
            assertWithin(decideFor(child.permissions, name, child), decideFor(parent.permissions, name, parent), name)
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

  it('a request that is not refused gives no tool and no path that the parent lacks', () => {
    fc.assert(
      fc.property(member, fc.constantFrom(...SHIPPED), delta, (parent, base, asked) => {
        const excess = exceeds(parent, { base: preset(base), delta: asked }, new Map())
        if (excess) return
        for (const name of (asked.enableTools ?? []).filter((one) => TOOLS.includes(one)))
          assert.doesNotMatch(JSON.stringify(decideFor(parent, name).chain), /is disabled/)
        for (const path of asked.allowedPaths ?? [])
          assert.ok(parent.allowedPaths === null || parent.allowedPaths.some((directory) => below(path, directory)))
      }),
      { seed: SEED, numRuns: RUNS },
    )
  })
})
