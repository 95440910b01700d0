import assert from 'node:assert/strict'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Place } from './nexus.ts'

const skip = process.getuid === undefined && 'no users here'

/** Whether a run of the command kept compiled code in the Nexus home. */
async function isKept(place: Place, { cwd = place.workspace, home = place.home } = {}): Promise<boolean> {
  const { code, stderr } = await place.run(['--help'], { cwd, env: { NEXUS_HOME: home } })
  assert.equal(code, 0, stderr)
  const directory = join(home, 'cache/compile')
  return existsSync(directory) && readdirSync(directory, { recursive: true }).length > 1
}

test('compiled code is kept in the Nexus home, closed to others', { skip }, async (t) => {
  const place = new Place(t)
  assert.equal(await isKept(place), true)
  assert.equal(statSync(join(place.home, 'cache/compile')).mode & 0o777, 0o700)
})

for (const [what, path] of [
  ['home', '.'],
  ['cache', 'cache'],
  ['directory', 'cache/compile'],
] as const)
  test(`no compiled code is used when others can write in the ${what}`, { skip }, async (t) => {
    const place = new Place(t)
    mkdirSync(join(place.home, 'cache/compile'), { recursive: true, mode: 0o700 })
    chmodSync(join(place.home, path), 0o777)
    assert.equal(await isKept(place), false)
  })

test('no home is made where others can write, or in the home of another user', { skip }, async (t) => {
  const place = new Place(t)
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
  const place = new Place(t)
  mkdirSync(join(place.home, 'cache'), { recursive: true, mode: 0o700 })
  mkdirSync(join(place.root, 'elsewhere'), { mode: 0o700 })
  symlinkSync(join(place.root, 'elsewhere'), join(place.home, 'cache/compile'))
  assert.equal(await isKept(place), false)
})

test('no compiled code is used where commands of skills can write', { skip }, async (t) => {
  const place = new Place(t)
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
  const place = new Place(t)
  for (const home of ['relative', '/dev/null/home', join(place.root, 'no/such/parent')])
    assert.equal((await place.run(['--help'], { env: { NEXUS_HOME: home } })).code, 0)
})
