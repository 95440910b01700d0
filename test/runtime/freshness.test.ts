import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'

import type { CallResult, Runtime, SkillSource } from '../../src/public/index.ts'
import { createFolderSource } from '../../src/public/index.ts'
import { callOf, codeOf, wordsOf, workshop } from './rig.ts'

const load = (runtime: Runtime, name: string, signal?: AbortSignal): Promise<CallResult> =>
  callOf(runtime, { tool: 'load_skill', arguments: { skill_name: name } }, signal ? { signal } : {})

/** A source that counts how often it is searched. */
function counted(path: string): { source: SkillSource; searches: () => number } {
  const folder = createFolderSource({ id: 'mine', tier: 'workspace', rank: 0, path, trusted: true })
  let count = 0
  const source: SkillSource = {
    ...folder,
    discover: (signal) => {
      count++
      return folder.discover(signal)
    },
  }
  return { source, searches: () => count }
}

test('a skill that was added a moment ago is found by the next call', async (t) => {
  const shop = workshop(t)
  shop.write('old')
  for (const refreshOnCall of [true, false]) {
    const runtime = await shop.open({ refreshOnCall })
    const name = `new-${refreshOnCall}`
    shop.write(name)
    assert.equal(codeOf((await load(runtime, name)).outcome), 'success')
    assert.ok(runtime.openAgent().catalog().find(name))
  }
})

test('an edit is in the catalog after the next call about that skill', async (t) => {
  const shop = workshop(t)
  shop.write('notes')
  const runtime = await shop.open()
  const { version } = runtime.openAgent().catalog()
  shop.write('notes', { description: 'Now about birds.', body: 'Sing.' })
  assert.match(wordsOf((await load(runtime, 'notes')).outcome), /Sing\./)
  assert.equal(runtime.openAgent().catalog().find('notes')?.description, 'Now about birds.')
  assert.notEqual(runtime.openAgent().catalog().version, version)
})

test('without refreshOnCall an edit waits for a refresh, though the text is always the present one', async (t) => {
  const shop = workshop(t)
  shop.write('notes')
  const runtime = await shop.open({ refreshOnCall: false })
  shop.write('notes', { description: 'Now about birds.', body: 'Sing.' })
  assert.match(wordsOf((await load(runtime, 'notes')).outcome), /Sing\./)
  assert.equal(runtime.openAgent().catalog().find('notes')?.description, 'Does notes.')
})

test('a skill that was removed is not found any more, and one that broke says where', async (t) => {
  const shop = workshop(t)
  const [gone, broken] = [shop.write('gone'), shop.write('broken'), shop.write('stays')]
  const runtime = await shop.open()
  rmSync(dirname(gone), { recursive: true })
  writeFileSync(broken, '---\n- a list\n---\n')
  assert.equal(codeOf((await load(runtime, 'gone')).outcome), 'NOT_FOUND')
  const { outcome } = await load(runtime, 'broken')
  assert.equal(codeOf(outcome), 'INTERNAL_ERROR')
  assert.match(wordsOf(outcome), /broken\/SKILL\.md:\d+/)
})

test('nothing is searched while nothing changes, and once for a miss', async (t) => {
  const shop = workshop(t)
  shop.write('notes')
  const { source, searches } = counted(shop.root)
  const runtime = await shop.open({ sources: [source] })
  for (const name of ['notes', '$notes', ' notes ', 'mine/notes']) await load(runtime, name)
  assert.equal(searches(), 1)
  await load(runtime, 'nothing')
  assert.equal(searches(), 2)
})

test('a crowd of misses costs two searches at most', async (t) => {
  const shop = workshop(t)
  shop.write('notes')
  const { source, searches } = counted(shop.root)
  const runtime = await shop.open({ sources: [source] })
  const calls = Array.from({ length: 20 }, (_, index) => load(runtime, `nothing-${index}`))
  const outcomes = (await Promise.all(calls)).map(({ outcome }) => codeOf(outcome))
  assert.deepEqual(new Set(outcomes), new Set(['NOT_FOUND']))
  assert.ok(searches() <= 3, `${searches()} searches`)
})

test('a cancelled call does not wait for a search, and is answered', async (t) => {
  const shop = workshop(t)
  shop.write('notes')
  const { source } = counted(shop.root)
  let isSlow = false
  const stuck: SkillSource = {
    ...source,
    discover: (signal) => (isSlow ? new Promise(() => {}) : source.discover(signal)),
  }
  const runtime = await shop.open({ sources: [stuck] })
  isSlow = true
  const stop = new AbortController()
  const pending = load(runtime, 'nothing', stop.signal)
  setImmediate(() => stop.abort())
  assert.equal(codeOf((await pending).outcome), 'CANCELLED')
})

test('a search that fails leaves the catalog as it was', async (t) => {
  const shop = workshop(t)
  shop.write('notes')
  const { source } = counted(shop.root)
  const duplicate: SkillSource[] = [source]
  const runtime = await shop.open({ sources: duplicate })
  // Two sources of one id are refused as a whole.
  duplicate.push(source)
  assert.equal(codeOf((await load(runtime, 'nothing')).outcome), 'NOT_FOUND')
  assert.equal(codeOf((await load(runtime, 'notes')).outcome), 'success')
})
