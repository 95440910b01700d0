/** Tools of modules that nexus.yaml names: every form, every way to be broken, and who may name them. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { loadModule } from '../../src/local/custom-tools/load-module.ts'
import type { AgentHandle, JsonObject, Outcome } from '../../src/public/index.ts'
import { type Local, openLocal, readEnvironment } from '../../src/public/local.ts'

interface Opened {
  readonly local: Local
  readonly root: string
  call(tool: string, args?: JsonObject): Promise<Outcome>
}

/** A home, a workspace and their files; the workspace is trusted unless said otherwise. */
async function open(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  { trusted = true }: { readonly trusted?: boolean } = {},
): Promise<Opened> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-custom-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const directory of ['home', 'work']) mkdirSync(join(root, directory))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const environment = readEnvironment({ HOME: root, NEXUS_HOME: join(root, 'home'), PATH: '' })
  const local = await openLocal({ cwd: join(root, 'work'), environment, sandbox: 'none', record: 'memory', trusted })
  t.after(() => local.close())
  const agent: AgentHandle = local.runtime.openAgent()
  const call = async (tool: string, args: JsonObject = {}): Promise<Outcome> =>
    (await agent.call({ tool, arguments: args })).outcome
  return { local, root, call }
}

const custom = (...modules: readonly string[]): string => `skills: { custom: [${modules.join(', ')}] }\n`
const wordsOf = (outcome: Outcome): string => (outcome.type === 'failed' ? outcome.message : outcome.text)
const messages = ({ local }: Opened): string[] => local.diagnostics.map(({ message }) => message)

const tool = (name: string, body = 'async () => "done"'): string =>
  `{ name: '${name}', description: 'Does it.', parameters: { type: 'object', properties: { city: { type: 'string' } } }, execute: ${body} }`

test('a TypeScript module gives one tool; its arguments are checked and it is offered to the model', async (t) => {
  const weather = tool('weather', 'async ({ city }: { city: string }) => `Sun in ${city}`').replace(
    'properties: {',
    "required: ['city'], properties: {",
  )
  const opened = await open(t, {
    'home/nexus.yaml': custom('./tools/weather.ts#default'),
    'home/tools/weather.ts': `type Unused = string\nexport default ${weather}`,
  })
  assert.deepEqual(messages(opened), [])
  assert.equal(wordsOf(await opened.call('weather', { city: 'Bonn' })), 'Sun in Bonn')
  assert.match(wordsOf(await opened.call('weather', {})), /city is required/)
  const { registry, ...agent } = opened.local.runtime.openAgent()
  void agent
  assert.ok(
    opened.local.runtime
      .openAgent()
      .definitions()
      .some(({ name }) => name === 'weather'),
  )
  assert.equal(registry.ownerOf('weather'), join(opened.root, 'home/tools/weather.ts'))
  assert.equal(registry.ownerOf('sleep'), 'nexus')
  assert.equal(registry.ownerOf('nothing'), undefined)
})

test('a list, a named export, a factory of services, a class and an object of them give tools', async (t) => {
  const described = `[{ name: 'NAME', description: 'Does it.', parameters: { type: 'object' } }]`
  const opened = await open(t, {
    'home/nexus.yaml': custom('./list.mjs', './named.mjs#one', './factory.mjs', './class.mjs', './object.mjs', 'pack'),
    'home/list.mjs': `export default [${tool('first')}, ${tool('second')}]`,
    'home/named.mjs': `export const one = ${tool('named')}; export const other = ${tool('other')}`,
    'home/factory.mjs': `export default (services) => (${tool('factory', 'async () => services.names().includes("workspace") ? "services" : "none"')})`,
    'home/class.mjs': `export default class Weather {
      constructor(services) { this.calls = 0; this.services = services }
      getTools() { return ${described.replace('NAME', 'counted')} }
      async execute(tool, args) { return { success: true, output: tool + ++this.calls, error: null } }
    }`,
    'home/object.mjs': `export default {
      getTools: () => ${described.replace('NAME', 'refusing')},
      execute: () => ({ success: false, output: '', error: 'not today' }),
    }`,
    'home/node_modules/pack/package.json': '{ "name": "pack", "main": "main.mjs" }',
    'home/node_modules/pack/main.mjs': `export default ${tool('packed')}`,
  })
  assert.deepEqual(messages(opened), [])
  const said = async (name: string): Promise<string> => wordsOf(await opened.call(name))
  assert.deepEqual(
    [await said('first'), await said('second'), await said('named'), await said('packed'), await said('factory')],
    ['done', 'done', 'done', 'done', 'services'],
  )
  assert.deepEqual([await said('counted'), await said('counted')], ['counted1', 'counted2'])
  assert.match(await said('refusing'), /not today/)
  assert.match(await said('other'), /Unknown tool/)
})

