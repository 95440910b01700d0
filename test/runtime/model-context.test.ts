import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createMemoryStore, parsePolicy } from '../../src/public/index.ts'
import { succeeded } from '../../src/kernel/index.ts'
import { sessionLease } from '../../src/store/index.ts'
import { defineTool, toModelText } from '../../src/tools/index.ts'
import { callOf, codeOf, dataOf, wordsOf, workshop } from './rig.ts'

test('find_skills is offered when the index leaves skills out, and its last line says so', async (t) => {
  const shop = workshop(t)
  for (let index = 0; index < 30; index++) shop.write(`skill-${index}`)
  const small = await shop.open({ prompt: { budgetChars: 400 } })
  assert.ok(
    small
      .openAgent()
      .definitions()
      .some(({ name }) => name === 'find_skills'),
  )
  assert.match(small.openAgent().index().text, /\d+ more: call find_skills\n<\/skills>$/)
  const large = await shop.open()
  assert.ok(
    !large
      .openAgent()
      .definitions()
      .some(({ name }) => name === 'find_skills'),
  )
  assert.doesNotMatch(large.openAgent().index().text, /find_skills/)
})

test('a skill that sessions of the workspace loaded keeps its description longest', async (t) => {
  const shop = workshop(t)
  for (const name of ['aaa', 'bbb', 'ccc', 'zzz']) shop.write(name, { description: `Does ${name} ${'x'.repeat(300)}` })
  const store = await createMemoryStore({ projectId: 'default' })
  const open = (scope: string) => shop.open({ store, scope, prompt: { style: 'list', budgetChars: 250 } })
  const described = async (scope: string): Promise<string[]> => {
    const runtime = await open(scope)
    const { items } = runtime.openAgent().index()
    return items.filter(({ shown }) => shown === 'shortened' || shown === 'full').map(({ name }) => name)
  }
  const before = await described('here')
  assert.ok(before.length > 0 && !before.includes('zzz'), before.join())
  const taken = await store.leases.acquire(sessionLease('s'), { owner: 'a test', ttlMs: 60_000 })
  assert.ok(taken.type === 'acquired')
  await store.sessions.create({ id: 's', agentId: 'main', title: 'A task', scope: 'here' })
  const loaded = [{ address: 'mine/zzz', name: 'zzz', baseDir: shop.root, treeDigest: 'sha256:0' }]
  await store.sessions.update('s', { loaded }, taken.lease)
  assert.ok((await described('here')).includes('zzz'))
  assert.deepEqual(await described('elsewhere'), before)
})

test('find_skills is offered when the index holds names only', async (t) => {
  const shop = workshop(t)
  shop.write('one')
  const runtime = await shop.open({ prompt: { style: 'names' } })
  assert.ok(
    runtime
      .openAgent()
      .definitions()
      .some(({ name }) => name === 'find_skills'),
  )
})

test('find_skills is callable even when it is not offered, and never where policy denies it', async (t) => {
  const shop = workshop(t)
  shop.write('pdf-forms', { description: 'Fill in forms.' })
  const call = { tool: 'find_skills', arguments: { query: 'forms' } }
  const { outcome } = await callOf(await shop.open(), call)
  assert.deepEqual(dataOf(outcome)['skills'], [
    { name: 'pdf-forms', description: 'Fill in forms.', address: 'mine/pdf-forms' },
  ])
  assert.match(toModelText(outcome), /^1 skill for 'forms' \(total: 1\), best first\./)
  const policy = parsePolicy({ profile: 'full', deny: ['find_skills'] }).rules
  const denying = await shop.open({ agents: [{ id: 'main', policy }], prompt: { budgetChars: 60 } })
  assert.equal(codeOf((await callOf(denying, call)).outcome), 'PERMISSION_DENIED')
  assert.doesNotMatch(denying.openAgent().index().text, /find_skills/)
  assert.ok(
    !denying
      .openAgent()
      .definitions()
      .some(({ name }) => name === 'find_skills'),
  )
})

test('find_skills sees what a refresh brought, and not what only a person may start', async (t) => {
  const shop = workshop(t)
  shop.write('first')
  const runtime = await shop.open()
  shop.write('later-bird')
  shop.write('later-secret', { description: 'x\ndisable-model-invocation: true' })
  await runtime.refresh()
  const { outcome } = await callOf(runtime, { tool: 'find_skills', arguments: { query: 'later' } })
  assert.match(wordsOf(outcome), /later-bird/)
  assert.doesNotMatch(wordsOf(outcome), /later-secret/)
})

