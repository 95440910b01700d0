/** The unmodified npm `skills`: what it locked we restore, and what we locked it restores. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/kernel/index.ts'
import { ended, Place } from '../apps/cli/nexus.ts'
import { skillText, startGitServer } from '../skills/install/git-server.ts'
import { ROOT } from '../source-tree.ts'
import { spawn } from 'node:child_process'

const VERSION = '1.7.4'
const DIRECTORY = join(ROOT, 'node_modules/.cache', `skills-${VERSION}`)
const PROGRAM = join(DIRECTORY, 'node_modules/skills/bin/cli.mjs')

/** Why it cannot be had here; undefined once it is installed. */
function whyNone(): string | undefined {
  if (existsSync(PROGRAM)) return undefined
  mkdirSync(DIRECTORY, { recursive: true })
  writeFileSync(join(DIRECTORY, 'package.json'), '{ "private": true }')
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `skills@${VERSION}`]
  const { status, stderr, error } = spawnSync('npm', args, { cwd: DIRECTORY, encoding: 'utf8' })
  return status === 0
    ? undefined
    : `skills ${VERSION} cannot be installed from npm: ${error?.message ?? stderr.slice(-300)}`
}

function skills(cwd: string, home: string, ...args: string[]) {
  const env = { PATH: process.env['PATH'], HOME: home, DISABLE_TELEMETRY: '1', DO_NOT_TRACK: '1', CI: '1' }
  return ended(spawn(process.execPath, [PROGRAM, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }))
}

test('the npm skills restores the commit that we locked, and we the one that it locked; its wrong hash is our error', async (t) => {
  const why = whyNone()
  if (why !== undefined) return t.skip(why)
  const server = await startGitServer(t)
  const upstream = server.upstream('tools')
  for (const name of ['a', 'b']) upstream.write(`skills/${name}/SKILL.md`, skillText(name)).write(`skills/${name}/Data.txt`, 'one').write(`skills/${name}/dir/x.txt`, 'x') // oxfmt-ignore
  const commit = upstream.publish()
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  const theirs = join(place.root, 'theirs')
  mkdirSync(join(theirs, '.git'), { recursive: true })
  const added = await skills(theirs, place.root, 'add', server.url('tools'), '--skill', 'a', '-y')
  assert.equal(added.code, 0, added.stdout + added.stderr)
  const lockOf = (cwd: string) =>
    JSON.parse(readFileSync(join(cwd, 'skills-lock.json'), 'utf8')) as { skills: JsonObject }

  const restored = await place.run(['skills', 'ci', '--yes'], { cwd: theirs })
  assert.equal(restored.code, 0, restored.stderr)
  assert.ok(existsSync(join(theirs, 'skills/a/SKILL.md')))
  const listed = await place.run(['skills', 'list', '--all', '--json'], { cwd: theirs })
  const { data } = JSON.parse(listed.stdout) as { data: { shadowed: { why: string }[]; held: { name: string }[] } }
  assert.deepEqual(
    data.shadowed.map((each) => each.why),
    ['duplicate'],
    'a skill that both placed is one',
  )

  const more = await place.run(['skills', 'install', server.url('tools'), '--skill', 'b', '--yes'], { cwd: theirs })
  assert.equal(more.code, 0, more.stderr)
  assert.equal((lockOf(theirs).skills['b'] as JsonObject)['ref'], commit)
  upstream.write('skills/b/Data.txt', 'two').publish()
  const clone = join(place.root, 'clone')
  mkdirSync(join(clone, '.git'), { recursive: true })
  writeFileSync(join(clone, 'skills-lock.json'), readFileSync(join(theirs, 'skills-lock.json')))
  const again = await skills(clone, place.root, 'experimental_install')
  assert.equal(again.code, 0, again.stdout + again.stderr)
  assert.equal(readFileSync(join(clone, '.agents/skills/b/Data.txt'), 'utf8'), 'one')

  const lock = lockOf(theirs)
  const entry = lock.skills['b'] as JsonObject
  rmSync(join(theirs, 'nexus-skills.lock'))
  rmSync(join(theirs, 'skills'), { recursive: true })
  writeFileSync(
    join(theirs, 'skills-lock.json'),
    JSON.stringify({ ...lock, skills: { ...lock.skills, b: { ...entry, computedHash: '0'.repeat(64) } } }),
  )
  const wrong = await place.run(['skills', 'ci', '--yes'], { cwd: theirs })
  assert.notEqual(wrong.code, 0)
  assert.match(wrong.stderr, /'b' is not what the lock says/)
  assert.ok(!existsSync(join(theirs, 'skills/b')))
})
