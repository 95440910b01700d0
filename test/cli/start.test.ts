import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, test } from 'node:test'
import { ROOT } from '../source-tree.ts'

/** Each costs every command some milliseconds; commands that only look need none of them. */
const HEAVY = ['child_process', 'http', 'https', 'net', 'readline', 'sqlite', 'tls', 'worker_threads']
const LOOKING = [
  ['skills', 'list'],
  ['skills', 'show', 'csv-report'],
  ['skills', 'check'],
  ['prompt'],
  ['config', 'check'],
]

const home = mkdtempSync(join(tmpdir(), 'nexus-start-'))
after(() => rmSync(home, { recursive: true }))

/** What the built command has loaded when it ends. */
function loaded(args: readonly string[]): { builtins: string[]; files: string[]; status: number | null } {
  const probe = join(home, 'probe.cjs')
  const report = join(home, 'report.json')
  writeFileSync(
    probe,
    `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(report)}, JSON.stringify({
       builtins: process.moduleLoadList.map((name) => name.replace('NativeModule ', '')), files: Object.keys(require.cache) })))`,
  )
  const { status } = spawnSync(process.execPath, ['--require', probe, join(ROOT, 'dist/cli/bin.cjs'), ...args], {
    cwd: home,
    env: { ...process.env, HOME: home, NEXUS_HOME: join(home, '.nexus') },
  })
  const { builtins, files } = JSON.parse(readFileSync(report, 'utf8')) as { builtins: string[]; files: string[] }
  return { builtins, files: files.filter((file) => file !== probe).map((file) => basename(file)), status }
}

for (const args of LOOKING) {
  test(`nexus ${args.join(' ')} starts from one bundle and loads nothing heavy`, () => {
    const { builtins, files, status } = loaded([...args, '--json'])
    assert.ok(status === 0 || status === 1, `exit code ${status}`)
    assert.deepEqual(
      HEAVY.filter((name) => builtins.includes(name)),
      [],
    )
    assert.deepEqual(
      files.filter((file) => !['bin.cjs', 'main.cjs', 'yaml.cjs', 'json5.cjs'].includes(file)),
      [],
    )
  })
}

test('what V8 made of a bundle is kept beside it, and made anew when it cannot be used', () => {
  const cache = join(ROOT, 'dist/.cache')
  const kept = (): string[] => readdirSync(cache).filter((name) => name.endsWith('-list-look.bin'))
  assert.equal(loaded(['skills', 'list', '--json']).status, 0)
  const [name = ''] = kept().filter((each) => each.includes(process.version))
  const whole = statSync(join(cache, name)).size
  assert.ok(whole > 50_000, `${whole} bytes`)
  writeFileSync(join(cache, name), 'no code at all')
  assert.equal(loaded(['skills', 'list', '--json']).status, 0)
  assert.ok(statSync(join(cache, name)).size > 50_000)
})

test('nexus --version loads one file', () => {
  assert.deepEqual(loaded(['--version']).files, ['bin.cjs'])
})
