import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readSource, ROOT, SOURCE_FILES } from '../../source-tree.ts'
import { Place } from './nexus.ts'

/** Parts of Node and packages that take milliseconds to load. Commands that only look at skills need none of them. */
const HEAVY_BUILTINS = [
  ...['child_process', 'crypto', 'http', 'https', 'perf_hooks', 'readline', 'sqlite', 'stream', 'timers/promises'],
  ...['tls', 'tty', 'worker_threads', 'zlib'],
]
const HEAVY_PACKAGES = [
  '@ai-sdk',
  '@anthropic-ai',
  '@modelcontextprotocol',
  'ai',
  'ajv',
  'chokidar',
  'minisearch',
  'zod',
]

interface Loaded {
  readonly builtins: readonly string[]
  readonly files: readonly string[]
  readonly status: number | null
}

/** What the built command has loaded when it ends. */
function loaded(t: TestContext, args: readonly string[]): Loaded {
  const place = new Place(t)
  const probe = join(place.root, 'probe.cjs')
  const report = join(place.root, 'report.json')
  writeFileSync(
    probe,
    `const files = []
     require('node:module').registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) })
     process.on('exit', () => {
       const builtins = process.moduleLoadList.map((name) => name.replace('NativeModule ', ''))
       require('node:fs').writeFileSync(${JSON.stringify(report)}, JSON.stringify({ builtins, files }))
     })`,
  )
  const [node = '', ...line] = place.line(args)
  const { status } = spawnSync(node, ['--require', probe, ...line], place.options())
  return { ...(JSON.parse(readFileSync(report, 'utf8')) as Loaded), status }
}

/** These open a runtime, whose store in memory is SQLite; loading and opening it takes half a millisecond. */
const OPENS_A_RUNTIME = ['skills check', 'prompt']

for (const line of ['--help', 'skills list', 'skills list --all --json', 'skills check', 'prompt', 'config check'])
  test(`nexus ${line} loads nothing heavy`, (t) => {
    const { builtins, files, status } = loaded(t, line.split(' '))
    assert.ok(status === 0 || status === 1, `exit code ${status}`)
    assert.deepEqual(
      HEAVY_BUILTINS.filter((name) => builtins.includes(name)),
      OPENS_A_RUNTIME.includes(line) ? ['perf_hooks', 'sqlite', 'timers/promises'] : [],
    )
    assert.deepEqual(
      HEAVY_PACKAGES.filter((name) => files.some((file) => file.includes(`/node_modules/${name}/`))),
      [],
    )
  })

test('nexus --version loads no file but bin.cjs', (t) => {
  const { files, status } = loaded(t, ['--version'])
  assert.equal(status, 0)
  const own = files.filter((file) => file.startsWith('file:'))
  assert.deepEqual(
    own.map((file) => file.split('/').at(-1)),
    ['bin.cjs'],
  )
})

test('the bundle is ASCII, so that Node reads it as it is', () => {
  for (const name of ['main.cjs', 'sdk.cjs'])
    assert.match(readFileSync(join(ROOT, 'dist/cli', name), 'latin1'), /^[\0-\x7f]*$/)
})

test('no pattern over all of Unicode is compiled when a module starts', () => {
  const broken = SOURCE_FILES.filter((file) => /^(?:export )?const \w+ =\s+\/.*\\p\{/m.test(readSource(file)))
  assert.deepEqual(broken, [], 'write the pattern where it is used: V8 takes milliseconds for it')
})

test('what runs before the version of Node is checked has no newer syntax', () => {
  const text = readFileSync(join(ROOT, 'dist/cli/bin.cjs'), 'utf8')
  assert.deepEqual(text.match(/\?\.(?!\d)|\?\?|\bimport\(|#[a-z]\w*[ =(;]/g), null)
})

test('an incomplete installation is one clear sentence', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'nexus-start-'))
  t.after(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'dist/cli'), { recursive: true })
  for (const file of ['package.json', 'dist/cli/bin.cjs']) copyFileSync(join(ROOT, file), join(directory, file))
  const { status, stderr } = spawnSync(process.execPath, [join(directory, 'dist/cli/bin.cjs'), 'skills', 'list'], {
    encoding: 'utf8',
    env: { ...process.env, NEXUS_HOME: join(directory, 'home') },
  })
  assert.equal(status, 1)
  assert.match(stderr, /^Nexus cannot start, probably because its installation is incomplete: .*main\.cjs/)
})
