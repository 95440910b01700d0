import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'

import { createFolderSource, createRuntime, parsePolicy, type Parts, type Runtime } from '../../src/public/index.ts'
import { callOf, codeOf, dataOf, wordsOf, workshop } from './rig.ts'

/** Two sources and two directories of one name, each with a file of its own. */
const FILES = {
  'mine/twin-a/SKILL.md': '---\nname: twin\ndescription: The first twin.\n---\nBody of twin-a.\n',
  'mine/twin-a/notes.md': 'notes of twin-a\n',
  'mine/twin-b/SKILL.md': '---\nname: twin\ndescription: The second twin.\n---\nBody of twin-b.\n',
  'mine/twin-b/notes.md': 'notes of twin-b\n',
  'mine/pretender/SKILL.md': '---\nname: low/twin\ndescription: Pretends to be an address.\n---\nBody of pretender.\n',
  'mine/needs/SKILL.md':
    '---\nname: needs\ndescription: Needs the web.\nmetadata:\n  toolGroups: [group:web]\n---\nBody.\n',
  'low/twin/SKILL.md': '---\nname: twin\ndescription: A lower twin.\n---\nBody of the lower twin.\n',
  'low/twin/notes.md': 'notes of the lower twin\n',
}

async function open(t: TestContext, more: Partial<Parts> = {}): Promise<Runtime> {
  const { root } = workshop(t)
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const sources = (['mine', 'low'] as const).map((id, rank) =>
    createFolderSource({ id, tier: 'workspace', rank, path: join(root, id), trusted: true }),
  )
  const facts = { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false }
  const runtime = await createRuntime({ sources, facts, ...more })
  t.after(() => runtime.close())
  return runtime
}

const COPIES = [
  ['twin', 'twin-b', 'mine/twin'],
  ['mine/twin', 'twin-b', 'mine/twin'],
  ['mine/twin~2', 'twin-a', 'mine/twin~2'],
  ['low/twin', 'the lower twin', 'low/twin'],
  ['mine/low/twin', 'pretender', 'mine/low/twin'],
] as const

for (const [asked, body, address] of COPIES) {
  test(`load_skill ${asked} loads one copy, and the name that it gives for reading on leads to the same copy`, async (t) => {
    const runtime = await open(t)
    const { outcome, entry } = await callOf(runtime, { tool: 'load_skill', arguments: { skill_name: asked } })
    assert.match(wordsOf(outcome), new RegExp(`Body of ${body}\\.`))
    assert.equal(entry.skill?.name, address)
    const [, called] = /Use read_skill_file with skill_name "(.*)" and/.exec(wordsOf(outcome)) ?? []
    if (body === 'pretender') return
    const args = { skill_name: called ?? '', file_path: 'notes.md' }
    const { outcome: read } = await callOf(runtime, { tool: 'read_skill_file', arguments: args })
    assert.match(wordsOf(read), new RegExp(`notes of ${body}`))
  })
}

test('twins that are loaded in one turn are two skills', async (t) => {
  const runtime = await open(t)
  const turn = { sessionId: 's', turnId: 't' }
  await callOf(runtime, { tool: 'load_skill', arguments: { skill_name: 'mine/twin' }, ...turn })
  const args = { skill_name: 'mine/twin~2', called_by: 'mine/twin' }
  const { outcome } = await callOf(runtime, { tool: 'load_skill', arguments: args, ...turn })
  assert.equal(codeOf(outcome), 'success')
  assert.deepEqual(dataOf(outcome)['stack'], ['twin', 'twin'])
})

test('find_skills names what can be loaded', async (t) => {
  const runtime = await open(t)
  const { outcome } = await callOf(runtime, { tool: 'find_skills', arguments: { query: 'pretends address' } })
  const [found] = dataOf(outcome)['skills'] as { name: string }[]
  assert.equal(found?.name, 'mine/low/twin')
})

test('a skill is held for each agent whose policy keeps a group of tools that it needs', async (t) => {
  const policyOf = (deny: string[]) => parsePolicy({ profile: 'full', deny }).rules
  const agents = [
    { id: 'free', policy: policyOf(['group:messaging']) },
    { id: 'kept', policy: policyOf(['group:web']) },
  ]
  const runtime = await open(t, { agents })
  assert.equal(runtime.openAgent({ id: 'free' }).catalog().find('needs')?.name, 'needs')
  assert.equal(runtime.openAgent({ id: 'kept' }).catalog().find('needs'), undefined)
  const [held] = runtime.openAgent({ id: 'kept' }).catalog().held
  assert.deepEqual(
    held?.reasons.map(({ code, text, fix }) => [code, text, fix]),
    [['tool-group', 'required tool group not allowed: group:web', "Allow group:web in the agent's tools policy."]],
  )
  assert.ok(!runtime.openAgent({ id: 'kept' }).index().text.includes('needs'))
})

test('rules of the caller and those of the policy both count', async (t) => {
  const gateRules = {
    entries: new Map(),
    disabledSkills: [],
    configTruthy: () => false,
    allowsToolGroup: (group: string) => group !== 'group:web',
  }
  const policy = parsePolicy({ profile: 'full', deny: ['group:fs'] }).rules
  const runtime = await open(t, { gateRules, agents: [{ id: 'main', policy }] })
  assert.equal(runtime.openAgent().catalog().find('needs'), undefined)
})
