import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

import type { Runtime } from '../../src/public/index.ts'
import type { Outcome } from '../../src/kernel/index.ts'
import { callOf, codeOf, dataOf, wordsOf, workshop } from './rig.ts'

const TURN = { sessionId: 's1', turnId: 't1' }

async function openWith(t: TestContext, names: readonly string[]): Promise<Runtime> {
  const shop = workshop(t)
  for (const name of names) shop.write(name)
  return shop.open()
}

/** Loads a skill in a turn, perhaps because another one asks for it. */
async function load(runtime: Runtime, name: string, more: { by?: string; turnId?: string } = {}): Promise<Outcome> {
  const { by, turnId = TURN.turnId } = more
  const args = { skill_name: name, ...(by !== undefined && { called_by: by }) }
  return (await callOf(runtime, { tool: 'load_skill', arguments: args, sessionId: TURN.sessionId, turnId })).outcome
}

test('a skill may ask for another one, and outcome and ledger say which asked', async (t) => {
  const runtime = await openWith(t, ['a', 'b'])
  assert.equal(dataOf(await load(runtime, 'a'))['stack'], undefined)
  const args = { name: 'b', called_by: 'a' }
  const { outcome, entry } = await callOf(runtime, { tool: 'Skill', arguments: args, ...TURN })
  assert.deepEqual(dataOf(outcome)['stack'], ['a', 'b'])
  assert.deepEqual(entry.call.arguments, args)
  assert.deepEqual(entry.outcome?.data?.['stack'], ['a', 'b'])
})

test('skills that ask for each other in a circle are refused with the path', async (t) => {
  const runtime = await openWith(t, ['a', 'b', 'c'])
  await load(runtime, 'a')
  await load(runtime, 'b', { by: 'a' })
  await load(runtime, 'c', { by: 'b' })
  const outcome = await load(runtime, 'a', { by: 'c' })
  assert.equal(codeOf(outcome), 'INVALID_PARAM')
  assert.match(wordsOf(outcome), /a -> b -> c -> a/)
  assert.match(wordsOf(await load(runtime, 'b', { by: 'b' })), /b -> b/)
})

test('a circle is found also when its skills were loaded on their own before', async (t) => {
  const runtime = await openWith(t, ['a', 'b'])
  await load(runtime, 'b')
  await load(runtime, 'a', { by: 'b' })
  await load(runtime, 'a')
  assert.match(wordsOf(await load(runtime, 'b', { by: 'a' })), /b -> a -> b/)
})

test('five skills may stand in one stack, the sixth is refused with the path', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const runtime = await openWith(t, names)
  const outcomes: Outcome[] = []
  for (const [index, name] of names.entries()) {
    const by = names[index - 1]
    outcomes.push(await load(runtime, name, by === undefined ? {} : { by }))
  }
  assert.deepEqual(outcomes.map(codeOf), [...Array(5).fill('success'), 'INVALID_PARAM'])
  assert.match(wordsOf(outcomes[5] as Outcome), /5 deep at most: a -> b -> c -> d -> e -> f/)
})

test('a skill that was not loaded in this turn cannot have asked', async (t) => {
  const runtime = await openWith(t, ['a', 'b'])
  await load(runtime, 'a', { turnId: 'earlier' })
  const outcome = await load(runtime, 'b', { by: 'a' })
  assert.equal(codeOf(outcome), 'INVALID_PARAM')
  assert.match(wordsOf(outcome), /'a' was not loaded in this turn; none was/)
})

test('a skill whose load failed cannot have asked', async (t) => {
  const shop = workshop(t)
  shop.write('a')
  shop.write('b')
  const runtime = await shop.open({ refreshOnCall: false })
  rmSync(join(shop.root, 'a'), { recursive: true })
  assert.equal(codeOf(await load(runtime, 'a')), 'NOT_FOUND')
  assert.match(wordsOf(await load(runtime, 'b', { by: 'a' })), /not loaded in this turn/)
})

test('turns and agents know nothing of each other', async (t) => {
  const runtime = await openWith(t, ['a', 'b'])
  await load(runtime, 'a')
  await load(runtime, 'b', { by: 'a' })
  await load(runtime, 'b', { turnId: 't2' })
  assert.equal(codeOf(await load(runtime, 'a', { by: 'b', turnId: 't2' })), 'success')
})

test('outside a turn skills load as ever, and called_by is refused', async (t) => {
  const runtime = await openWith(t, ['a', 'b'])
  assert.equal(
    codeOf((await callOf(runtime, { tool: 'load_skill', arguments: { skill_name: 'a' } })).outcome),
    'success',
  )
  const { outcome } = await callOf(runtime, { tool: 'load_skill', arguments: { skill_name: 'b', called_by: 'a' } })
  assert.equal(codeOf(outcome), 'INVALID_PARAM')
})

test('an empty called_by, a $mention and an address are understood', async (t) => {
  const runtime = await openWith(t, ['a', 'b', 'c'])
  assert.equal(codeOf(await load(runtime, 'a', { by: ' ' })), 'success')
  assert.deepEqual(dataOf(await load(runtime, 'b', { by: '$a' }))['stack'], ['a', 'b'])
  assert.deepEqual(dataOf(await load(runtime, 'c', { by: 'mine/b' }))['stack'], ['a', 'b', 'c'])
})

test('what was loaded is remembered across a refresh within the turn', async (t) => {
  const runtime = await openWith(t, ['a', 'b'])
  await load(runtime, 'a')
  await runtime.refresh()
  assert.deepEqual(dataOf(await load(runtime, 'b', { by: 'a' }))['stack'], ['a', 'b'])
})
