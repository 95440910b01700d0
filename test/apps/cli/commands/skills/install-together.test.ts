import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { COMPILED, ROOT } from '../../../../source-tree.ts'
import { git, skillText, startGitServer } from '../../../../skills/install/git-server.ts'
import { Place } from '../../nexus.ts'

test('installs at the same time wait for each other: all skills are in the lock', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('tools')
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) upstream.write(`${name}/SKILL.md`, skillText(name))
  upstream.publish()
  const place = new Place(t)
  const cwd = join(place.root, 'ours')
  mkdirSync(join(cwd, '.git'), { recursive: true })
  const ran = await Promise.all(
    names.map((name) => place.run(['skills', 'install', server.url('tools'), '--skill', name, '--yes'], { cwd })),
  )
  for (const { code, stderr } of ran) assert.equal(code, 0, stderr)
  const verified = await place.run(['skills', 'verify'], { cwd })
  assert.match(verified.stdout, /4 skills as the lock has them/)
})

test('a commit that a force push took from its branch is restored, where the server still has it', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('tools').write('a/SKILL.md', skillText('a', 'license: one\n'))
  upstream.publish()
  const place = new Place(t)
  const cwd = join(place.root, 'ours')
  mkdirSync(join(cwd, '.git'), { recursive: true })
  assert.equal((await place.run(['skills', 'install', server.url('tools'), '--yes'], { cwd })).code, 0)
  upstream.write('a/SKILL.md', skillText('a', 'license: two\n'))
  git(upstream.directory, 'commit', '-q', '-a', '--amend', '-m', 'other')
  git(upstream.directory, 'push', '-q', '--force', upstream.bare, 'HEAD:refs/heads/main')
  rmSync(join(cwd, 'skills'), { recursive: true })
  const env = { NEXUS_HOME: join(place.root, 'other-home') }
  const restored = await place.run(['skills', 'ci', '--yes'], { cwd, env })
  assert.equal(restored.code, 0, restored.stderr)
  assert.match(readFileSync(join(cwd, 'skills/a/SKILL.md'), 'utf8'), /one/)

  const lock = join(cwd, 'nexus-skills.lock')
  const { 'skills/a': a, ...rest } = JSON.parse(readFileSync(lock, 'utf8')) as { 'skills/a': { source: object } }
  const gone = { ...a, source: { ...a.source, url: 'http://127.0.0.1:9/gone.git' } }
  writeFileSync(lock, JSON.stringify({ 'skills/a': a, 'skills/gone': gone, ...rest }))
  const { code, stdout } = await place.run(['skills', 'outdated'], { cwd })
  assert.equal(code, 3, 'one source gave no answer, so the list is not whole')
  assert.match(stdout, /^a .* → main /m)
  assert.match(stdout, /^gone  not known: /m)
})

test('nexus skills list ends the install that a killed process left', async (t) => {
  const place = new Place(t)
  // The script that is killed works in `workspace` and `home` of one directory, as this place has them.
  rmSync(place.workspace, { recursive: true })
  mkdirSync(join(place.workspace, '.git'), { recursive: true })
  for (const version of ['one', 'two']) {
    mkdirSync(join(place.root, version, 'a/data'), { recursive: true })
    writeFileSync(join(place.root, version, 'a/SKILL.md'), skillText('a', `license: ${version}\n`))
    for (let index = 0; index < 20; index++) writeFileSync(join(place.root, version, 'a/data', `${index}.txt`), version)
  }
  const state = join(place.home, 'state/install')
  let journals = 0
  for (let round = 0; round < 60 && journals === 0; round++) {
    const child = spawn(process.execPath, [COMPILED, join(ROOT, 'test/skills/install/changes.ts'), place.root], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    const until = performance.now() + 400
    while (performance.now() < until && !hasJournal(state)) await sleep(0)
    child.kill('SIGKILL')
    await once(child, 'exit')
    journals = hasJournal(state) ? 1 : 0
  }
  assert.equal(journals, 1, 'no kill met an install under way')
  const listed = await place.run(['skills', 'list', '--all', '--json'])
  assert.equal(listed.code, 0, listed.stderr)
  assert.ok(!hasJournal(state))
  const verified = await place.run(['skills', 'verify'])
  assert.equal(verified.code, 0, verified.stderr)
})

function hasJournal(state: string): boolean {
  return existsSync(state) && readdirSync(state).some((name) => name.endsWith('.journal'))
}
