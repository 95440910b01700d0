import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createSkillSearch } from '../../src/skills/catalog/index.ts'
import { failed, type FailureCode, type JsonObject, type Services, succeeded } from '../../src/kernel/index.ts'
import { createScriptedSandbox, validateEnvelope } from '../../src/testing/index.ts'
import {
  AGENT_STATUS,
  BUILTIN_TOOLS,
  createEchoTool,
  createRegistry,
  createServices,
  executeTool,
  LOADER,
  registerBuiltins,
  type Registry,
  SANDBOX,
  SKILL_SEARCH,
  toEnvelope,
  WEB,
  WORKSPACE,
} from '../../src/tools/index.ts'
import type { NetOptions } from '../../src/machine/net/index.ts'
import { PUBLIC } from '../machine/net/rig.ts'
import { contextOf, loaderOver, SKILLS } from './rig.ts'

const OPTIONS = { timeMs: 12.4, cwd: '.', input: { a: 1 }, root: '/project' }
const errorsOf = (value: unknown): string[] =>
  validateEnvelope(value)
    .filter(({ severity }) => severity === 'error')
    .map(({ rule }) => rule)

describe('toEnvelope', () => {
  it('gives exactly the keys of the protocol for a success', () => {
    const outcome = succeeded('Read the file.', { content: 'x' }, { stats: { bytes: 1 }, path: '/project/docs/a.md' })
    assert.deepEqual(toEnvelope(outcome, OPTIONS), {
      status: 'success',
      data: { content: 'x' },
      text: 'Read the file.',
      stats: { bytes: 1, time_ms: 12 },
      context: { cwd: '.', params_input: { a: 1 }, path_resolved: 'docs/a.md' },
    })
  })

  it('gives an error with its code, an object as data and the next step', () => {
    const { status, data, text, error } = toEnvelope(failed('NOT_FOUND', `Skill 'x' not found.`), OPTIONS)
    assert.deepEqual([status, data, error], ['error', {}, { code: 'NOT_FOUND', message: `Skill 'x' not found.` }])
    assert.match(text, /^Skill 'x' not found\. Check the name/)
  })

  it('counts at least a millisecond, whatever a tool claims', () => {
    const outcome = succeeded('Quick and done.', {}, { stats: { time_ms: -5 } })
    assert.equal(toEnvelope(outcome, { ...OPTIONS, timeMs: 0 }).stats.time_ms, 1)
  })

  it('writes no absolute path', () => {
    const outcome = succeeded('Read the file.', {}, { path: '/elsewhere/a.md' })
    assert.equal(toEnvelope(outcome, { timeMs: 1, cwd: '.', input: {} }).context.path_resolved, undefined)
    assert.equal(toEnvelope(outcome, OPTIONS).context.path_resolved, '../elsewhere/a.md')
  })
})

