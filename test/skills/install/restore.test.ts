import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { applyPlan, fetchLocked, fetchNews, fetchNpm, findNews, findToRestore, lockOf, openSource, planOf, refreshKept, removeSkills, keptScope, resultsOf, restore, sideBySide, verifyCopies } from '../../../src/skills/install/index.ts' // oxfmt-ignore
import { skillText, startGitServer } from './git-server.ts'
import { Ground } from './rig.ts'

const versions = (here: Ground): void => {
  for (const version of ['one', 'two']) here.write(`${version}/a/SKILL.md`, skillText('a', `license: ${version}\n`))
}

test('a restore ends where another lock came between its fetch and its change', async (t) => {
  const here = new Ground(t)
  const { scope } = here
  versions(here)
  await here.folder('two')
  const second = readFileSync(scope.lockPath)
  await here.folder('one')
  rmSync(join(scope.root, 'skills'), { recursive: true })
  const due = await findToRestore(scope, lockOf(scope))
  const wanted = await fetchLocked(scope, due, here.access())
  writeFileSync(scope.lockPath, second)
  await assert.rejects(restore(scope, { due, wanted }, here.options), { code: 'CONFLICT' })
  assert.ok(!existsSync(join(scope.root, 'skills/a')))
})

test('a plan is refused where another lock came after it, and the lock and the copy stay', async (t) => {
  const here = new Ground(t)
  const { scope } = here
  versions(here)
  await here.folder('one')
  const [first, firstLock] = [lockOf(scope), readFileSync(scope.lockPath)]
  await using source = await openSource({ type: 'directory', path: join(here.root, 'two') }, here.access())
  const wanted = (await source.read(source.candidates)).map((each) => ({
    package: each,
    source: source.lockedAs(each),
  }))
  const planned = await planOf(scope, wanted, first)
  await removeSkills(scope, ['a'], here.options)
  const fix = /changed the lock meanwhile. Try again/
  const isRefused = (error: { code?: string; fix?: string }) => error.code === 'CONFLICT' && fix.test(String(error.fix))
  await assert.rejects(applyPlan(scope, planned, here.options), isRefused)
  assert.deepEqual([lockOf(scope).size, existsSync(join(scope.root, 'skills/a'))], [0, false])

  await here.folder('one')
  await applyPlan(scope, await planOf(scope, wanted, lockOf(scope)), here.options)
  // Another process took the same meanwhile: nothing of the plan has changed.
  await applyPlan(scope, planned, here.options)
  writeFileSync(scope.lockPath, firstLock)
  const added = await planOf(scope, wanted, new Map())
  await assert.rejects(applyPlan(scope, added, here.options), isRefused)
  assert.deepEqual(readFileSync(scope.lockPath), firstLock)
})

test('a kept revision that is damaged is not placed; it is let go, and the next try asks the source', async (t) => {
  const here = new Ground(t)
  const { scope } = here
  versions(here)
  await here.folder('one')
  rmSync(join(scope.root, 'skills'), { recursive: true })
  const [name = ''] = readdirSync(join(here.nexusHome, 'cache/revisions'))
  const file = join(here.nexusHome, 'cache/revisions', name)
  writeFileSync(file, readFileSync(file, 'utf8').replace('license: one', 'license: 0ne'))
  const again = async () => {
    const due = await findToRestore(scope, lockOf(scope))
    return restore(scope, { due, wanted: await fetchLocked(scope, due, here.access()) }, here.options)
  }
  await assert.rejects(again(), { code: 'CONFLICT' })
  assert.ok(!existsSync(file))
  await again()
  assert.equal(readFileSync(join(scope.root, 'skills/a/SKILL.md'), 'utf8'), skillText('a', 'license: one\n'))
})

test('a place that is a link is neither read nor replaced', async (t) => {
  const here = new Ground(t)
  const { scope } = here
  versions(here)
  await here.folder('one')
  rmSync(join(scope.root, 'skills/a'), { recursive: true })
  here.write('private/id_rsa', 'key')
  symlinkSync('../../private', join(scope.root, 'skills/a'))
  await assert.rejects(verifyCopies(scope), { code: 'PATH_OUTSIDE' })
  await assert.rejects(here.folder('two'), { code: 'PATH_OUTSIDE' })
  assert.deepEqual(readdirSync(join(here.root, 'private')), ['id_rsa'])
})

test('two skills for one place are refused, whatever named them', async (t) => {
  const here = new Ground(t)
  const { scope } = here
  here.write('workspace/x/one/SKILL.md', skillText('a'))
  here.write('workspace/x/two/SKILL.md', skillText('a', 'license: MIT\n'))
  const entry = (skillPath: string) => ({ source: './x', sourceType: 'local', skillPath })
  const wanted = await fetchNpm(scope, { a: entry('one/SKILL.md'), b: entry('two/SKILL.md') }, here.access())
  await assert.rejects(planOf(scope, wanted, lockOf(scope)), { code: 'CONFLICT' })
})

test('a skills-lock.json names no folder outside of its project', async (t) => {
  const here = new Ground(t)
  here.write('private/SKILL.md', skillText('private'))
  for (const source of ['../private', join(here.root, 'private')])
    await assert.rejects(
      fetchNpm(here.scope, { private: { source, sourceType: 'local' } }, here.access()),
      { code: 'INVALID_ARGUMENT' },
      source,
    )
})

