import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { install, pack, run } from './installed.ts'
import { ROOT } from './source-tree.ts'

const MOST_PACKAGES = 90
const MOST_BYTES = 110 * 1024 * 1024
const room = mkdtempSync(join(tmpdir(), 'nexus-package-'))
const consumer = join(room, 'consumer')
const { version, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string
  exports: Record<string, unknown>
}
let tarball = ''
let offline: string | undefined

function skipsOffline(context: TestContext): boolean {
  if (offline !== undefined) context.skip(`npm cannot reach its registry (${offline})`)
  return offline !== undefined
}

before(() => {
  tarball = pack(room)
  offline = install(consumer, tarball)
})
after(() => rmSync(room, { recursive: true, force: true }))

test('dist/ is made from the present sources', async () => {
  const { isBuildFresh } = (await import(join(ROOT, 'scripts/build-stamp.mjs'))) as { isBuildFresh: () => boolean }
  assert.ok(isBuildFresh(), 'run: npm run build')
})

test('the tarball holds the build and the skills, and nothing of our own workshop', () => {
  const { stdout } = run('tar', ['-tzf', tarball], { cwd: room })
  const files = stdout
    .trim()
    .split('\n')
    .map((file) => file.replace(/^package\//, ''))
  for (const file of [
    'dist/cli/bin.cjs',
    'dist/public/index.js',
    'dist/public/index.d.ts',
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'docs/errors.md',
  ]) {
    assert.ok(files.includes(file), `${file} is missing`)
  }
  assert.ok(
    files.some((file) => /^skills\/[^/]+\/SKILL\.md$/.test(file)),
    'no skill is shipped',
  )
  assert.deepEqual(
    files.filter((file) => /^(?:src|test|scripts|node_modules)\/|\.test\./.test(file)),
    [],
  )
})

test('the installed command tells its version and its help', (context) => {
  if (skipsOffline(context)) return
  const nexus = join(consumer, 'node_modules/.bin/nexus')
  assert.equal(run(nexus, ['--version'], { cwd: consumer }).stdout.trim(), version)
  const help = run(nexus, ['--help'], { cwd: consumer })
  assert.equal(help.status, 0, help.stderr)
  assert.match(help.stdout, /nexus /)
})

test('on an older Node the command says which Node it needs', (context) => {
  const older = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'node'))
    .find((file) => Number.parseInt(run(file, ['--version'], { cwd: room }).stdout?.slice(1) ?? '', 10) < 24)
  if (older === undefined) return context.skip('there is no Node older than 24 on the PATH')
  const home = join(room, 'older/node_modules/nexus-skills')
  cpSync(join(ROOT, 'dist/cli'), join(home, 'dist/cli'), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(home, 'package.json'))
  const bin = join(home, 'dist/cli/bin.cjs')
  const answer = run(older, [bin, 'skills', 'list'], { cwd: ROOT })
  assert.equal(answer.status, 1)
  assert.match(
    answer.stderr,
    /^Nexus did not start: it needs Node 24 or newer, and this is v\d+.*\n {2}fix: npm install -g node@24\n$/,
  )
  assert.equal(run(older, [bin, '--version'], { cwd: room }).stdout.trim(), version)

  // In a checkout, a directory called node beside it is another project.
  const checkout = join(room, 'checkout')
  cpSync(home, join(checkout, 'nexus'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules/node'), join(checkout, 'node'))
  assert.equal(run(older, [join(checkout, 'nexus/dist/cli/bin.cjs'), '--help'], { cwd: room }).status, 1)

  // The npm package `node` beside it is used.
  symlinkSync(join(ROOT, 'node_modules/node'), join(home, '../node'))
  const help = run(older, [bin, '--help'], { cwd: room })
  assert.deepEqual([help.status, help.stderr], [0, ''])
  assert.equal(run(older, [bin, 'nosuch'], { cwd: room }).status, 2)
})

test('what the README links to is in the package', (context) => {
  if (skipsOffline(context)) return
  const directory = join(consumer, 'node_modules/nexus-skills')
  const links = [...readFileSync(join(directory, 'README.md'), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g)]
  assert.ok(links.length > 10)
  assert.deepEqual(
    links.filter(([, link = '']) => !existsSync(join(directory, link))).map(([, link]) => link),
    [],
  )
})

test(
  'the first steps of the README work as typed, in a fresh project with a fresh home',
  { timeout: 120_000 },
  (context) => {
    if (skipsOffline(context)) return
    const [, steps = ''] = /^```bash run\n([\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? []
    const home = join(room, 'home')
    mkdirSync(home)
    const lines = steps.trim().split('\n')
    assert.ok(lines.length >= 5)
    for (const line of lines) {
      const env = { PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter), HOME: home }
      const answer = spawnSync('sh', ['-c', line], {
        cwd: consumer,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      assert.equal(answer.status, 0, `${line}\n${answer.stdout}${answer.stderr}`)
      assert.notEqual(answer.stdout + answer.stderr, '', line)
      assert.doesNotMatch(answer.stderr, /Warning: /, line)
    }
  },
)

test('every entry can be imported from the installed package', (context) => {
  if (skipsOffline(context)) return
  const names = Object.keys(exports).map((entry) => entry.replace(/^\./, 'nexus-skills'))
  const code = names.map((name) =>
    name.endsWith('.json') ? `await import('${name}', { with: { type: 'json' } })` : `await import('${name}')`,
  )
  const answer = run(process.execPath, ['--input-type=module', '-e', code.join('\n')], { cwd: consumer })
  assert.equal(answer.status, 0, answer.stderr)
})

test(`a production install has at most ${MOST_PACKAGES} packages and ${MOST_BYTES / 1024 / 1024} MB`, (context) => {
  if (skipsOffline(context)) return
  const lock = JSON.parse(readFileSync(join(consumer, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: object
  }
  const packages = Object.keys(lock.packages).length
  const files = globSync('node_modules/**', { cwd: consumer }).map((file) => lstatSync(join(consumer, file)))
  const bytes = files.reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0)
  context.diagnostic(`${packages} packages, ${(bytes / 1024 / 1024).toFixed(1)} MB`)
  assert.ok(packages <= MOST_PACKAGES, `${packages} packages`)
  assert.ok(bytes <= MOST_BYTES, `${bytes} bytes`)
})

test('publint finds nothing', () => {
  const answer = run(join(ROOT, 'node_modules/.bin/publint'), ['run', tarball, '--strict'], { cwd: ROOT })
  assert.equal(answer.status, 0, answer.stdout + answer.stderr)
})

test('the types of every entry resolve (attw)', () => {
  const answer = run(join(ROOT, 'node_modules/.bin/attw'), [tarball, '--profile', 'esm-only', '--no-emoji'], {
    cwd: ROOT,
  })
  assert.equal(answer.status, 0, answer.stdout + answer.stderr)
})

test('package-lock.json lists every platform package, so that npm ci works everywhere', async () => {
  const { missingEntries } = (await import(join(ROOT, 'scripts/complete-lock.mjs'))) as {
    missingEntries: (lock: unknown) => readonly { readonly name: string }[]
  }
  const lock: unknown = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  assert.deepEqual(
    missingEntries(lock).map(({ name }) => name),
    [],
    'run: node scripts/complete-lock.mjs',
  )
})

test('all versions are exact', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, string>
  >
  const all = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'].flatMap((kind) =>
    Object.entries(manifest[kind] ?? {}),
  )
  assert.deepEqual(
    all.filter(([, wanted]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(wanted)),
    [],
  )
})
