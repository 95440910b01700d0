import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'

import { isNexusError } from '../../../src/kernel/index.ts'
import { createSkillStacks, type SkillStacks, type StackedSkill } from '../../../src/skills/load/index.ts'

const skill = (name: string): StackedSkill => ({ address: `local/${name}`, name })
const TURN = { agentId: 'main', sessionId: 's', turnId: 't' }

/** The stack, or undefined when the load is refused. */
function enter(stacks: SkillStacks, name: string, by?: string): readonly string[] | undefined {
  try {
    const entry = stacks.enter(TURN, skill(name), by === undefined ? undefined : skill(by))
    entry.loaded('/placed', 'sha256:1')
    return entry.stack
  } catch (error) {
    if (isNexusError(error) && error.code === 'INVALID_ARGUMENT') return undefined
    throw error
  }
}

test('a stack is at most five skills, names none twice, and no skill gets one that is above it, in whatever order skills ask', () => {
  const steps = fc.array(
    fc.record({
      name: fc.constantFrom(...'abcdefgh'),
      by: fc.option(fc.constantFrom(...'abcdefgh'), { nil: undefined }),
    }),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(steps, (given) => {
      const stacks = createSkillStacks()
      const longest = new Map<string, readonly string[]>()
      for (const { name, by } of given) {
        const stack = enter(stacks, name, by)
        if (!stack) continue
        assert.ok(stack.length <= 5 && stack.at(-1) === name)
        assert.equal(new Set(stack).size, stack.length)
        if (by !== undefined) {
          assert.ok(!longest.get(by)?.includes(name))
          assert.deepEqual(stack.slice(0, -1), longest.get(by))
        }
        if (stack.length > (longest.get(name)?.length ?? 0)) longest.set(name, stack)
      }
    }),
  )
})

test('a skill without a caller is never refused', () => {
  const stacks = createSkillStacks()
  for (let round = 0; round < 3; round++) {
    for (const name of 'abcdefgh') assert.deepEqual(enter(stacks, name)?.at(-1), name)
  }
})

test('turns and skills beyond the bound are forgotten, not kept', () => {
  const stacks = createSkillStacks()
  enter(stacks, 'a')
  for (let turn = 0; turn < 2000; turn++) {
    stacks.enter({ ...TURN, turnId: `t${turn}` }, skill('x')).loaded('/placed', 'sha256:1')
  }
  assert.equal(enter(stacks, 'b', 'a'), undefined)
  for (let number = 0; number < 2000; number++) enter(stacks, `s${number}`)
  assert.equal(enter(stacks, 'b', 's1999'), undefined)
  assert.deepEqual(enter(stacks, 'b', 's1'), ['s1', 'b'])
})

test('a caller is known by its name when its name means another copy by now', () => {
  const stacks = createSkillStacks()
  stacks.enter(TURN, { address: 'bundled/a', name: 'a' }).loaded('/placed', 'sha256:1')
  assert.deepEqual(stacks.enter(TURN, skill('b'), { address: 'local/a', name: 'a' }).stack, ['a', 'b'])
})

test('what was loaded is listed with its revision, the latest last, and can be taken over by another process', () => {
  const stacks = createSkillStacks()
  for (const [turnId, digest] of [
    ['t1', '1'],
    ['t2', '2'],
    ['t1', '1'],
  ] as const)
    stacks.enter({ ...TURN, turnId }, skill('x')).loaded(`/placed/${digest}`, `sha256:${digest}`)
  const loaded = stacks.loadedIn(TURN)
  assert.deepEqual(
    loaded.map(({ treeDigest }) => treeDigest),
    ['sha256:2', 'sha256:1'],
  )
  const other = createSkillStacks()
  other.recall(TURN, loaded)
  assert.deepEqual(other.loadedIn(TURN), loaded)
  assert.throws(() => other.enter(TURN, skill('y'), skill('x')), /was not loaded in this turn/)
  other.recall(TURN, [{ address: 'a', name: 'a', baseDir: '/a', treeDigest: 'sha256:3' }])
  assert.deepEqual(other.loadedIn(TURN), loaded)
})
