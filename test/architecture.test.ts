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
  moduleOf,
  SOURCE_FILES,
  withoutComments,
} from './source-tree.ts'

/** The groups of `src/`, top to bottom, and the groups that each may use. A group with modules lists them in MODULES. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  yaml: ['kernel'],
  machine: ['kernel'],
  store: ['kernel', 'machine'],
  config: ['kernel', 'yaml', 'machine'],
  skills: ['kernel', 'yaml', 'machine'],
  authorize: ['kernel'],
  tools: ['kernel', 'machine', 'skills'],
  runtime: ['kernel', 'machine', 'store', 'skills', 'authorize', 'tools'],
  agents: ['kernel', 'store', 'config', 'skills', 'authorize', 'tools', 'runtime'],
  local: ['kernel', 'machine', 'store', 'config', 'skills', 'authorize', 'tools', 'runtime'],
  testing: ['kernel', 'machine', 'store'],
  apps: [
    ...['kernel', 'machine', 'store', 'config', 'skills', 'authorize', 'tools', 'runtime', 'agents', 'local'],
    'testing',
  ],
  public: [
    ...['kernel', 'machine', 'store', 'config', 'skills', 'authorize', 'tools', 'runtime', 'agents', 'local'],
    ...['apps', 'testing'],
  ],
}

/** The modules inside a group, top to bottom, and the modules of the same group that each may use. */
const MODULES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  machine: {
    files: [],
    'skill-files': ['files'],
    host: [],
    net: [],
    egress: ['net'],
    changes: ['files', 'host'],
    programs: [],
    sandbox: ['files', 'skill-files', 'host', 'egress', 'changes', 'programs'],
  },
  skills: {
    format: [],
    sources: ['format'],
    install: ['format'],
    gate: [],
    catalog: [],
    diagnose: ['catalog'],
    load: ['format', 'sources', 'catalog', 'diagnose'],
  },
  agents: { turns: [], pool: ['turns'] },
  apps: {
    clients: [],
    http: [],
    client: [],
    mcp: ['http'],
    rpc: ['client'],
    server: ['http', 'client', 'mcp', 'rpc'],
    cli: ['clients', 'client', 'mcp', 'server'],
  },
}

/** Every module by its path below `src/`: `kernel`, `machine/files`. */
const ALL_MODULES = Object.keys(GROUPS).flatMap((group) => {
  const modules = MODULES[group]
  return modules ? Object.keys(modules).map((module) => `${group}/${module}`) : [group]
})

function mayUse(user: string, used: string): boolean {
  const [group = '', module = ''] = user.split('/')
  const [usedGroup = '', usedModule = ''] = used.split('/')
  if (group === usedGroup) return MODULES[group]?.[module]?.includes(usedModule) ?? false
  return GROUPS[group]?.includes(usedGroup) ?? false
}

/** These stages are functions of their arguments: no file system, no network, no process. */
const PURE_MODULES = [
  'kernel',
  'yaml',
  'authorize',
  ...['format', 'gate', 'catalog', 'diagnose'].map((name) => `skills/${name}`),
]
const BUILTINS_OF_PURE_MODULES = ['node:crypto', 'node:path', 'node:util', 'node:buffer']

