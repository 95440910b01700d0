import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import {
  changingState,
  clocksIn,
  importCycles,
  importsOf,
  readSource,
  ROOT,
  roomOf,
  SOURCE_FILES,
  withoutComments,
} from './source-tree.ts'

/** The rooms and what each may use, from the bottom up. A room is entered by its door, `index.ts`. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  files: [],
  yaml: ['kernel'],
  net: ['kernel'],
  host: ['kernel'],
  format: ['kernel', 'yaml'],
  'skill-files': ['kernel', 'files'],
  config: ['kernel', 'files', 'yaml'],
  gate: ['kernel'],
  catalog: ['kernel'],
  diagnose: ['kernel', 'catalog'],
  authorize: ['kernel'],
  store: ['kernel'],
  sources: ['kernel', 'files', 'skill-files', 'format'],
  sandbox: ['kernel', 'files', 'host', 'skill-files'],
  clients: ['kernel', 'files', 'host'],
  load: ['kernel', 'skill-files', 'format', 'sources', 'catalog', 'diagnose'],
  tools: ['kernel', 'files', 'net', 'load', 'sandbox', 'catalog'],
  runtime: [
    'kernel',
    'skill-files',
    'format',
    'sources',
    'gate',
    'catalog',
    'load',
    'authorize',
    'sandbox',
    'store',
    'tools',
  ],
  agents: ['kernel', 'config', 'runtime', 'tools', 'store', 'catalog'],
  testing: ['kernel', 'sandbox', 'store'],
  local: [
    'kernel',
    'config',
    'host',
    'gate',
    'catalog',
    'authorize',
    'sandbox',
    'sources',
    'store',
    'tools',
    'runtime',
  ],
  mcp: [
    'kernel',
    'skill-files',
    'format',
    'sources',
    'catalog',
    'load',
    'authorize',
    'store',
    'tools',
    'runtime',
    'local',
  ],
  cli: [
    ...['kernel', 'files', 'skill-files', 'format', 'config', 'sources', 'gate', 'catalog', 'load', 'authorize'],
    ...['sandbox', 'store', 'tools', 'diagnose', 'runtime', 'local', 'mcp', 'clients', 'agents', 'testing'],
  ],
  public: [
    ...['kernel', 'format', 'config', 'sources', 'catalog', 'authorize', 'sandbox', 'store', 'tools'],
    ...['runtime', 'local', 'agents', 'testing'],
  ],
}

/** These stages are functions of their arguments: no file system, no network, no process. */
const PURE_ROOMS = ['kernel', 'yaml', 'gate', 'authorize', 'format', 'catalog', 'diagnose']
const BUILTINS_OF_PURE_ROOMS = ['node:crypto', 'node:path', 'node:util', 'node:buffer']

