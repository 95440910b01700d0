import assert from 'node:assert/strict'
import { createCipheriv } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runGit } from '../../../src/machine/host/index.ts'
import { isNexusError } from '../../../src/kernel/index.ts'
import {
  applyPlan,
  lockOf,
  openSource,
  planOf,
  readLocator,
  type Scope,
  scopeOf,
} from '../../../src/skills/install/index.ts'
import { git, type GitServer, skillText, startGitServer } from './git-server.ts'

interface Ground {
  readonly scope: Scope
  readonly root: string
}

function ground(t: { after: (fn: () => void) => void }): Ground {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-hostile-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'workspace'))
  const nexusHome = join(root, 'home')
  const directory = join(root, 'workspace')
  return { root, scope: scopeOf({ kind: 'workspace', directory, nexusHome, stateDirectory: join(nexusHome, 'state') }) }
}

async function installAll(
  server: GitServer,
  name: string,
  { scope, root }: Ground,
  onBytes: (bytes: number) => void = () => undefined,
) {
  await using source = await openSource(readLocator(server.url(name), { cwd: root }), { scope, home: root, onBytes })
  const packages = await source.read(source.candidates)
  const wanted = packages.map((each) => ({ package: each, source: source.lockedAs(each) }))
  const planned = await planOf(scope, wanted, lockOf(scope))
  await applyPlan(scope, planned, { alone: (_, work) => work(), now: new Date(0) })
  return planned
}

const REFUSED = [
  'ext::sh -c touch% /tmp/x',
  'EXT::sh',
  '--upload-pack=touch /tmp/x',
  '-oProxyCommand=touch',
  'file:///etc',
  'fd::7',
  'git://host/x',
  'ftp://host/x',
  'https://user:token@host/x',
  'https://token@host/x',
  'ssh://-oProxyCommand=x/y',
  'ssh://-x@host/y',
  'http://example.com/x',
  'http://127.0.0.1.example.com/x',
  'https://host/x\nfetch',
  'https://host/x#--upload-pack=touch',
  'https://host/x#a..b',
  'https://host/x#-b',
  'https://host/"x"',
  'owner/..',
  'owner/repo/../x',
  '',
  '   ',
]

test('addresses that git must not be given are refused before it starts, without their secrets', () => {
  for (const what of REFUSED) {
    assert.throws(
      () => readLocator(what, { cwd: '/nowhere' }),
      (error) => isNexusError(error) && error.code === 'INVALID_ARGUMENT' && !/token@|:token/.test(error.message),
      what,
    )
  }
})