const BROKEN: Readonly<Record<string, readonly [text: string | undefined, reason: RegExp]>> = {
  'missing.ts': [undefined, /the file does not exist/],
  'throws.mjs': ['throw new Error("no\\u001b[31m key")', /it failed: no key/],
  'syntax.mjs': ['export default {', /it failed: /],
  'import.mjs': ['import "./nothing.mjs"', /it failed: .*nothing\.mjs/],
  'enum.ts': ['enum A { B }\nexport default A', /it failed: .*enum/],
  'empty.mjs': ['export const a = 1, b = 2', /it has no export 'default' \(a, b\)/],
  'number.mjs': ['export default 7', /it gives no tool/],
  'null.mjs': ['export default null', /it gives no tool/],
  'nameless.mjs': [`export default { execute() {} }`, /a tool of it has no name/],
  'plain.mjs': [`export default { name: 'plain', description: 'x', execute() {} }`, /'plain' has no parameters/],
  'bad-name.mjs': [`export default ${tool('bad name')}`, /bad name/],
  'silent.mjs': [`export default ${tool('silent').replace('Does it.', ' ')}`, /no description/],
  'factory.mjs': ['export default () => { throw new TypeError("no service") }', /it failed: no service/],
  'promise.mjs': ['export default async () => { throw new Error("x") }', /its factory returns a promise/],
  'class.mjs': ['export default class { getTools() { return 7 } execute() {} }', /getTools\(\) returns no list/],
  'shadow.mjs': [`export default ${tool('Read_File')}`, /Nexus ships a tool of that name/],
  'search.mjs': [`export default ${tool('web_search')}`, /Nexus ships a tool of that name/],
  'mcp.mjs': [`export default ${tool('mcp:a.b')}`, /names that begin so belong to Nexus/],
  'twice.mjs': [`export default ${tool('good')}`, /good\.mjs has a tool of that name/],
}

test('a broken module is named with its file, reason and place, and stops no other one', async (t) => {
  const files = Object.fromEntries(
    Object.entries(BROKEN).flatMap(([name, [text]]) => (text === undefined ? [] : [[`home/${name}`, text]])),
  )
  const names = Object.keys(BROKEN)
  const opened = await open(t, {
    ...files,
    'home/good.mjs': `export default ${tool('good')}`,
    'home/nexus.yaml': custom('./good.mjs', ...names.map((name) => `./${name}`), './good.mjs#other', 'no-such-package'),
  })
  assert.equal(wordsOf(await opened.call('good')), 'done')
  const found = opened.local.diagnostics
  for (const [name, [, reason]] of Object.entries(BROKEN)) {
    const about = found.filter(({ subject }) => subject === `skills.custom[${names.indexOf(name) + 1}]`)
    assert.equal(about.length, 1, `${name}: ${JSON.stringify(about)}`)
    assert.match(about[0]?.message ?? '', reason)
    assert.ok(about[0]?.message.includes(name), about[0]?.message)
    assert.deepEqual([about[0]?.path, about[0]?.line], [join(opened.root, 'home/nexus.yaml'), 1])
    assert.ok(about[0]?.fix)
  }
  assert.equal(found.length, names.length + 2)
  assert.match(found.map(({ message }) => message).join('\n'), /no-such-package.*not installed beside/)
})

test('a module that never ends loading does not keep the others waiting', async (t) => {
  const { root } = await open(t, { 'home/never.mjs': 'await new Promise(() => setInterval(() => {}, 1000).unref())' })
  const module = join(root, 'home/never.mjs')
  await assert.rejects(loadModule({ module, exported: 'default' }, { from: root, loadMs: 5 }), {
    message: 'it was not loaded within 0.005 s',
  })
})

test('what an untrusted workspace names is not loaded; a trusted one is, and policy decides about its tools', async (t) => {
  const files = {
    'work/nexus.yaml': `${custom('./tools/mine.mjs')}agents: [{ id: main, tools: { deny: [other] } }]\n`,
    'work/tools/mine.mjs': `globalThis.nexusCustomLoaded = true\nexport default [${tool('mine')}, ${tool('other')}]`,
  }
  const untrusted = await open(t, files, { trusted: false })
  assert.ok(!('nexusCustomLoaded' in globalThis))
  assert.match(wordsOf(await untrusted.call('mine')), /Unknown tool/)
  const trusted = await open(t, files)
  assert.deepEqual(messages(trusted), [])
  assert.equal(wordsOf(await trusted.call('mine')), 'done')
  assert.match(wordsOf(await trusted.call('other')), /denied by rule/)
})

test('a package is searched beside the file that names it, not in the workspace', async (t) => {
  const opened = await open(t, {
    'home/nexus.yaml': custom('pack'),
    'work/node_modules/pack/package.json': '{ "name": "pack", "main": "main.mjs" }',
    'work/node_modules/pack/main.mjs': `export default ${tool('packed')}`,
  })
  assert.match(messages(opened).join(), /pack are left out: the package is not installed beside/)
})
