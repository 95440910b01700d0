import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  applyPlan,
  fetchNpm,
  lockOf,
  openSource,
  planOf,
  readNpmLock,
  removeSkills,
  scopeOf,
} from '../../../src/skills/install/index.ts'
import { git, skillText, startGitServer } from './git-server.ts'

const alone = <T>(_: string, work: () => Promise<T>): Promise<T> => work()

async function ground(t: TestContext) {
  const server = await startGitServer(t)
  const upstream = server.upstream('tools').write('a/SKILL.md', skillText('a')).write('a/B.txt', 'b')
  const commit = upstream.publish()
  const directoryId = git(upstream.directory, 'rev-parse', `${commit}:a`)
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-npm-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'workspace'))
  const directory = join(root, 'workspace')
  const scope = scopeOf({ kind: 'workspace', directory, nexusHome: join(root, 'home'), stateDirectory: root })
  const access = { scope, home: root }
  const install = async () => {
    await using source = await openSource({ type: 'git', url: server.url('tools') }, access)
    const packages = await source.read(source.candidates)
    const wanted = packages.map((each) => ({ package: each, source: source.lockedAs(each) }))
    return await applyPlan(scope, await planOf(scope, wanted, lockOf(scope)), { alone, now: new Date(0) })
  }
  const path = join(directory, 'skills-lock.json')
  const write = (skills: object) => writeFileSync(path, JSON.stringify({ version: 1, skills }))
  return { url: server.url('tools'), commit, directoryId, scope, access, install, write, read: () => JSON.parse(readFileSync(path, 'utf8')) as { skills: object }, path } // oxfmt-ignore
}

/** As their program makes it. */
const hash = createHash('sha256').update('B.txt').update('b').update('SKILL.md').update(skillText('a')).digest('hex')

test('a skills-lock.json that is there gets our git skills and loses them, and keeps what is not ours', async (t) => {
  const { url, commit, install, write, read, scope, path } = await ground(t)
  await install()
  assert.ok(!existsSync(path))
  const other = { source: 'x/y', sourceType: 'github', computedHash: 'z', more: [1] }
  write({ z: other })
  await removeSkills(scope, ['a'], { alone })
  await install()
  const entry = {
    source: url,
    sourceUrl: url,
    sourceType: 'git',
    ref: commit,
    skillPath: 'a/SKILL.md',
    computedHash: hash,
  }
  assert.deepEqual(read().skills, { a: entry, z: other })
  await removeSkills(scope, ['a'], { alone })
  assert.deepEqual(read().skills, { z: other })
})

test('a skills-lock.json is fetched at its commit; a hash that does not fit, and a source that may not be, are errors', async (t) => {
  const { url, commit, write, scope, access } = await ground(t)
  const entry = { source: url, sourceUrl: url, sourceType: 'git', ref: commit, skillPath: 'a/SKILL.md' }
  const fetched = async (a: object) => {
    write({ a })
    return fetchNpm(scope, readNpmLock(scope) ?? {}, access)
  }
  const [read] = await fetched({ ...entry, computedHash: hash })
  assert.ok(read?.source.type === 'git' && read.source.commit === commit && read.source.path === 'a')
  await assert.rejects(fetched({ ...entry, computedHash: '0'.repeat(64) }), { code: 'SKILL_INVALID' })
  await assert.rejects(fetched({ ...entry, skillPath: '../a/SKILL.md' }), { code: 'INVALID_ARGUMENT' })
  await assert.rejects(fetched({ ...entry, skillPath: 'b/SKILL.md' }), { code: 'SKILL_NOT_FOUND' })
  await assert.rejects(fetched({ ...entry, sourceType: 'node_modules' }), { code: 'INVALID_ARGUMENT' })
  for (const bad of ['ext::sh -c x', '/etc', '--upload-pack=x', 'file:///etc', './x', 'https://a:b@c/d'])
    await assert.rejects(fetched({ ...entry, sourceUrl: bad }), { code: 'INVALID_ARGUMENT' }, bad)
})

test('the .skill-lock.json of a user, version 3, gets our git skills, and is read by either of its hashes', async (t) => {
  const { url, scope: workspace, access: of, directoryId } = await ground(t)
  const root = join(workspace.root, '../user')
  const path = join(root, '.agents/.skill-lock.json')
  mkdirSync(join(root, '.agents'), { recursive: true })
  const options = { kind: 'user', directory: join(root, 'nexus'), home: root, nexusHome: workspace.nexusHome } as const
  const scope = scopeOf({ ...options, stateDirectory: join(root, 'state') })
  const access = { ...of, scope }
  const other = { source: 'x/y', sourceType: 'github', skillFolderHash: 'z', installedAt: 'then', more: [1] }
  const write = (skills: object, version = 3) => writeFileSync(path, JSON.stringify({ version, skills, dismissed: { a: true } })) // oxfmt-ignore
  write({ z: other })
  await using source = await openSource({ type: 'git', url }, access)
  const packages = await source.read(source.candidates)
  const wanted = packages.map((each) => ({ package: each, source: source.lockedAs(each) }))
  await applyPlan(scope, await planOf(scope, wanted, lockOf(scope)), { alone, now: new Date(0) })
  const { skills, dismissed } = JSON.parse(readFileSync(path, 'utf8')) as { skills: Record<string, Record<string, string>>; dismissed: object } // oxfmt-ignore
  assert.deepEqual([skills['z'], dismissed], [other, { a: true }])
  const { installedAt = '', updatedAt = '', ...entry } = skills['a'] ?? {}
  assert.ok(Date.parse(installedAt) > 0 && Date.parse(updatedAt) > 0)
  assert.deepEqual(entry, { source: url, sourceUrl: url, sourceType: 'git', ref: 'main', skillPath: 'a/SKILL.md', skillFolderHash: hash }) // oxfmt-ignore
  const fetched = async (skillFolderHash: string) => {
    write({ a: { ...entry, skillFolderHash } })
    return fetchNpm(scope, readNpmLock(scope) ?? {}, access)
  }
  for (const good of [hash, directoryId, '']) assert.equal((await fetched(good))[0]?.package.name, 'a', good)
  for (const bad of ['0'.repeat(64), '0'.repeat(40)]) await assert.rejects(fetched(bad), { code: 'SKILL_INVALID' }, bad)
  await removeSkills(scope, ['a'], { alone })
  assert.deepEqual(Object.keys((JSON.parse(readFileSync(path, 'utf8')) as { skills: object }).skills), [])
  write({ z: other }, 2)
  assert.equal(readNpmLock(scope), undefined)
  // Theirs goes where XDG_STATE_HOME says, and looks at no other place then.
  const moved = scopeOf({ ...options, stateDirectory: join(root, 'state'), stateHome: join(root, 'xdg') })
  assert.equal(readNpmLock(moved), undefined)
  mkdirSync(join(root, 'xdg/skills'), { recursive: true })
  writeFileSync(join(root, 'xdg/skills/.skill-lock.json'), JSON.stringify({ version: 3, skills: { z: other } }))
  await applyPlan(moved, await planOf(moved, wanted, lockOf(moved)), { alone, now: new Date(0) })
  assert.deepEqual(Object.keys(readNpmLock(moved) ?? {}), ['a', 'z'])
})

test('a skills-lock.json that cannot be read stops a change before it begins', async (t) => {
  const { install, scope, path } = await ground(t)
  writeFileSync(path, '{ "version": 1, <<<<<<< ')
  await assert.rejects(install(), { code: 'CONFIG_INVALID' })
  assert.ok(!existsSync(join(scope.root, 'skills/a')) && !existsSync(scope.lockPath))
})
