/** What is between two steps of a change, and what comes with the lock of somebody else. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs' // oxfmt-ignore
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  applyPlan,
  fetchLocked,
  findToRestore,
  inScope,
  lockOf,
  openSource,
  planOf,
  readMemory,
  removeSkills,
  restore,
  rollBack,
  type Scope,
  scopeOf,
  verifyCopies,
} from '../../../src/skills/install/index.ts'
import { ownerToken } from '../../../src/machine/files/index.ts'
import { skillText, startGitServer } from './git-server.ts'

const alone = <T>(_: string, work: () => Promise<T>): Promise<T> => work()
const options = { alone, now: new Date(0) }

function ground(t: { after: (fn: () => void) => void }) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-faults-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const nexusHome = join(root, 'home')
  const place = (name: string) => {
    mkdirSync(join(root, name), { recursive: true })
    return scopeOf({ kind: 'workspace', directory: join(root, name), nexusHome, stateDirectory: join(root, 'state') })
  }
  for (const version of ['one', 'two']) {
    mkdirSync(join(root, version, 'a'), { recursive: true })
    writeFileSync(join(root, version, 'a/SKILL.md'), skillText('a', `license: ${version}\n`))
  }
  return { root, nexusHome, place, scope: place('workspace') }
}

async function install(scope: Scope, directory: string, more: object = {}) {
  await using source = await openSource({ type: 'directory', path: directory }, { scope, home: directory })
  const packages = await source.read(source.candidates)
  const wanted = packages.map((each) => ({ package: each, source: source.lockedAs(each) }))
  return await applyPlan(scope, await planOf(scope, wanted, lockOf(scope)), { ...options, ...more })
}

const textAt = ({ root }: Scope) => readFileSync(join(root, 'skills/a/SKILL.md'), 'utf8')

/** A workspace at version one, and the journal of a process that was killed while it placed version two. */
async function interrupted({ root, place, scope }: ReturnType<typeof ground>) {
  await install(scope, join(root, 'one'))
  const other = place('other')
  await install(other, join(root, 'two'))
  const owner = `${ownerToken().split('-')[0]}-4194304-1`
  const own = `${owner}-00000000`
  const moves = [{ name: 'a', stage: `.nexus-new-${own}`, backup: `.nexus-old-${own}` }]
  mkdirSync(join(scope.root, 'skills', `.nexus-new-${own}`))
  writeFileSync(join(scope.root, 'skills', `.nexus-new-${own}`, 'SKILL.md'), textAt(other))
  const journal = {
    ...{ owner, root: scope.root, moves, lock: readFileSync(other.lockPath, 'utf8') },
    lockBefore: createHash('sha256').update(readFileSync(scope.lockPath)).digest('hex'),
    memory: { 'skills/a': { before: [...lockOf(scope).values()] } },
    seats: { home: scope.home, filled: [], emptied: [] },
  }
  writeFileSync(join(scope.stateDirectory, `${scope.key}.journal`), JSON.stringify(journal))
}

test('a killed change is ended with its memory: the copy can be rolled back', async (t) => {
  const here = ground(t)
  await interrupted(here)
  await inScope(here.scope, options, async () => undefined)
  assert.match(textAt(here.scope), /two/)
  await rollBack(here.scope, 'a', options)
  assert.match(textAt(here.scope), /one/)
})

test('a lock that came with git pull after a kill stays, and the change is undone', async (t) => {
  const here = ground(t)
  const { scope, root } = here
  await interrupted(here)
  const pulled = readFileSync(scope.lockPath, 'utf8').replace('"pinned": false', '"pinned": true')
  writeFileSync(scope.lockPath, pulled)
  await inScope(scope, options, async () => undefined)
  assert.equal(readFileSync(scope.lockPath, 'utf8'), pulled)
  assert.match(textAt(scope), /one/)
  assert.deepEqual(readdirSync(join(scope.root, 'skills')), ['a'])
  assert.deepEqual(
    (await verifyCopies(scope)).flatMap(({ drift }) => drift),
    [],
  )
  assert.ok(!existsSync(join(root, 'state/install', `${scope.key}.journal`)))
})

