/** Features of docs/coverage.md as a user of the package meets them: through its entries, and nothing else. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  type AgentHandle,
  createEchoTool,
  createFolderSource,
  createRegistry,
  createRuntime,
  createServices,
  defineTool,
  executeTool,
  type JsonObject,
  type Outcome,
  type Parts,
  registerBuiltins,
  parseSkill,
  toEnvelope,
  type TargetFacts,
  toModelText,
} from '../../src/public/index.ts'
import { validateEnvelope } from '../../src/public/testing.ts'

const FACTS: TargetFacts = { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false }

const REPORT = `---
name: report
description: Writes reports. Use when asked for a report.
license: MIT
compatibility: Needs Python
allowed-tools: Bash Read
metadata:
  version: 1.10
---
# Report

Run {baseDir}/scripts/make.sh about $ARGUMENTS.
`

function folder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-features-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const REPORT_FILES = {
  'report/SKILL.md': REPORT,
  'report/scripts/make.sh': 'echo made\n',
  'report/references/guide.md': 'The guide.\n',
  'report/assets/logo.svg': '<svg/>',
}

const skillFile = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}. Use when asked for ${name}.\n${more}---\nSteps of ${name}.\n`

async function open(t: TestContext, root: string, more: Partial<Parts> = {}): Promise<AgentHandle> {
  const source = createFolderSource({ id: 'mine', tier: 'workspace', rank: 0, path: root, trusted: true })
  const runtime = await createRuntime({ sources: [source], facts: FACTS, ...more })
  t.after(() => runtime.close())
  return runtime.openAgent()
}

async function call(agent: AgentHandle, tool: string, args: JsonObject): Promise<Outcome> {
  return (await agent.call({ tool, arguments: args })).outcome
}

const wordsOf = (outcome: Outcome): string => (outcome.type === 'failed' ? outcome.message : outcome.text)

test('N1: a tool states its parameters as JSON Schema, and what does not fit never reaches it', async () => {
  const runs: string[] = []
  const add = defineTool({
    name: 'add',
    description: 'Adds two numbers.',
    parameters: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
    execute: async ({ a, b }) => {
      runs.push('add')
      return String(Number(a) + Number(b))
    },
  })
  const registry = createRegistry(createServices())
  registry.register('add', () => add)
  assert.deepEqual(registry.definitions('openai')[0]?.function.parameters, add.parameters)
  const context = { signal: new AbortController().signal, services: createServices() } as never
  assert.equal(wordsOf(await executeTool(add, { a: 1, b: 2 }, context)), '3')
  const refused = await executeTool(add, { a: 1, b: 'two' }, context)
  assert.equal(refused.type === 'failed' && refused.code, 'INVALID_PARAM')
  assert.match(wordsOf(refused), /Invalid arguments for add: b must be number/)
  assert.deepEqual(runs, ['add'])
})

test('N2: tools are made once when they are first used, one that fails is left out, and each provider has its form', async (t) => {
  const made: string[] = []
  const echo = defineTool({
    name: 'notes.echo',
    description: 'Says it again.',
    parameters: { type: 'object', properties: { text: { type: 'string' } } },
    execute: ({ text }) => String(text),
  })
  const runtime = await createRuntime({
    sources: [],
    facts: FACTS,
    registerTools: (registry, agentId) => {
      made.push(agentId)
      registry.register('notes.echo', () => echo)
      registry.register('broken', () => {
        throw new Error('no key')
      })
    },
  })
  t.after(() => runtime.close())
  const agent = runtime.openAgent()
  assert.deepEqual(made, [])
  const names = (['openai', 'anthropic', 'ai-sdk', 'mcp', 'json'] as const).map((form) => {
    const last = agent.definitionsAs(form).at(-1)
    return last && ('function' in last ? last.function.name : last.name)
  })
  assert.deepEqual(names, ['notes__echo', 'notes__echo', 'notes__echo', 'notes.echo', 'notes.echo'])
  await runtime.refresh()
  assert.equal(wordsOf(await call(agent, 'notes.echo', { text: 'hi' })), 'hi')
  assert.deepEqual(made, ['main'])
  assert.match(agent.diagnostics[0]?.message ?? '', /'broken' is left out: its factory failed: no key/)
  const unknown = await call(agent, 'broken', {})
  assert.deepEqual([unknown.type === 'failed' && unknown.code, /no key/.test(wordsOf(unknown))], ['NOT_FOUND', true])
})

test('N6: sleep waits and says for what, echo gives its message back when it is registered', async () => {
  const registry = createRegistry(createServices())
  registerBuiltins(registry)
  assert.ok(!registry.has('echo'))
  registry.register('echo', createEchoTool)
  const context = { callId: '1', projectId: 'p', agentId: 'main', signal: AbortSignal.timeout(60_000) }
  const said = async (name: string, args: JsonObject): Promise<string> => {
    const tool = registry.get(name)
    assert.ok(tool)
    return wordsOf(await executeTool(tool, args, { ...context, services: registry.services }))
  }
  assert.equal(await said('sleep', { seconds: 0.001, label: 'a moment' }), 'Slept 0.001s (a moment)')
  assert.match(await said('sleep', { seconds: 3601 }), /seconds/)
  assert.equal(await said('echo', { message: 'Hello' }), 'Hello')
})

test('X1, P7: a SKILL.md gives its fields, its body and the files beside it', async (t) => {
  const parsed = parseSkill(REPORT, { path: 'report/SKILL.md' })
  assert.deepEqual(parsed.diagnostics, [])
  const { document } = parsed
  assert.equal(document?.name, 'report')
  assert.equal(document.description, 'Writes reports. Use when asked for a report.')
  assert.equal(document.license, 'MIT')
  assert.equal(document.compatibility, 'Needs Python')
  assert.deepEqual(document.allowedTools, ['Bash', 'Read'])
  const agent = await open(t, folder(t, REPORT_FILES))
  const loaded = wordsOf(await call(agent, 'load_skill', { skill_name: 'report' }))
  for (const file of ['references/guide.md', 'scripts/make.sh', 'assets/logo.svg']) assert.ok(loaded.includes(file))
})

test('X2: a source that fails is reported, the rest load, and the higher tier hides a copy of the lower', async (t) => {
  const [here, there] = [folder(t, REPORT_FILES), folder(t, { ...REPORT_FILES, 'other/SKILL.md': skillFile('other') })]
  writeFileSync(join(there, 'report/references/guide.md'), 'Another guide.\n')
  const source = (id: string, tier: 'workspace' | 'bundled', path: string) =>
    createFolderSource({ id, tier, rank: 0, path, trusted: true })
  const broken = { ...source('broken', 'bundled', there), discover: () => Promise.reject(new Error('disk on fire')) }
  const sources = [source('lib', 'bundled', there), broken, source('mine', 'workspace', here)]
  const runtime = await createRuntime({ sources, facts: FACTS })
  t.after(() => runtime.close())
  const agent = runtime.openAgent()
  assert.deepEqual(
    agent.catalog().skills.map(({ name }) => name),
    ['other', 'report'],
  )
  assert.ok(agent.catalog().find('report')?.file.startsWith(here))
  assert.ok(runtime.diagnostics.some(({ message }) => message.includes('disk on fire')))
})

test('X5: a skill is ready, or held with every reason at once', async (t) => {
  const needs =
    'metadata:\n  nexus:\n    requires:\n      bins: [moon-lander]\n      env: [MOON_KEY]\n      config: [moon.enabled]\n'
  const agent = await open(t, folder(t, { 'moon/SKILL.md': skillFile('moon', needs), ...REPORT_FILES }))
  assert.deepEqual(
    agent.catalog().skills.map(({ name }) => name),
    ['report'],
  )
  assert.deepEqual(
    agent.catalog().held.map(({ reasons }) => reasons.map(({ text }) => text)),
    [['missing binary: moon-lander', 'missing env: MOON_KEY', 'config not truthy: moon.enabled']],
  )
})

test('P1, P2: the prompt has name and description, a tool gives the body, another one a file', async (t) => {
  const agent = await open(t, folder(t, REPORT_FILES))
  assert.match(agent.instructions(), /report[^]*Writes reports/)
  assert.doesNotMatch(agent.instructions(), /make\.sh/)
  assert.match(wordsOf(await call(agent, 'load_skill', { skill_name: 'report' })), /# Report/)
  const file = { skill_name: 'report', file_path: 'references/guide.md' }
  assert.match(wordsOf(await call(agent, 'read_skill_file', file)), /The guide\./)
  const empty = await open(t, folder(t, { 'NOTES.md': 'no skill' }))
  assert.deepEqual(
    empty
      .definitions()
      .map(({ name }) => name)
      .filter((name) => name.includes('skill')),
    [],
  )
})

test('M2, M3: Skill gives the base directory and the body with its arguments filled in, in an envelope', async (t) => {
  const root = folder(t, REPORT_FILES)
  const agent = await open(t, root, { surface: ['Skill'] })
  const { entry, outcome } = await agent.call({ tool: 'Skill', arguments: { name: 'report', args: 'sales' } })
  const content = outcome.type === 'failed' ? '' : String(outcome.data?.['content'])
  assert.ok(content.startsWith(`Base directory for this skill: ${join(root, 'report')}\n`), content)
  assert.ok(content.includes(`Run ${join(root, 'report')}/scripts/make.sh about sales.`), content)
  const envelope = toEnvelope(outcome, { timeMs: 1, cwd: '.', input: entry.call.arguments, root })
  assert.deepEqual(validateEnvelope(envelope), [])
})

test('M4: the prompt of Skill has rules and list within its budget', async (t) => {
  const many = Array.from({ length: 60 }, (_, index) => `skill-${String(index).padStart(2, '0')}`)
  const files = Object.fromEntries(many.map((name) => [`${name}/SKILL.md`, skillFile(name)]))
  const agent = await open(t, folder(t, files), { surface: ['Skill'], prompt: { style: 'list', budgetChars: 2_000 } })
  const { text } = agent.index()
  assert.ok(text.length <= 2_000, `${text.length} characters`)
  assert.match(text, /skill-00/)
  assert.match(agent.instructions(), /Skill/)
})

test('M6: an unknown skill, a wrong parameter and a path outside the skill each have their code', async (t) => {
  const agent = await open(t, folder(t, REPORT_FILES))
  const codeOf = async (tool: string, args: JsonObject): Promise<string> => {
    const outcome = await call(agent, tool, args)
    return outcome.type === 'failed' ? outcome.code : outcome.type
  }
  assert.equal(await codeOf('load_skill', { skill_name: 'reprot' }), 'NOT_FOUND')
  assert.equal(await codeOf('load_skill', { skill_name: 5 }), 'INVALID_PARAM')
  assert.equal(await codeOf('read_skill_file', { skill_name: 'report', file_path: '../x' }), 'ACCESS_DENIED')
})

test('B10: find_skills finds one of many by what it does', async (t) => {
  const many = Array.from({ length: 1_000 }, (_, index) => `skill-${index}`)
  const files = Object.fromEntries(many.map((name) => [`${name}/SKILL.md`, skillFile(name)]))
  const agent = await open(t, folder(t, { ...files, ...REPORT_FILES }))
  const outcome = await call(agent, 'find_skills', { query: 'write a report' })
  assert.match(toModelText(outcome), /report/)
})
