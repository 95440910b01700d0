import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'

import { readEnvironment } from '../../src/config/index.ts'
import { succeeded } from '../../src/kernel/index.ts'
import { type LocalOptions, openLocal } from '../../src/local/open-local.ts'
import type { ReloadEvent } from '../../src/public/index.ts'

/** A workspace whose nexus.yaml of the user says what to do about changes. */
async function open(
  t: TestContext,
  { watch, settings = '', ...options }: LocalOptions & { watch: boolean; settings?: string },
) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-reload-')))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const [cwd, nexusHome] = [join(directory, 'work'), join(directory, 'home')]
  mkdirSync(cwd)
  mkdirSync(nexusHome)
  writeFileSync(
    join(nexusHome, 'nexus.yaml'),
    `skills:\n  load: { watch: ${watch}, watchDebounceMs: 20 }\n${settings}\n`,
  )
  const environment = readEnvironment({ HOME: directory, NEXUS_HOME: nexusHome, PATH: '' })
  const local = await openLocal({ cwd, environment, sandbox: 'none', record: 'memory', ...options })
  t.after(() => local.close())
  return {
    local,
    write: (name: string) => {
      const skill = join(nexusHome, 'skills', name)
      mkdirSync(skill, { recursive: true })
      writeFileSync(join(skill, 'SKILL.md'), `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo it.\n`)
    },
  }
}

test('a long-running program follows changes when skills.load.watch says so', { timeout: 30_000 }, async (t) => {
  const reloaded = Promise.withResolvers<ReloadEvent>()
  const { local, write } = await open(t, { watch: true, isLongRunning: true, onReload: reloaded.resolve })
  // What is awaited here keeps no process alive by itself.
  const alive = setInterval(() => undefined, 1_000)
  t.after(() => clearInterval(alive))
  assert.ok(local.watcher)
  write('fresh')
  const event = await reloaded.promise
  assert.equal(event.type, 'reloaded')
  assert.deepEqual(event.agents[0]?.added, ['fresh'])
  assert.ok(local.runtime.openAgent().catalog().find('fresh'))
})

test('a command that ends soon does not watch, and neither does a program whose configuration does not say so', async (t) => {
  assert.equal((await open(t, { watch: true })).local.watcher, undefined)
  assert.equal((await open(t, { watch: false, isLongRunning: true })).local.watcher, undefined)
})

test('a tool of the caller is registered, and policy decides about it as about any other', async (t) => {
  const { local } = await open(t, {
    watch: false,
    registerTools: (registry) =>
      registry.register('add', () => ({
        name: 'add',
        description: 'Adds two numbers.',
        parameters: { type: 'object' },
        execute: ({ a, b }) => Promise.resolve(succeeded(String(Number(a) + Number(b)))),
      })),
  })
  const { outcome, decision } = await local.runtime.openAgent().call({ tool: 'add', arguments: { a: 2, b: 3 } })
  assert.equal(decision.type, 'allow')
  assert.equal(outcome.type === 'success' && outcome.text, '5')
})

test('an answer that is remembered in one workspace covers no call in another one of the same state file', async (t) => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-scope-')))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const environment = readEnvironment({ HOME: directory, NEXUS_HOME: join(directory, 'home'), PATH: '/usr/bin:/bin' })
  mkdirSync(join(directory, 'home'))
  writeFileSync(join(directory, 'home', 'nexus.yaml'), 'agents: [{ id: main, tools: { ask: [run_command] } }]\n')
  const rules: string[] = []
  for (const name of ['a', 'b', 'a']) {
    const cwd = join(directory, name)
    mkdirSync(cwd, { recursive: true })
    const approve = () => Promise.resolve({ isAllowed: true, by: `ada in ${name}`, remember: 'exact' as const })
    const local = await openLocal({ cwd, environment, sandbox: 'none', approve })
    const call = { tool: 'run_command', arguments: { command: 'true' } }
    rules.push((await local.runtime.openAgent().call(call)).decision.rule)
    await local.close()
  }
  const asked = ['a', 'b'].map((name) => `ask run_command, approved by ada in ${name}`)
  assert.deepEqual(rules, [...asked, 'ask run_command, remembered'])
})

test('store.events bounds which events are kept: trimmed when a process begins to write, the sessions stay', async (t) => {
  const { local } = await open(t, { watch: false, record: 'sqlite', settings: 'store: { events: { maxRows: 2 } }' })
  const { store } = local
  for (const id of ['one', 'two', 'three']) await store.sessions.create({ id, agentId: 'main', title: '' })
  const [, two] = await store.events.after(0)
  await local.runtime.openAgent().lease()
  assert.deepEqual(
    (await store.events.after(0)).map(({ id, sessionId }) => [id, sessionId]),
    [
      [two?.id, 'two'],
      [(two?.id ?? 0) + 1, 'three'],
    ],
  )
  assert.equal((await store.sessions.list()).length, 3)
})

test('runtimes of two workspaces, opened at once in one process on the default state, all record their calls', async (t) => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-two-')))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const environment = readEnvironment({ HOME: directory, NEXUS_HOME: join(directory, 'home'), PATH: '/usr/bin:/bin' })
  const locals = await Promise.all(
    ['a', 'b'].map((name) => {
      const cwd = join(directory, name)
      mkdirSync(cwd)
      return openLocal({ cwd, environment, sandbox: 'none' })
    }),
  )
  const call = { tool: 'run_command', arguments: { command: 'true' } }
  const calls = Array.from({ length: 6 }, (_, at) => locals[at % 2]?.runtime.openAgent().call(call))
  for (const done of await Promise.all(calls)) assert.equal(done?.entry.state, 'done')
  assert.equal((await locals[0]?.store.ledger.list())?.length, 6)
  await Promise.all(locals.map((local) => local.close()))
})

test('a directory that does not exist is refused, and so is a file', async (t) => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-cwd-')))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const environment = readEnvironment({ HOME: directory, NEXUS_HOME: join(directory, 'home'), PATH: '' })
  writeFileSync(join(directory, 'file'), '')
  for (const name of ['nosuch', 'file'])
    await assert.rejects(openLocal({ cwd: join(directory, name), environment, sandbox: 'none' }), {
      code: 'FILE_NOT_FOUND',
      message: `${join(directory, name)} is not a directory, so there is no workspace.`,
      fix: 'Make the directory, or pass another one as cwd.',
    })
})

test('the store is that of the runtime, also where nothing is kept', async (t) => {
  const { local } = await open(t, { watch: false })
  assert.equal(local.store, local.runtime.store)
})

test('two workspaces of one process record into one state file at once', async (t) => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-two-')))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const environment = readEnvironment({ HOME: directory, NEXUS_HOME: join(directory, 'home'), PATH: '' })
  const locals = await Promise.all(
    ['one', 'two'].map((name) => {
      mkdirSync(join(directory, name))
      return openLocal({ cwd: join(directory, name), environment, sandbox: 'none' })
    }),
  )
  const [one, two] = locals
  assert.ok(one && two)
  const agents = locals.map(({ runtime }) => runtime.openAgent())
  const calls = agents.flatMap((agent) =>
    Array.from({ length: 20 }, () => agent.call({ tool: 'list_files', arguments: {} })),
  )
  await Promise.all(calls)
  for (const { store } of locals) assert.equal((await store.ledger.list()).length, 40)
  await one.close()
  await agents[1]?.call({ tool: 'list_files', arguments: {} })
  assert.equal((await two.store.ledger.list()).length, 41, 'the other one goes on')
  await two.close()
})
