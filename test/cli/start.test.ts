import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, test } from 'node:test'
import { ROOT } from '../source-tree.ts'

/** Each costs every command some milliseconds; commands that only look need none of them. */
const HEAVY = ['child_process', 'crypto', 'http', 'https', 'net', 'readline', 'sqlite', 'tls', 'worker_threads']
const LOOKING = [
  ['skills', 'list'],
  ['skills', 'show', 'csv-report'],
  ['skills', 'check'],
  ['prompt'],
  ['config', 'check'],
]

/** They start from the smaller bundle, and need nothing of what it leaves for later; other commands that start often begin with main.cjs, and the rest with start.cjs. */
const BUNDLES: Readonly<Record<string, readonly string[]>> = { list: ['look.cjs'], show: ['look.cjs'] }

const home = mkdtempSync(join(tmpdir(), 'nexus-start-'))
after(() => rmSync(home, { recursive: true }))

/** What the built command has loaded when it ends: parts of Node, and files of the bundle that it has read. */
function loaded(args: readonly string[]): {
  builtins: string[]
  files: string[]
  status: number | null
  error: string
} {
  const probe = join(home, 'probe.cjs')
  const report = join(home, 'report.json')
  writeFileSync(
    probe,
    `const fs = require('fs'), { readFileSync, openSync } = fs, files = []
     const note = (read) => (path, ...rest) => { files.push(String(path)); return read(path, ...rest) }
     fs.readFileSync = note(readFileSync)
     fs.openSync = note(openSync)
     process.on('exit', () => fs.writeFileSync(${JSON.stringify(report)}, JSON.stringify({
       builtins: process.moduleLoadList.map((name) => name.replace('NativeModule ', '')), files: [...files, ...Object.keys(require.cache)] })))`,
  )
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--require', probe, join(ROOT, 'dist/cli/bin.cjs'), ...args],
    {
      cwd: home,
      env: { ...process.env, HOME: home, NEXUS_HOME: join(home, '.nexus') },
    },
  )
  const { builtins, files } = JSON.parse(readFileSync(report, 'utf8')) as { builtins: string[]; files: string[] }
  const own = files.filter((file) => file.startsWith(join(ROOT, 'dist/cli')) && /\.c?js$/.test(file))
  return { builtins, files: [...new Set(own.map((file) => basename(file)))].sort(), status, error: String(stderr) }
}

for (const args of LOOKING) {
  test(`nexus ${args.join(' ')} starts from one bundle and loads nothing heavy`, () => {
    const { builtins, files, status } = loaded([...args, '--json'])
    assert.ok(status === 0 || status === 1, `exit code ${status}`)
    const heavy = HEAVY.filter((name) => builtins.includes(name))
    // What is shown of one skill has its sha256.
    assert.deepEqual(heavy, args[1] === 'show' ? ['crypto'] : [])
    assert.deepEqual(files, ['bin.cjs', ...(BUNDLES[args[1] ?? ''] ?? ['main.cjs'])])
  })
}

const CACHE = join(ROOT, 'dist/.cache')

/** Where what V8 made of look.cjs is kept for `skills list --json`. */
function keptForList(): string {
  assert.equal(loaded(['skills', 'list', '--json']).status, 0)
  const name = readdirSync(CACHE).find((each) => each.endsWith(`${process.version}-${process.arch}-list-json-look.bin`))
  return join(CACHE, name ?? 'nothing was kept')
}

test('what V8 made of a bundle is kept beside it, closed to others, and made anew when it is damaged anywhere', () => {
  const path = keptForList()
  const whole = readFileSync(path)
  assert.ok(whole.length > 100_000, `${whole.length} bytes`)
  assert.equal(statSync(path).mode & 0o022, 0)
  assert.equal(statSync(CACHE).mode & 0o022, 0)
  for (const place of [0, 0.3, 0.6, 0.9]) {
    const damaged = Buffer.from(whole)
    damaged.fill(0x5a, Math.floor(place * whole.length), Math.floor(place * whole.length) + 64)
    writeFileSync(path, damaged)
    assert.deepEqual([loaded(['skills', 'list', '--json']).status, readFileSync(path).equals(damaged)], [0, false])
  }
})

test('what others could have written is not run', { skip: process.getuid === undefined && 'no users here' }, () => {
  const path = keptForList()
  const before = statSync(path).mtimeMs
  chmodSync(path, 0o666)
  assert.equal(loaded(['skills', 'list', '--json']).status, 0)
  // Made anew: the old one was not taken.
  assert.notEqual(statSync(path).mtimeMs, before)
  assert.equal(statSync(path).mode & 0o022, 0)
})

test('each way to print has code of its own kept, and nothing is kept of a name that is not there', () => {
  const kept = (): readonly string[] => readdirSync(CACHE).filter((name) => /-show(?:-json)?-look\.bin$/.test(name))
  for (const name of kept()) rmSync(join(CACHE, name))
  assert.equal(loaded(['skills', 'show', 'csv-repor']).status, 4)
  assert.deepEqual(kept(), [])
  for (const form of [[], ['--json']]) assert.equal(loaded(['skills', 'show', 'csv-report', ...form]).status, 0)
  assert.equal(kept().length, 2)
})

for (const args of [['--help'], ['skills', 'list', '--help'], ['help', 'run'], ['skills']])
  test(`nexus ${args.join(' ')} starts from a bundle that has no command`, () => {
    const { builtins, files, status } = loaded(args)
    assert.equal(status, args[0] === 'skills' && args.length === 1 ? 2 : 0)
    assert.deepEqual([HEAVY.filter((name) => builtins.includes(name)), files], [[], ['bin.cjs', 'start.cjs']])
  })

test('what was built takes as many words as the usage of a command has dots', () => {
  assert.equal(loaded(['skills', 'search', 'csv', 'chart', 'report']).status, 0)
})

test('nexus --version loads one file', () => {
  assert.deepEqual(loaded(['--version']).files, ['bin.cjs'])
})