test('a skill that its author moved keeps no other from being updated', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('tools')
  for (const name of ['a', 'b']) upstream.write(`${name}/SKILL.md`, skillText(name))
  upstream.publish()
  const here = new Ground(t)
  const { scope } = here
  await here.install({ type: 'git', url: server.url('tools') })
  rmSync(join(upstream.directory, 'a'), { recursive: true })
  upstream.write('b/SKILL.md', skillText('b', 'license: MIT\n')).publish()
  const news = await findNews([...lockOf(scope).values()], here.access())
  const { fetched, gone } = await fetchNews(news, here.access())
  assert.deepEqual(fetched.map((each) => each.package.name), ['b']) // oxfmt-ignore
  assert.deepEqual(gone.map(({ name, error }) => [name, error.code]), [['a', 'FILE_NOT_FOUND']]) // oxfmt-ignore
})

test('a copy of a git source that was changed or removed in the cache comes back with the next refresh', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('team')
  for (const name of ['a', 'b']) upstream.write(`${name}/SKILL.md`, skillText(name, 'allowed-tools: bash\n'))
  upstream.publish()
  const here = new Ground(t)
  const source = { url: server.url('team'), refreshMs: 0, follow: false }
  const scope = keptScope(source, { nexusHome: here.nexusHome, stateDirectory: here.root })
  const access = { ...here.access(scope), workspace: here.scope.root, hasSettings: () => false }
  const refresh = () => refreshKept(scope, source, { ...here.options, access })
  await refresh()
  const asked = server.requests.length
  await refresh()
  assert.equal(server.requests.length - asked, 2, 'nothing is fetched without news')
  writeFileSync(join(scope.root, 'skills/a/SKILL.md'), 'other')
  rmSync(join(scope.root, 'skills/b'), { recursive: true })
  // A newer revision waits, as it asks for more than the one that was accepted.
  upstream.write('b/SKILL.md', skillText('b', 'allowed-tools: bash read\n')).publish()
  assert.deepEqual((await refresh()).waiting.map(({ name, widens }) => [name, widens.tools]), [['b', ['read']]]) // oxfmt-ignore
  for (const name of ['a', 'b'])
    assert.equal(
      readFileSync(join(scope.root, 'skills', name, 'SKILL.md'), 'utf8'),
      skillText(name, 'allowed-tools: bash\n'),
    )
  rmSync(join(scope.root, 'skills/a'), { recursive: true })
  await server.stop()
  assert.match((await refresh()).problem ?? '', /could not be fetched/)
  assert.ok(existsSync(join(scope.root, 'skills/a')), 'also without the server')
})

test('a server without filters, and one of the first protocol, give the same skill', async (t) => {
  for (const isOld of [false, true]) {
    const server = await startGitServer(t, { isOld })
    const upstream = server.upstream('plain').write('a/SKILL.md', skillText('a')).write('a/data.txt', 'data')
    upstream.publish()
    for (const name of ['allowFilter', 'allowAnySHA1InWant']) upstream.onServer('config', `uploadpack.${name}`, 'false')
    const here = new Ground(t)
    await here.install({ type: 'git', url: server.url('plain') })
    assert.equal(readFileSync(join(here.scope.root, 'skills/a/data.txt'), 'utf8'), 'data')
  }
})

test('many sources are asked a few at a time, and a failure keeps no other from its end', async () => {
  const [running, most, ended] = [new Set<number>(), { value: 0 }, new Set<number>()]
  const items = Array.from({ length: 40 }, (_, index) => index)
  const results = await sideBySide(items, async (item) => {
    running.add(item)
    most.value = Math.max(most.value, running.size)
    await new Promise(setImmediate)
    running.delete(item)
    ended.add(item)
    if (item === 3) throw new Error('three')
    return item
  })
  assert.equal(most.value, 8)
  assert.equal(ended.size, 40)
  assert.throws(() => resultsOf(results), /three/)
  assert.deepEqual(resultsOf(results.filter((_, index) => index !== 3)), items.filter((item) => item !== 3)) // oxfmt-ignore
})

test('a lock with conflict markers, and one of a newer format, stop every change and stay as they are', async (t) => {
  const here = new Ground(t)
  const { scope } = here
  versions(here)
  await here.folder('one')
  const text = readFileSync(scope.lockPath, 'utf8')
  const damaged = [
    [`<<<<<<< HEAD\n${text}=======\n${text}>>>>>>> theirs\n`, /conflict markers/, /remove the markers, then run: nexus skills ci/],
    [text.replace('"version": 1\n', '"version": 99\n'), /format 99/, /Update Nexus/],
  ] as const // oxfmt-ignore
  for (const [lock, message, fix] of damaged) {
    writeFileSync(scope.lockPath, lock)
    const isRefused = (error: Error & { fix?: string }) => message.test(error.message) && fix.test(String(error.fix))
    await assert.rejects(here.folder('two'), isRefused)
    await assert.rejects(removeSkills(scope, ['a'], here.options), isRefused)
    await assert.rejects(verifyCopies(scope), isRefused)
    assert.equal(readFileSync(scope.lockPath, 'utf8'), lock)
    assert.match(readFileSync(join(scope.root, 'skills/a/SKILL.md'), 'utf8'), /license: one/)
  }
})