test('rollback says where local edits are kept, and a refusal names the command that was typed', async (t) => {
  const { root, scope } = ground(t)
  await install(scope, join(root, 'one'))
  await install(scope, join(root, 'two'))
  writeFileSync(join(scope.root, 'skills/a/SKILL.md'), 'mine')
  await assert.rejects(removeSkills(scope, ['a'], { alone, command: ['skills', 'remove', 'a'] }), (error) =>
    /nexus skills remove a --overwrite a/.test(JSON.stringify(error)),
  )
  const { kept } = await rollBack(scope, 'a', { ...options, overwrite: new Set(['a']) })
  assert.equal(readFileSync(join(kept.get('a') ?? '', 'SKILL.md'), 'utf8'), 'mine')
})

test('an archive address of a lock is checked as a typed one is', async (t) => {
  const { root, scope } = ground(t)
  await install(scope, join(root, 'one'))
  const lock = readFileSync(scope.lockPath, 'utf8')
  rmSync(join(scope.root, 'skills'), { recursive: true })
  rmSync(scope.nexusHome, { recursive: true })
  const restoreFrom = async (url: string) => {
    const source = `"source": {"type":"archive","sha256":"${'0'.repeat(64)}","path":"","url":"${url}"}`
    writeFileSync(scope.lockPath, lock.replace(/"source": \{[^}]*\}/, source))
    return fetchLocked(scope, await findToRestore(scope, lockOf(scope)), { scope, home: root })
  }
  for (const url of ['https://user:token@host/a.zip', 'file:///etc/a.zip', 'https://host/a', 'ftp://host/a.zip'])
    await assert.rejects(restoreFrom(url), { code: 'CONFIG_INVALID' }, url)
  await assert.rejects(restoreFrom('http://example.com/a.zip'), { code: 'INVALID_ARGUMENT' })
})

test('a fetch that fails leaves no repository in the cache', async (t) => {
  const server = await startGitServer(t)
  server.upstream('tools').write('a/SKILL.md', skillText('a')).publish()
  const { root, scope } = ground(t)
  const access = { scope, home: root }
  await using source = await openSource({ type: 'git', url: server.url('tools') }, access)
  const [read] = await source.read(source.candidates)
  assert.ok(read)
  const skill = { ...{ place: 'skills/a', digest: read.digest, files: {}, pinned: false, clients: [] } }
  const locked = {
    type: 'git',
    url: server.url('tools'),
    commit: '1'.repeat(40),
    follows: 'commit',
    path: 'a',
  } as const
  const due = [
    { name: 'a', skill: { ...skill, source: locked }, drift: [], isWhole: false, isMissing: true, isKept: false },
  ]
  await assert.rejects(fetchLocked(scope, due, access), { code: 'NETWORK_FAILED' })
  await source[Symbol.asyncDispose]()
  assert.deepEqual(readdirSync(join(scope.nexusHome, 'cache/git')), [])
})

test('revisions that no lock and no memory refers to are collected, once they are old', async (t) => {
  const { root, scope, nexusHome, place } = ground(t)
  const revisions = join(nexusHome, 'cache/revisions')
  const age = () => {
    for (const name of readdirSync(revisions)) utimesSync(join(revisions, name), new Date(0), new Date(0))
  }
  const second = place('second')
  await install(second, join(root, 'one'))
  await install(scope, join(root, 'one'))
  await install(scope, join(root, 'two'))
  await removeSkills(scope, ['a'], { alone })
  assert.equal(readdirSync(revisions).length, 2, 'a young one stays')
  age()
  await install(scope, join(root, 'one'))
  await removeSkills(scope, ['a'], { alone })
  // The other workspace refers to the first; the second is gone.
  assert.deepEqual(readdirSync(revisions), [`${lockOf(second).get('skills/a')?.digest.slice(7)}.files`])
  rmSync(join(second.root, 'skills'), { recursive: true })
  const due = await findToRestore(second, lockOf(second))
  await restore(second, { due, wanted: await fetchLocked(second, due, { scope: second, home: root }) }, options)
  assert.equal(readMemory(second)['skills/a']?.seenAt, new Date(0).toISOString())
})