const VAGUE_NAMES = ['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'manager', 'service', 'shared', 'lib']
const MOST_LINES_IN_A_FILE = 300

test('the walk sees every module of the tables and enough files', () => {
  assert.deepEqual([...new Set(SOURCE_FILES.map(moduleOf))].sort(), [...ALL_MODULES].sort())
  assert.ok(SOURCE_FILES.length >= 60, `only ${SOURCE_FILES.length} files seen`)
  assert.ok(SOURCE_FILES.flatMap(importsOf).length >= 150, 'hardly any import seen: is the pattern still right?')
})

test('groups and modules use only those listed before them', () => {
  const upward = [GROUPS, ...Object.values(MODULES)].flatMap((table) =>
    Object.entries(table).flatMap(([user, used], index, all) => {
      const before = all.slice(0, index).map(([name]) => name)
      return used.filter((name) => !before.includes(name)).map((name) => `${user} -> ${name}`)
    }),
  )
  assert.deepEqual(upward, [])
})

test('imports stay within the tables and name the index of another module', () => {
  const broken = SOURCE_FILES.flatMap(importsOf).flatMap(({ from, to }) => {
    if (to === undefined || to === 'package.json' || moduleOf(from) === moduleOf(to)) return []
    const [user, used] = [moduleOf(from), moduleOf(to)]
    if (!mayUse(user, used)) return [`${from} -> ${to}: ${user} may not use ${used}`]
    return to === `src/${used}/index.ts` ? [] : [`${from} -> ${to}: import ${used}/index.ts`]
  })
  assert.deepEqual(broken, [])
})

test('every entry of the tables is used', () => {
  const uses = SOURCE_FILES.flatMap(importsOf).flatMap(({ from, to }) => (to ? [[moduleOf(from), moduleOf(to)]] : []))
  const used = new Set(uses.map(([from = '', to = '']) => `${from} -> ${to}`))
  const ofGroups = new Set(uses.map(([from = '', to = '']) => `${from.split('/')[0]} -> ${to.split('/')[0]}`))
  const idle = [
    ...Object.entries(GROUPS)
      .flatMap(([group, all]) => all.map((each) => `${group} -> ${each}`))
      .filter((use) => !ofGroups.has(use)),
    ...Object.entries(MODULES)
      .flatMap(([group, modules]) =>
        Object.entries(modules).flatMap(([module, all]) => all.map((each) => `${group}/${module} -> ${group}/${each}`)),
      )
      .filter((use) => !used.has(use)),
  ]
  assert.deepEqual(idle, [])
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

test('every module has an index that begins with its purpose and exports names only', () => {
  const broken = ALL_MODULES.flatMap((module) => {
    const index = `src/${module}/index.ts`
    // The index of the command is the program itself; each file of public/ is an entry of the package.
    if (module === 'apps/cli' || module === 'public') return []
    if (!existsSync(join(ROOT, index))) return [`${index} is missing`]
    const text = readSource(index)
    const faults = []
    if (!/^\/[*/]/.test(text)) faults.push(`${index}: the first line is not a comment with the purpose`)
    if (/^export \*/m.test(text)) faults.push(`${index}: export * hides what is public`)
    return faults
  })
  assert.deepEqual(broken, [])
})

test('pure modules reach no file system, network or process', () => {
  const broken = SOURCE_FILES.filter((file) => PURE_MODULES.includes(moduleOf(file)))
    .flatMap(importsOf)
    .filter(({ specifier }) => specifier.startsWith('node:') && !BUILTINS_OF_PURE_MODULES.includes(specifier))
  assert.deepEqual(
    broken.map(({ from, specifier }) => `${from}: ${specifier}`),
    [],
  )
})

test('pure modules read no clock, no timer and no chance; the clock that others are given is in one file', () => {
  const readers = SOURCE_FILES.filter(
    (file) => PURE_MODULES.includes(moduleOf(file)) && clocksIn(readSource(file)).length > 0,
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
    'src/apps/cli/bin.cts',
    'src/machine/host/run-program.ts',
    'src/machine/host/start-service.ts',
    'src/machine/sandbox/layers/view.ts',
    'src/machine/sandbox/local/bound.ts',
    'src/machine/sandbox/local/connection.ts',
    'src/machine/sandbox/none.ts',
    'src/machine/sandbox/runner/command.ts',
    'src/machine/sandbox/runner/pipes.ts',
  ])
})

test('only config/ reads the environment', () => {
  const readers = SOURCE_FILES.filter((file) =>
    /\bprocess\s*\.\s*env\b|\benv\b[^=]*=\s*process\b/.test(withoutComments(readSource(file))),
  )
  assert.deepEqual(
    readers.filter((file) => moduleOf(file) !== 'config'),
    // It runs before the code that it makes faster is loaded.
    ['src/apps/cli/compile-cache.ts'],
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

test('a comment says why: none begins with What, Of, As or Who', () => {
  const found = (text: string): number => text.match(/(?:\/\*\*?|^\s*\*|\/\/) +(?:What|Of|As|Who)\b/gm)?.length ?? 0
  const describing = SOURCE_FILES.filter((file) => found(readSource(file)) > 0)
  assert.deepEqual(describing, [])
  for (const text of ['/** What it is. */', '  // Of a file.', ' * As above.', '/* Who asks. */'])
    assert.equal(found(text), 1, text)
  for (const text of ['/** Whatever. */', '// See what it is.', "'What is it?'", 'a * Of'])
    assert.equal(found(text), 0, text)
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