test('links, submodules, attributes, hooks and embedded repositories of a repository have no effect', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('evil')
  const marker = join(server.root, 'marker')
  upstream
    .write('a/SKILL.md', skillText('a'))
    .write('.gitattributes', '* filter=evil\n*.md filter=lfs diff=lfs merge=lfs\n')
    .write('.lfsconfig', '[lfs]\n\turl = http://127.0.0.1:1/\n')
    .write('.gitmodules', `[submodule "x"]\n\tpath = a/sub\n\turl = ext::sh -c touch% ${marker}\n`)
    .write('a/hooks/post-checkout', `#!/bin/sh\ntouch ${marker}\n`, 0o755)
  symlinkSync('/etc/passwd', join(upstream.directory, 'a/passwd'))
  symlinkSync('/etc', join(upstream.directory, 'a/etc'))
  git(upstream.directory, 'add', '-A')
  git(upstream.directory, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},a/sub`)
  git(upstream.directory, 'commit', '-q', '-m', 'evil')
  git(upstream.directory, 'push', '-q', upstream.bare, 'HEAD:refs/heads/main')
  const here = ground(t)
  const [plan] = await installAll(server, 'evil', here)
  assert.deepEqual([...(plan?.package.leftOut ?? [])].toSorted(), ['etc', 'passwd', 'sub'])
  assert.deepEqual(readdirSync(join(here.scope.root, 'skills/a')).toSorted(), ['SKILL.md', 'hooks'])
  assert.ok(!existsSync(marker))
})

test('a skill with an embedded repository, whose configuration git would obey, is refused', async (t) => {
  const server = await startGitServer(t)
  const marker = join(server.root, 'marker')
  for (const [name, inner] of [
    ['below', 'a/inner/'],
    ['itself', 'a/'],
  ] as const)
    // oxfmt-ignore
    server
      .upstream(name)
      .write('a/SKILL.md', skillText('a'))
      .write(`${inner}HEAD`, 'ref: refs/heads/main\n')
      .write(`${inner}config`, `[core]\n\tbare = true\n\tfsmonitor = "touch ${marker}"\n`)
      .write(`${inner}objects/x`, '')
      .write(`${inner}refs/x`, '')
      .publish()
  for (const name of ['below', 'itself']) await assert.rejects(installAll(server, name, ground(t)), { code: 'SKILL_INVALID' }, name) // oxfmt-ignore
  assert.ok(!existsSync(marker))
})

test('names that deceive or collide are refused, and nothing is placed', async (t) => {
  const server = await startGitServer(t)
  const names = ['a\nb', 'CON', 'x.', 'a\u202eb', 'skill.MD\u200b', 'a:b', 'back\\slash']
  for (const [index, name] of names.entries())
    server.upstream(`r${index}`).write('a/SKILL.md', skillText('a')).write(`a/${name}`, 'x').publish()
  server.upstream('case').write('a/SKILL.md', skillText('a')).write('a/x/y', '1').write('a/X', '2').publish()
  for (const name of [...names.map((_, index) => `r${index}`), 'case']) {
    const here = ground(t)
    await assert.rejects(
      installAll(server, name, here),
      { code: 'SKILL_INVALID' },
      names[Number(name.slice(1))] ?? name,
    )
    assert.deepEqual(readdirSync(here.scope.root), [])
  }
})

/** 3,000 in the rounds of `test:long`: to write them takes long. */
const FILES = process.env['TEST_ROUNDS'] === undefined ? 600 : 3_000

test(`a file of 60 MB is refused in a skill and not fetched beside one; ${FILES} files in two skills are placed`, async (t) => {
  const server = await startGitServer(t)
  server.upstream('large').write('a/SKILL.md', skillText('a')).write('a/blob', Buffer.alloc(60_000_000)).publish()
  // Bytes that do not compress.
  const blob = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(8_000_000))
  const many = server.upstream('many').write('blob', blob)
  for (const name of ['a', 'b']) {
    many.write(`${name}/SKILL.md`, skillText(name))
    for (let index = 1; index < FILES / 2; index++) many.write(`${name}/f/${index}`, `${name} ${index}`)
  }
  many.publish()
  await assert.rejects(installAll(server, 'large', ground(t)), { code: 'LIMIT_EXCEEDED' })
  const here = ground(t)
  let most = 0
  await installAll(server, 'many', here, (bytes) => void (most = Math.max(most, bytes)))
  for (const name of ['a', 'b'])
    assert.equal(readdirSync(join(here.scope.root, 'skills', name, 'f')).length, FILES / 2 - 1)
  assert.ok(most < 5_000_000, `${most} bytes came`)
})

test('a branch that is gone, a repository without commits and a server that says no are errors, and nothing is left', async (t) => {
  const server = await startGitServer(t)
  server.upstream('empty')
  const here = ground(t)
  await assert.rejects(installAll(server, 'empty', here), { code: 'FILE_NOT_FOUND' })
  await assert.rejects(installAll(server, 'absent', here), { code: 'NETWORK_FAILED' })
  assert.deepEqual(readdirSync(join(here.scope.nexusHome, 'cache/git')), [])
})

test('git gets nothing of the environment, the system or the configuration of the user but credentials', async (t) => {
  const { root } = ground(t)
  writeFileSync(
    join(root, '.gitconfig'),
    '[alias]\n\tx = !echo aliased\n[core]\n\tfsmonitor = false\n[user]\n\tname = me\n',
  )
  const before = process.env['GIT_SSH_COMMAND']
  process.env['GIT_SSH_COMMAND'] = 'touch /tmp/never'
  t.after(() => {
    if (before === undefined) delete process.env['GIT_SSH_COMMAND']
    else process.env['GIT_SSH_COMMAND'] = before
  })
  const user = { home: root, settings: [['credential.helper', 'store']] as const }
  const limits = { timeoutMs: 5_000, maxOutputBytes: 65_536 }
  const listed = await runGit({ args: ['config', '--list'], user, ...limits })
  assert.equal(listed.type, 'ended')
  const text = Buffer.from(listed.stdout ?? []).toString()
  assert.match(text, /^credential\.helper=store$/m)
  assert.match(text, /^core\.hookspath=\/dev\/null$/m)
  assert.doesNotMatch(text, /alias|user\.name/)
  const refused = await runGit({ args: ['ls-remote', '--', 'ext::sh -c "echo hi"'], user, ...limits })
  assert.ok(refused.type === 'ended' && refused.code !== 0)
})

test('a source whose names a lock cannot hold leaves the lock as it was', async (t) => {
  const server = await startGitServer(t)
  server.upstream('good').write('a/SKILL.md', skillText('a')).publish()
  const upstream = server.upstream('bad').write('b/SKILL.md', skillText('b'))
  upstream.publish('größe')
  upstream.onServer('symbolic-ref', 'HEAD', 'refs/heads/größe')
  const here = ground(t)
  await installAll(server, 'good', here)
  await assert.rejects(installAll(server, 'bad', here), (error) => isNexusError(error))
  assert.deepEqual([...lockOf(here.scope).keys()], ['skills/a'])
  assert.equal(existsSync(join(here.scope.root, 'skills/b')), false)
})
