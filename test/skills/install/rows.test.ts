/** Rows of the list of hostile archives and repositories in docs/security.md that no other test has. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { keptScope, lockOf, openSource, refreshKept, verifyCopies } from '../../../src/skills/install/index.ts'
import { processesWith } from '../../apps/mcp/client.ts'
import { skillText, startGitServer } from './git-server.ts'
import { Ground } from './rig.ts'

function pack(here: Ground, name: string, ...args: string[]): string {
  const path = join(here.root, name)
  assert.equal(spawnSync('tar', ['--format=ustar', '-czf', path, '-C', here.root, ...args]).status, 0)
  return path
}

/** For other users bubblewrap makes a user namespace, in which system directories have an unknown owner: Nexus keeps nothing below them. */
const skip = process.getuid?.() !== 0 && 'only root gets a mount namespace with the owners of directories'

test('an archive inside of an archive stays a file', async (t) => {
  const here = new Ground(t)
  here.write('a/SKILL.md', skillText('a'))
  const inner = here.write('a/inner.zip', Buffer.from('PK\u0003\u0004 whatever this unpacks to'))
  await here.install({ type: 'archive', path: pack(here, 'a.tar.gz', 'a') })
  assert.deepEqual(readFileSync(join(here.scope.root, 'skills/a/inner.zip')), readFileSync(inner))
})

test('a name that another system reads as a repository is refused, also in a folder', async (t) => {
  const here = new Ground(t)
  here.write('from/a/SKILL.md', skillText('a'))
  here.write('from/a/.GIT/config', '[core]\n\tfsmonitor = touch x\n')
  await assert.rejects(here.folder('from'), { code: 'SKILL_INVALID' })
  assert.deepEqual(readdirSync(here.scope.root), [])
})

test('an archive without SKILL.md has no skill, one of 11 MiB is refused, and setuid bits are gone', async (t) => {
  const here = new Ground(t)
  here.write('none/readme.md', 'x')
  mkdirSync(join(here.root, 'none/SKILL.md'))
  await using none = await openSource({ type: 'archive', path: pack(here, 'none.tgz', 'none') }, here.access())
  assert.deepEqual(none.candidates, [])
  here.write('large/SKILL.md', `${skillText('large')}${'A'.repeat(11_000_000)}`)
  const large = { type: 'archive', path: pack(here, 'large.tgz', 'large') } as const
  await assert.rejects(here.install(large), { code: 'LIMIT_EXCEEDED' })
  here.write('modes/SKILL.md', skillText('modes'))
  here.write('modes/run.sh', '#!/bin/sh\n', 0o755)
  assert.equal(spawnSync('chmod', ['u+s,g+s', join(here.root, 'modes/run.sh')]).status, 0)
  await here.install({ type: 'archive', path: pack(here, 'modes.tgz', 'modes') })
  assert.equal(statSync(join(here.scope.root, 'skills/modes/run.sh')).mode & 0o7777, 0o755)
})

test('a gzip bomb stops at the limit of decoded bytes, and the event loop goes on meanwhile', async (t) => {
  const here = new Ground(t)
  const path = here.write('bomb.tgz', gzipSync(Buffer.alloc(256 * 1024 * 1024), { level: 1 }))
  let turns = 0
  const clock = setInterval(() => (turns += 1), 5)
  await assert.rejects(openSource({ type: 'archive', path }, here.access()), { code: 'LIMIT_EXCEEDED' })
  clearInterval(clock)
  assert.ok(turns > 3, `${turns} turns of the loop`)
})

test('a disk that is full while a skill is placed leaves the old version, its lock and nothing else', { skip }, (t) => {
  const here = new Ground(t)
  here.write('one/a/SKILL.md', skillText('a', 'license: one\n'))
  here.write('two/a/SKILL.md', skillText('a', 'license: two\n'))
  for (let index = 0; index < 4; index++) here.write(`two/a/f${index}`, Buffer.alloc(1_000_000, 'x'))
  const script = join(import.meta.dirname, 'full-disk.ts')
  const args = ['--dev-bind', '/', '/', '--size', '2000000', '--tmpfs', here.scope.root]
  const ended = spawnSync('bwrap', [...args, process.execPath, script, here.root], { encoding: 'utf8' })
  if (/bwrap: |ENOENT/.test(ended.stderr ?? 'ENOENT')) return t.skip('bubblewrap does not start here')
  assert.equal(ended.stdout, 'ENOSPC license: one, as the lock has it, and nothing else\n', ended.stderr)
})

test('a branch that is gone, and a repository whose HEAD leads nowhere, leave the served copies and say why', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('team').write('a/SKILL.md', skillText('a'))
  upstream.publish()
  upstream.publish('work')
  const here = new Ground(t)
  for (const branch of ['work', undefined]) {
    const source = { url: server.url('team'), refreshMs: 0, follow: false, ...(branch && { branch }) }
    const scope = keptScope(source, { nexusHome: here.nexusHome, stateDirectory: here.root })
    const access = { ...here.access(scope), workspace: here.scope.root, hasSettings: () => false }
    const refresh = () => refreshKept(scope, source, { ...here.options, access })
    assert.equal((await refresh()).problem, undefined)
    if (branch) upstream.onServer('update-ref', '-d', 'refs/heads/work')
    else upstream.onServer('symbolic-ref', 'HEAD', 'refs/heads/nowhere')
    assert.match((await refresh()).problem ?? '', branch ? /no branch or tag 'work'/ : /no default branch/)
    assert.deepEqual([...lockOf(scope).keys()], ['skills/a'])
    assert.ok((await verifyCopies(scope)).every(({ drift }) => drift.length === 0))
  }
})

test('the next fetch removes the repository that a killed process left', async (t) => {
  const server = await startGitServer(t)
  server.upstream('tools').write('a/SKILL.md', skillText('a')).publish()
  const here = new Ground(t)
  await here.install({ type: 'git', url: server.url('tools') })
  const work = join(here.nexusHome, 'cache/git')
  const namespace = String(statSync('/proc/self/ns/pid', { throwIfNoEntry: false })?.ino ?? 0)
  mkdirSync(join(work, `.nexus-new-${namespace}-4194304-1-00000000/objects`), { recursive: true })
  writeFileSync(join(work, `.nexus-new-${namespace}-4194304-1-00000000/HEAD`), 'ref: refs/heads/none\n')
  await here.install({ type: 'git', url: server.url('tools') })
  assert.deepEqual(readdirSync(work), [])
})

test('a server that sends 10 bytes a second ends with the time of a fetch, and nothing is left', async (t) => {
  const timers: NodeJS.Timeout[] = []
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/x-git-upload-pack-advertisement')
    timers.push(setInterval(() => response.write('0'.repeat(10)), 1_000))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const timer of timers) clearInterval(timer)
    server.closeAllConnections()
    server.close()
  })
  const here = new Ground(t)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slow.git`
  const access = { ...here.access(), fetchMs: 1_500 }
  await assert.rejects(openSource({ type: 'git', url }, access), { code: 'TIMEOUT' })
  assert.deepEqual(readdirSync(join(here.nexusHome, 'cache/git')), [])
  assert.deepEqual(processesWith(url), [])
})