test('with Skill on the surface the instructions hold its prompt with the list, within the budget', async (t) => {
  const shop = workshop(t)
  for (let index = 0; index < 40; index++) shop.write(`skill-${index}`, { description: 'Does things. '.repeat(20) })
  const runtime = await shop.open({ surface: ['Skill'], prompt: { style: 'xml', budgetChars: 2000 } })
  const { text, characters } = runtime.openAgent().index()
  assert.ok(characters <= 2000)
  const instructions = runtime.openAgent().instructions()
  assert.ok(instructions.includes(`### Available skills\n\n${text}\n\n### Examples`))
  assert.match(text, /^<skills>\nCall Skill with the name/)
  for (const heading of ['Usage', 'Parameters', 'Response']) assert.match(instructions, new RegExp(`### ${heading}\n`))
  assert.match(instructions, /load it with the Skill tool/)
  assert.ok(
    runtime
      .openAgent()
      .definitions()
      .some(({ name }) => name === 'Skill'),
  )
})

test('the prompt of Skill names every parameter that the tool has', async (t) => {
  const shop = workshop(t)
  shop.write('one')
  const runtime = await shop.open({ surface: ['Skill'] })
  const tool = runtime
    .openAgent()
    .definitions()
    .find(({ name }) => name === 'Skill')
  for (const name of Object.keys(tool?.parameters['properties'] as object)) {
    assert.ok(runtime.openAgent().instructions().includes(`- \`${name}\` (`), name)
  }
})

test('without Skill on the surface, or where policy denies it, its prompt is not there', async (t) => {
  const shop = workshop(t)
  shop.write('one')
  assert.doesNotMatch((await shop.open()).openAgent().instructions(), /## Tool: Skill/)
  const policy = parsePolicy({ profile: 'full', deny: ['Skill'] }).rules
  const denying = await shop.open({ surface: ['Skill', 'load_skill'], agents: [{ id: 'main', policy }] })
  assert.doesNotMatch(denying.openAgent().instructions(), /## Tool: Skill/)
  assert.match(denying.openAgent().instructions(), /load_skill/)
})

test('an agent whose tools cannot reach skills is told so, without locations and without advice to load', async (t) => {
  const shop = workshop(t)
  shop.write('one')
  const policy = parsePolicy({ profile: 'full', deny: ['group:skills'] }).rules
  for (const parts of [{ agents: [{ id: 'main', policy }] }, { surface: [] }, { surface: [], web: {} }]) {
    const runtime = await shop.open(parts)
    const text = runtime.openAgent().instructions()
    assert.match(text, /None of your tools can load or read them/)
    assert.match(text, /- \*\*one\*\*: Does one\.\n<\/skills>$/)
    assert.doesNotMatch(text, /SKILL\.md|skill:\/\/|Location|load it with|read its/)
  }
})

test('an agent that can only read files of skills is told with which tool', async (t) => {
  const shop = workshop(t)
  shop.write('one')
  const policy = parsePolicy({ profile: 'full', deny: ['load_skill'] }).rules
  const runtime = await shop.open({ agents: [{ id: 'main', policy }] })
  assert.match(runtime.openAgent().index().text, /Read SKILL\.md with read_skill_file for detailed instructions\./)
  assert.match(
    runtime.openAgent().instructions(),
    /read its SKILL\.md with the read_skill_file tool before anything else/,
  )
  const args = { skill_name: 'one', file_path: 'SKILL.md' }
  assert.equal(codeOf((await callOf(runtime, { tool: 'read_skill_file', arguments: args })).outcome), 'success')
})

test('an agent with tools of its own, which may read files, is told where SKILL.md is', async (t) => {
  const shop = workshop(t)
  shop.write('one')
  const reader = defineTool({
    name: 'my_reader',
    description: 'Reads a file.',
    parameters: { type: 'object', properties: {} },
    execute: async () => succeeded('text'),
  })
  const runtime = await shop.open({
    surface: [],
    registerTools: (registry) => registry.register('my_reader', () => reader),
  })
  assert.match(runtime.openAgent().index().text, /Read SKILL\.md for detailed instructions\./)
  assert.ok(runtime.openAgent().index().text.includes(`${shop.root}/one/SKILL.md`))
})