const VAGUE_NAMES = ['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'manager', 'service', 'shared', 'lib']
const MOST_LINES_IN_A_FILE = 300

test('the walk sees every room of the table and enough files', () => {
  assert.deepEqual([...new Set(SOURCE_FILES.map(roomOf))].sort(), Object.keys(MAY_USE).sort())
  assert.ok(SOURCE_FILES.length >= 60, `only ${SOURCE_FILES.length} files seen`)
  assert.ok(SOURCE_FILES.flatMap(importsOf).length >= 150, 'hardly any import seen: is the pattern still right?')
})

test('a room uses only rooms listed before it, so there is no way back up', () => {
  const rooms = Object.keys(MAY_USE)
  const upward = rooms.flatMap((room, index) =>
    (MAY_USE[room] ?? []).filter((used) => !rooms.slice(0, index).includes(used)).map((used) => `${room} -> ${used}`),
  )
  assert.deepEqual(upward, [])
})

test('imports stay within the table and enter by the door', () => {
  const broken = SOURCE_FILES.flatMap(importsOf).flatMap(({ from, to }) => {
    if (to === undefined || to === 'package.json' || roomOf(from) === roomOf(to)) return []
    const [user, used] = [roomOf(from), roomOf(to)]
    if (!MAY_USE[user]?.includes(used)) return [`${from} -> ${to}: ${user} may not use ${used}`]
    return to === `src/${used}/index.ts` ? [] : [`${from} -> ${to}: enter by ${used}/index.ts`]
  })
  assert.deepEqual(broken, [])
})

test('relative imports name files that exist, with their extension', () => {
  const broken = SOURCE_FILES.flatMap(importsOf).filter(({ to }) => to !== undefined && !existsSync(join(ROOT, to)))
  assert.deepEqual(
    broken.map(({ from, specifier }) => `${from}: ${specifier}`),
    [],
  )
})

test('nobody imports the package by its own name', () => {
  const broken = SOURCE_FILES.flatMap(importsOf).filter(({ specifier }) => /^nexus-skills(?:\/|$)/.test(specifier))
  assert.deepEqual(
    broken.map(({ from, specifier }) => `${from}: ${specifier}`),
    [],
  )
})

test('every room has a door that begins with its purpose and exports names only', () => {
  const broken = Object.keys(MAY_USE).flatMap((room) => {
    const door = `src/${room}/index.ts`
    // The command's door is the program itself; each file of public/ is an entry of the package.
    if (room === 'cli' || room === 'public') return []
    if (!existsSync(join(ROOT, door))) return [`${door} is missing`]
    const text = readSource(door)
    const faults = []
    if (!/^\/[*/]/.test(text)) faults.push(`${door}: the first line is not a comment with the purpose`)
    if (/^export \*/m.test(text)) faults.push(`${door}: export * hides what is public`)
    return faults
  })
  assert.deepEqual(broken, [])
})

test('pure rooms reach no file system, network or process', () => {
  const broken = SOURCE_FILES.filter((file) => PURE_ROOMS.includes(roomOf(file)))
    .flatMap(importsOf)
    .filter(({ specifier }) => specifier.startsWith('node:') && !BUILTINS_OF_PURE_ROOMS.includes(specifier))
  assert.deepEqual(
    broken.map(({ from, specifier }) => `${from}: ${specifier}`),
    [],
  )
})

test('pure rooms read no clock, no timer and no chance; the clock that others are given is in one file', () => {
  const readers = SOURCE_FILES.filter(
    (file) => PURE_ROOMS.includes(roomOf(file)) && clocksIn(readSource(file)).length > 0,
  )
  assert.deepEqual(readers, ['src/kernel/clock.ts'])
  for (const text of ['Date.now()', 'new Date()', 'performance.now()', 'setTimeout(f, 1)', 'Math.random()'])
    assert.equal(clocksIn(text).length, 1, text)
  for (const text of ['new Date(ms)', 'clock.now()', '// Date.now()']) assert.deepEqual(clocksIn(text), [], text)
})

test('only host/ and sandbox/ start processes, and the command the Node that it needs', () => {
  const starters = SOURCE_FILES.flatMap(importsOf)
    .filter(({ specifier }) => /^(?:node:)?child_process$/.test(specifier))
    .map(({ from }) => from)
  assert.deepEqual([...new Set(starters)].toSorted(), [
    'src/cli/bin.cts',
    'src/host/run-program.ts',
    'src/sandbox/local/connection.ts',
    'src/sandbox/none.ts',
    'src/sandbox/runner/command.ts',
    'src/sandbox/runner/pipes.ts',
  ])
})

/** What opens connections, or waits for them, and who may import it besides net/, with the reason. */
const NETWORK = /^(?:(?:node:)?(?:net|tls|https?|http2|dns|dgram|inspector)(?:\/.*)?|pg|undici|ai|@ai-sdk\/.*)$/
const NETWORK_USERS: Readonly<Record<string, string>> = {
  'src/agents/model-step.ts: ai': 'the AI SDK sends the requests to models with the fetch of Node',
  'src/agents/model/open-model.ts: @ai-sdk/anthropic': 'a provider of the AI SDK',
  'src/agents/model/open-model.ts: @ai-sdk/openai': 'a provider of the AI SDK',
  'src/agents/model/open-model.ts: @ai-sdk/openai-compatible': 'a provider of the AI SDK',
  'src/agents/model/open-model.ts: ai': 'types of a model',
  'src/mcp/http/guard.ts: node:http': 'the type of a request',
  'src/mcp/http/serve-http.ts: node:http': 'a server on loopback, with a key',
  'src/mcp/http/serve-http.ts: node:net': 'the type of an address',
  'src/sandbox/runner/pipes.ts: node:net': 'reads pipes that it inherited; it connects to nothing',
  'src/store/postgres/pool.ts: pg': 'connects to the database that the user configured',
  'src/testing/model-server.ts: node:http': 'a server for tests, on loopback',
  'src/testing/model-server.ts: node:net': 'the type of an address',
  'src/testing/send-reply.ts: node:http': 'the type of a response',
}

test('only net/ reaches the network, besides the files that are listed with their reason', () => {
  const users = SOURCE_FILES.filter((file) => roomOf(file) !== 'net')
    .flatMap(importsOf)
    .filter(({ specifier }) => NETWORK.test(specifier))
    .map(({ from, specifier }) => `${from}: ${specifier}`)
  assert.deepEqual([...new Set(users)].sort(), Object.keys(NETWORK_USERS).sort())
})

test('nothing calls the fetch of Node, or another global that dials: of the packages only the AI SDK does', () => {
  const callers = SOURCE_FILES.filter((file) => dials(readSource(file)))
  assert.deepEqual(callers, [])
  for (const text of [
    'await fetch(url)',
    'globalThis.fetch',
    '{ fetch }',
    'new WebSocket(url)',
    'new EventSource(url)',
  ])
    assert.ok(dials(text), text)
  for (const text of ['// fetch(url)', "'fetch failed'", 'prefetch(url)', 'fetched']) assert.ok(!dials(text), text)
})

function dials(text: string): boolean {
  return /\bglobalThis\s*\.\s*fetch\b|(?<![\w.'"])fetch\s*[(,}]|\bnew (?:WebSocket|EventSource)\b/.test(
    withoutComments(text),
  )
}

test('only config/ reads the environment', () => {
  const readers = SOURCE_FILES.filter((file) =>
    /\bprocess\s*\.\s*env\b|\benv\b[^=]*=\s*process\b/.test(withoutComments(readSource(file))),
  )
  assert.deepEqual(
    readers.filter((file) => roomOf(file) !== 'config'),
    // It runs before the code that it makes faster is loaded.
    ['src/cli/compile-cache.ts'],
  )
})

test('the rules about imports are nowhere switched off', () => {
  const broken = SOURCE_FILES.filter((file) =>
    /(?:oxlint|eslint)-disable[^\n]*(?:import\/|no-restricted-imports|no-process-env)|@ts-(?:nocheck|ignore)/.test(
      readSource(file),
    ),
  )
  assert.deepEqual(broken, [])
})

test('a file has at most 300 lines', () => {
  const long = SOURCE_FILES.map((file) => ({ file, lines: readSource(file).split('\n').length - 1 }))
    .filter(({ lines }) => lines > MOST_LINES_IN_A_FILE)
    .map(({ file, lines }) => `${file}: ${lines} lines`)
  assert.deepEqual(long, [])
})

test('names say what a file holds', () => {
  const words = (file: string): string[] => [...dirname(file).split('/').slice(1), basename(file).replace(/\..*$/, '')]
  const vague = SOURCE_FILES.filter((file) => words(file).some((word) => VAGUE_NAMES.includes(word)))
  const notKebab = SOURCE_FILES.filter((file) => words(file).some((word) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(word)))
  assert.deepEqual([...vague, ...notKebab], [])
})

test('modules keep no state that changes', () => {
  const stateful = SOURCE_FILES.flatMap((file) => changingState(readSource(file)).map((name) => `${file}: ${name}`))
  // A memory by the schema object itself, and weak: what it keeps is the same for every caller.
  assert.deepEqual(stateful, ['src/tools/json-schema.ts: compiled'])
})

test('there is no cycle, type imports included', () => {
  assert.deepEqual(importCycles(), [])
})