describe('the envelope of every tool that ships', () => {
  let workspace = ''
  let registry: Registry
  let services: Services
  let server: Server
  before(async () => {
    workspace = await realpath(await mkdtemp(join(tmpdir(), 'nexus-tools-')))
    for (const [name, text] of Object.entries({
      'a.md': 'The first line.\nThe second line.\n',
      'empty.md': '',
      'a.bin': '\0',
    }))
      writeFileSync(join(workspace, name), text)
    mkdirSync(join(workspace, 'many'))
    for (let index = 0; index < 1_001; index++) writeFileSync(join(workspace, 'many', `file-${index}`), '')
    services = createServices()
    services.register(LOADER, await loaderOver())
    services.register(WORKSPACE, workspace)
    services.register(
      SANDBOX,
      createScriptedSandbox({
        script: ({ command }) => {
          if (command === 'big') return { stdout: 'x\n'.repeat(40_000) }
          if (command === 'killed') return { end: 'killed', exitCode: 137, stdout: 'so far' }
          return command === 'hang' ? { hang: true, stdout: 'so far' } : { exitCode: 1, stderr: 'no' }
        },
      }),
    )
    server = createServer(answerPages).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const search = { provider: 'searxng', url: `http://127.0.0.1:${port}` } as const
    services.register(WEB, { net: loopbackNet(port), search })
    services.register(SKILL_SEARCH, createSkillSearch([]))
    services.register(AGENT_STATUS, () => ({
      ...{ agent: 'main', session: null, tools: ['status'], asks: [], workspace },
      skills: { ready: 1, held: 0 },
    }))
    registry = createRegistry(services)
    registerBuiltins(registry)
    registry.register('echo', createEchoTool)
  })
  after(async () => {
    server.close()
    await rm(workspace, { recursive: true, force: true })
  })

  const calls: readonly (readonly [string, JsonObject, 'success' | 'partial' | 'error'])[] = [
    ['load_skill', { skill_name: 'report' }, 'success'],
    ['load_skill', { skill_name: 'report', unknown: 1 }, 'success'],
    ['load_skill', { skill_name: 'long' }, 'partial'],
    ['load_skill', { skill_name: 'nothing' }, 'error'],
    ['load_skill', {}, 'error'],
    ['read_skill_file', { skill_name: 'report', file_path: 'guide.md' }, 'success'],
    ['read_skill_file', { skill_name: 'report', file_path: 'empty.md' }, 'success'],
    ['read_skill_file', { skill_name: 'report', file_path: 'dot.png' }, 'success'],
    ['read_skill_file', { skill_name: 'report', file_path: 'long.md' }, 'partial'],
    ['read_skill_file', { skill_name: 'report', file_path: 'nothing.md' }, 'error'],
    ['read_skill_file', { skill_name: 'report', file_path: '../greet/SKILL.md' }, 'error'],
    ['Skill', { name: 'greet', args: 'Ada' }, 'success'],
    ['Skill', { name: 'long' }, 'partial'],
    ['Skill', { name: '' }, 'error'],
    ['read_file', { path: 'a.md' }, 'success'],
    ['read_file', { path: 'a.md', limit: 1 }, 'partial'],
    ['read_file', { path: 'empty.md' }, 'success'],
    ['read_file', { path: 'nothing.md' }, 'error'],
    ['read_file', { path: 'a.bin' }, 'error'],
    ['read_file', { path: '../a.md' }, 'error'],
    ['read_file', {}, 'error'],
    ['write_file', { path: 'new/b.md', content: 'A line.' }, 'success'],
    ['write_file', { path: 'new/b.md', content: ' More.', append: true }, 'success'],
    ['write_file', { path: '.git/config', content: '' }, 'error'],
    ['write_file', { path: 'new', content: '' }, 'error'],
    ['edit_file', { path: 'a.md', old_string: 'second', new_string: 'last' }, 'success'],
    ['edit_file', { path: 'a.md', old_string: 'none', new_string: 'last' }, 'error'],
    ['edit_file', { path: 'a.md', old_string: 'line', new_string: 'row' }, 'error'],
    ['list_directory', {}, 'success'],
    ['list_directory', { path: 'many' }, 'partial'],
    ['list_directory', { path: 'a.md' }, 'error'],
    ['find_skills', { query: 'report' }, 'success'],
    ['find_skills', { query: ' ' }, 'error'],
    ['status', {}, 'success'],
    ['run_command', { command: 'false' }, 'success'],
    ['run_command', { command: 'big' }, 'partial'],
    ['run_command', { command: 'hang', timeout_sec: 0.01 }, 'error'],
    ['run_command', { command: 'killed' }, 'error'],
    ['run_command', { command: ' ' }, 'error'],
    ['sleep', { seconds: 0, label: 'a service' }, 'success'],
    ['sleep', { seconds: 3601 }, 'error'],
    ['echo', { message: 'hello there' }, 'success'],
    ['web_fetch', { url: 'http://public.test/page' }, 'success'],
    ['web_fetch', { url: 'http://public.test/long' }, 'partial'],
    ['web_fetch', { url: 'http://public.test/image' }, 'error'],
    ['web_fetch', { url: 'http://public.test/nothing' }, 'error'],
    ['web_fetch', { url: 'http://127.0.0.1/' }, 'error'],
    ['web_fetch', { url: '' }, 'error'],
    ['web_search', { query: 'found' }, 'success'],
    ['web_search', { query: 'nothing' }, 'success'],
    ['web_search', { query: 'broken' }, 'error'],
    ['web_search', { query: 'found', count: 99 }, 'error'],
  ]
  for (const [name, input, status] of calls) {
    it(`is sound: ${name} ${JSON.stringify(input)} is ${status}`, async () => {
      const tool = registry.get(name)
      assert.ok(tool)
      const outcome = await executeTool(tool, input, contextOf({ services }))
      const envelope = toEnvelope(outcome, { timeMs: 3, cwd: '.', input, root: SKILLS })
      assert.equal(envelope.status, status)
      assert.deepEqual(validateEnvelope(envelope), [])
    })
  }

  it('covers every tool that ships', () => {
    const called = [...new Set(calls.map(([name]) => name))].toSorted()
    assert.deepEqual(called, [...registry.names].toSorted())
    assert.deepEqual(called, [...BUILTIN_TOOLS.map(({ name }) => name), 'echo'].toSorted())
  })

  it('is sound for every way to fail', () => {
    for (const code of FAILURES) assert.deepEqual(errorsOf(toEnvelope(failed(code, 'It failed.'), OPTIONS)), [], code)
  })
})

const PAGES: Readonly<Record<string, readonly [type: string, body: string]>> = {
  '/page': ['text/html', '<h1>Hello</h1>'],
  '/long': ['text/plain', 'line\n'.repeat(5000)],
  '/image': ['image/png', 'x'],
  '/search?q=found&format=json': ['application/json', '{"results": [{"title": "A", "url": "https://a.test/"}]}'],
  '/search?q=nothing&format=json': ['application/json', '{"results": []}'],
  '/search?q=broken&format=json': ['application/json', '<html>'],
}

function answerPages({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const [type, body] = PAGES[url] ?? []
  response.writeHead(body === undefined ? 404 : 200, { ...(type !== undefined && { 'content-type': type }) }).end(body)
}

/** Every name is a public address, and every connection goes to this port of loopback. */
function loopbackNet(port: number): NetOptions {
  return {
    lookup: () => Promise.resolve([{ address: PUBLIC }]),
    connect: async () => {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      return socket
    },
  }
}

const FAILURES: readonly FailureCode[] = [
  'NOT_FOUND',
  'ACCESS_DENIED',
  'PERMISSION_DENIED',
  'INVALID_PARAM',
  'TIMEOUT',
  'CANCELLED',
  'INTERNAL_ERROR',
  'EXECUTION_ERROR',
  'CONFLICT',
  'IS_DIRECTORY',
  'BINARY_FILE',
  'CIRCUIT_OPEN',
  'INTERRUPTED',
]
