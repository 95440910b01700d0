import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { renameSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { workspaceAround } from '../../../src/apps/cli/compile-cache.ts'
import { ROOT } from '../../source-tree.ts'
import { Place } from './nexus.ts'

const skip = process.getuid === undefined && 'no users here'

/** Whether a run of the command kept compiled code in the Nexus home. */
async function isKept(place: Place, { cwd = place.workspace, home = place.home } = {}): Promise<boolean> {
  const { code, stderr } = await place.run(['--help'], { cwd, env: { NEXUS_HOME: home } })
  assert.equal(code, 0, stderr)
  const directory = join(home, 'cache/compile')
  return existsSync(directory) && readdirSync(directory).length > 0
}

test('compiled code is kept in the Nexus home, closed to others', { skip }, async (t) => {
  const place = new Place(t, { compiles: true })
  assert.equal(await isKept(place), true)
  assert.equal(statSync(join(place.home, 'cache/compile')).mode & 0o777, 0o700)
})

test('a command after its help, or with more parts than the kept run, is kept anew, once', { skip }, async (t) => {
  const place = new Place(t, { compiles: true })
  const directory = join(place.home, 'cache/compile')
  const kept = async (...args: string[]): Promise<{ readonly ino: number; readonly size: number }> => {
    await place.run(['skills', 'show', ...args])
    const [name = ''] = readdirSync(directory)
    return statSync(join(directory, name))
  }
  const help = await kept('--help')
  const shown = await kept('csv-report')
  // It is compared once a day.
  assert.equal((await kept('csv-report', '--content')).ino, shown.ino)
  for (const name of readdirSync(directory)) utimesSync(join(directory, name), 1, 1)
  const loaded = await kept('csv-report', '--content')
  assert.ok(help.size < shown.size && shown.size < loaded.size, [help, shown, loaded].map(({ size }) => size).join())
  assert.equal((await kept('csv-report', '--content')).ino, loaded.ino)
  assert.equal((await kept('--help')).ino, loaded.ino)
})

test('the code of a run that ended early stays when that of another command is kept', { skip }, async (t) => {
  const place = new Place(t, { compiles: true })
  await place.run(['skills', 'show', '--help'])
  await place.run(['config', 'schema'])
  assert.equal(readdirSync(join(place.home, 'cache/compile')).length, 2)
})

for (const [what, path] of [
  ['home', '.'],
  ['cache', 'cache'],
  ['directory', 'cache/compile'],
] as const)
  test(`no compiled code is used when others can write in the ${what}`, { skip }, async (t) => {
    const place = new Place(t, { compiles: true })
    mkdirSync(join(place.home, 'cache/compile'), { recursive: true, mode: 0o700 })
    chmodSync(join(place.home, path), 0o777)
    assert.equal(await isKept(place), false)
  })

test('no home is made where others can write, or in the home of another user', { skip }, async (t) => {
  const place = new Place(t, { compiles: true })
  const open = join(place.root, 'open')
  mkdirSync(open)
  chmodSync(open, 0o777)
  assert.equal(await isKept(place, { home: join(open, '.nexus') }), false)
  assert.equal(existsSync(join(open, '.nexus')), false)
  if (process.getuid?.() !== 0) return
  const theirs = join(place.root, 'theirs')
  mkdirSync(theirs, { mode: 0o700 })
  chownSync(theirs, 4242, 4242)
  assert.equal(await isKept(place, { home: join(theirs, '.nexus') }), false)
  assert.equal(existsSync(join(theirs, '.nexus')), false)
})

test('no compiled code is used from a directory behind a link', { skip }, async (t) => {
  const place = new Place(t, { compiles: true })
  mkdirSync(join(place.home, 'cache'), { recursive: true, mode: 0o700 })
  mkdirSync(join(place.root, 'elsewhere'), { mode: 0o700 })
  symlinkSync(join(place.root, 'elsewhere'), join(place.home, 'cache/compile'))
  assert.equal(await isKept(place), false)
})

test('no compiled code is used where commands of skills can write', { skip }, async (t) => {
  const place = new Place(t, { compiles: true })
  // In a workspace, whatever the working directory is.
  assert.equal(await isKept(place, { home: join(place.workspace, 'home') }), false)
  assert.equal(await isKept(place, { home: join(place.workspace, 'home'), cwd: place.root }), false)
  assert.equal(existsSync(join(place.workspace, 'home')), false)
  // In a working directory that nothing marks as a workspace, and the home itself.
  assert.equal(await isKept(place, { cwd: place.root }), false)
  mkdirSync(place.home, { mode: 0o700 })
  assert.equal(await isKept(place, { cwd: place.home }), false)
})

test('a home that cannot be made or is no absolute path changes nothing', { skip }, async (t) => {
  const place = new Place(t, { compiles: true })
  for (const home of ['relative', '/dev/null/home', join(place.root, 'no/such/parent')])
    assert.equal((await place.run(['--help'], { env: { NEXUS_HOME: home } })).code, 0)
})

/** The compiled code of `nexus --help` after a run. */
async function keptFile(place: Place): Promise<{ path: string; inode: number; mode: number }> {
  const { code, stderr } = await place.run(['--help'])
  assert.equal(code, 0, stderr)
  const directory = join(place.home, 'cache/compile')
  const [name = ''] = readdirSync(directory).filter((each) => /^[0-9a-f]{64}-/.test(each))
  const { ino, mode } = statSync(join(directory, name))
  return { path: join(directory, name), inode: ino, mode: mode & 0o777 }
}

test('the next start uses what the first one kept, and is bound to the bytes of the bundle', { skip }, async (t) => {
  const place = new Place(t, { compiles: true })
  const first = await keptFile(place)
  assert.equal(first.mode, 0o600)
  assert.deepEqual(await keptFile(place), first)
  const bundle = readFileSync(join(ROOT, 'dist/cli/main.cjs'), 'latin1')
  const bytes = bundle.slice(0, bundle.trimEnd().lastIndexOf('//'))
  assert.ok(first.path.includes(createHash('sha256').update(bytes, 'latin1').digest('hex')))
})

test('the packages of MCP are read and kept by the commands that use them only', { skip }, async (t) => {
  const place = new Place(t, { compiles: true })
  const kept = (): boolean => readdirSync(join(place.home, 'cache/compile')).some((name) => name.startsWith('sdk-'))
  await place.run(['--help'])
  assert.equal(kept(), false)
  assert.equal((await place.run(['mcp'])).code, 0)
  assert.equal(kept(), true)
})

/** What may have happened to the kept file. The new one of the next start has another inode. */
const NOT_USED: Readonly<Record<string, (path: string) => void>> = {
  'is cut short': (path) => truncateSync(path, 1_000),
  'is empty': (path) => truncateSync(path, 0),
  'is something else': (path) => writeFileSync(path, 'x'.repeat(100_000)),
  'others can read': (path) => chmodSync(path, 0o644),
  'others can write': (path) => chmodSync(path, 0o602),
  'has another name as well': (path) => linkSync(path, `${path}-2`),
  'is a link': (path) => {
    renameSync(path, `${path}-2`)
    symlinkSync(`${path}-2`, path)
  },
  'belongs to another user': (path) => chownSync(path, 4242, 4242),
}

for (const [what, change] of Object.entries(NOT_USED))
  test(`compiled code that ${what} is not used, and is replaced`, { skip }, async (t) => {
    if (what.startsWith('belongs') && process.getuid?.() !== 0) return t.skip('only root can give a file away')
    const place = new Place(t, { compiles: true })
    const { path } = await keptFile(place)
    change(path)
    const { ino, mtimeMs } = statSync(path)
    const { code } = await place.run(['--help'])
    assert.equal(code, 0)
    const now = statSync(path)
    assert.ok(now.ino !== ino || now.mtimeMs !== mtimeMs, 'it was used')
    assert.equal(now.mode & 0o777, 0o600)
    assert.equal(now.nlink, 1)
    assert.equal(now.uid, process.getuid?.())
  })

test('old compiled code is removed, and what an older Nexus kept beside it', { skip }, async (t) => {
  const place = new Place(t, { compiles: true })
  const { path } = await keptFile(place)
  const directory = join(place.home, 'cache/compile')
  for (let index = 0; index < 40; index++) {
    copyFileSync(path, join(directory, `old-${index}`))
    utimesSync(join(directory, `old-${index}`), index + 1, index + 1)
  }
  mkdirSync(join(directory, 'v24.0.0-x64/deep'), { recursive: true })
  await place.run(['explain', 'TIMEOUT'])
  const names = readdirSync(directory)
  assert.equal(names.length, 24)
  assert.ok(names.some((name) => name.startsWith('explain-')))
  assert.deepEqual(
    [names.includes('old-39'), names.includes('old-0'), names.includes('v24.0.0-x64')],
    [true, false, false],
  )
})

/** Commands that import a package or a slow part of Node. */
const IMPORTING = [
  ['doctor'],
  ['prompt'],
  ['policy', 'explain', 'main', 'run_command'],
  ['skills', 'run', 'nosuch', '--', 'true'],
]

test('no command prints the warning of Node about how it is started, other warnings are printed', async (t) => {
  const place = new Place(t, { compiles: true })
  const preload = join(place.root, 'warn.cjs')
  writeFileSync(preload, "setImmediate(() => process.emitWarning('of the user', 'ExperimentalWarning'))")
  for (const args of IMPORTING) {
    const { stderr } = await place.run(args, { env: { NODE_OPTIONS: `--require ${preload}` } })
    assert.deepEqual(stderr.match(/\w+Warning: .*/g), ['ExperimentalWarning: of the user'], args.join(' '))
  }
})

test('compiled code is named after the command, never after what it is given', { skip }, async (t) => {
  const place = new Place(t, { compiles: true })
  for (const args of [
    ['explain', 'secret'],
    ['nosuch', 'secret'],
    ['skills', 'nosuch'],
  ])
    await place.run(args)
  const names = readdirSync(join(place.home, 'cache/compile')).map((name) => name.replace(/-?[0-9a-f]{64}.*/, ''))
  assert.deepEqual(names, ['explain'])
})

test('a .git in the home of the user, or above, does not turn it off', (t) => {
  const { root } = new Place(t, { compiles: true })
  const own = join(root, 'own')
  const ownHome = (): string => own
  mkdirSync(join(own, 'repo/.git'), { recursive: true })
  mkdirSync(join(own, '.git'))
  mkdirSync(join(root, '.git'))
  const around = (home: string, cwd = root) => workspaceAround(home, { cwd, ownHome })
  assert.equal(around(join(own, '.nexus')), undefined)
  assert.equal(around(join(own, '.nexus'), own), undefined)
  assert.equal(around(join(own, 'repo/.nexus')), join(own, 'repo'))
  assert.equal(around(join(own, '.nexus'), join(own, '.nexus')), join(own, '.nexus'))
  // Another home than the system knows: the files around it may be of anyone.
  assert.equal(around(join(root, 'app/.nexus')), root)
})

test('doctor says where compiled code is kept, or why it is not', { skip }, async (t) => {
  const place = new Place(t, { compiles: true })
  assert.match((await place.run(['doctor'])).stdout, /; compiled code is kept in .*cache\/compile/)
  chmodSync(place.home, 0o777)
  assert.match((await place.run(['doctor'])).stdout, /; commands start more slowly: another user could change .*home\n/)
})
