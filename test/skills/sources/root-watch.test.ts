import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Diagnostic } from '../../../src/kernel/index.ts'
import { watchSources } from '../../../src/skills/sources/index.ts'
import { asNobody, skillText, temporaryDirectory, writeFiles } from './temporary.ts'
import { aged, watching } from './watching.ts'

const TIMED = { timeout: 30_000 }
const CHILD = fileURLToPath(new URL('watch-child.ts', import.meta.url))

function manySkills(root: string, count: number): void {
  for (let index = 0; index < count; index++) writeFiles(root, { [`s${index}/SKILL.md`]: skillText(`s${index}`) })
}

/** Directories that the kernel watches for this process. */
function kernelWatches(): number {
  let count = 0
  for (const fd of readdirSync('/proc/self/fdinfo')) {
    try {
      count += readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').match(/^inotify /gm)?.length ?? 0
    } catch {
      // The descriptor of the listing itself.
    }
  }
  return count
}

/** What the child process saw; undefined where it cannot have limits of its own, and the test is skipped. */
function watchedWithLimit(
  t: TestContext,
  { limit, value, mode, roots }: { limit: string; value: number; mode: string; roots: readonly string[] },
):
  | { readonly mode: string; readonly diagnostics: readonly Diagnostic[]; readonly told: readonly string[] }
  | undefined {
  for (const root of roots) chmodSync(root, 0o777)
  const script = `echo ${value} > /proc/sys/user/${limit} || exit 77; exec "$0" "$@"`
  const child = spawnSync('unshare', ['-Ur', 'sh', '-c', script, process.execPath, CHILD, mode, ...roots], {
    encoding: 'utf8',
    timeout: 25_000,
  })
  if (child.error || child.status === 77 || /unshare/.test(child.stderr)) {
    t.skip(`no user namespace with limits of its own here: ${child.error?.message ?? child.stderr.trim()}`)
    return undefined
  }
  assert.equal(child.status, 0, child.stderr)
  return JSON.parse(child.stdout) as ReturnType<typeof watchedWithLimit>
}

for (const [code, limit, value] of [
  ['ENOSPC', 'max_inotify_watches', 10],
  ['EMFILE', 'max_inotify_instances', 0],
] as const) {
  test(`a kernel that answers ${code} leads to polling that names it, and nothing is lost`, TIMED, (t) => {
    const root = temporaryDirectory(t)
    manySkills(root, 30)
    const seen = watchedWithLimit(t, { limit, value, mode: 'limits', roots: [root] })
    if (!seen) return
    assert.equal(seen.mode, 'polling')
    assert.equal(seen.diagnostics.length, 1)
    const [diagnostic] = seen.diagnostics
    assert.equal(diagnostic?.code, 'watch-polling')
    assert.equal(diagnostic.severity, 'warning')
    assert.equal(diagnostic.path, root)
    assert.match(diagnostic.message, new RegExp(code))
    assert.ok(seen.told.includes(join(root, 's29')))
  })
}

test('a root that gets no more watches is polled, and the roots before it keep their events', TIMED, (t) => {
  const roots = [temporaryDirectory(t), temporaryDirectory(t)] as const
  manySkills(roots[0], 2)
  manySkills(roots[1], 30)
  const seen = watchedWithLimit(t, { limit: 'max_inotify_watches', value: 12, mode: 'limits', roots })
  if (!seen) return
  assert.equal(seen.mode, 'polling')
  assert.deepEqual(
    seen.diagnostics.map(({ code, path }) => [code, path]),
    [['watch-polling', roots[1]]],
  )
  assert.ok(seen.told.includes(join(roots[0], 's1')))
  assert.ok(seen.told.includes(join(roots[1], 's29')))
})

test('watches that run out later are no loss: the root is polled from then on', TIMED, (t) => {
  const root = temporaryDirectory(t)
  manySkills(root, 2)
  const seen = watchedWithLimit(t, { limit: 'max_inotify_watches', value: 12, mode: 'later', roots: [root] })
  if (!seen) return
  assert.equal(seen.mode, 'polling')
  assert.deepEqual(
    seen.diagnostics.map(({ code, path }) => [code, path]),
    [['watch-polling', root]],
  )
  assert.ok(seen.told.includes(join(root, 's29')))
})

test('watching does not keep the process alive', TIMED, (t) => {
  const root = temporaryDirectory(t)
  manySkills(root, 2)
  for (const mode of ['idle', 'idle-polling']) {
    const child = spawnSync(process.execPath, [CHILD, mode, root], { encoding: 'utf8', timeout: 20_000 })
    assert.equal(child.signal, null)
    assert.equal(child.status, 0, child.stderr)
    assert.match(child.stdout, /ready/)
  }
})

test('watches of directories that are gone are closed, and all of them when the watcher is', TIMED, async (t) => {
  if (process.platform !== 'linux') {
    t.skip('counts the watches in /proc')
    return
  }
  const root = temporaryDirectory(t)
  const before = kernelWatches()
  const seen = await watching(t, [root])
  const empty = kernelWatches()
  assert.ok(empty > before)
  for (let round = 0; round < 3; round++) {
    manySkills(root, 10)
    for (let index = 0; index < 10; index++) await seen.told(join(root, `s${index}`))
    await seen.forget()
    assert.equal(kernelWatches(), empty + 10)
    for (let index = 0; index < 10; index++) rmSync(join(root, `s${index}`), { recursive: true })
    for (let index = 0; index < 10; index++) await seen.told(join(root, `s${index}`))
    await seen.forget()
    assert.equal(kernelWatches(), empty)
  }
  await seen.watcher.close()
  assert.equal(kernelWatches(), before)
})

test('a link that leads out of the workspace, or out of the root, is not watched', TIMED, async (t) => {
  const [workspace, outside] = [temporaryDirectory(t), temporaryDirectory(t)]
  writeFiles(outside, { 'a/SKILL.md': skillText('a') })
  mkdirSync(join(workspace, 'inside'))
  symlinkSync(outside, join(workspace, 'skills'))
  symlinkSync(outside, join(workspace, 'inside/link'))
  symlinkSync('..', join(workspace, 'inside/circle'))
  const folders = ['skills', 'inside'].map((name) => ({ path: join(workspace, name), within: workspace }))
  await aged()
  const seen = await watching(t, folders)
  writeFiles(outside, { 'a/SKILL.md': skillText('a', 'Other.'), 'b/SKILL.md': skillText('b') })
  writeFiles(workspace, { 'inside/c/SKILL.md': skillText('c') })
  await seen.told(join(workspace, 'inside/c'))
  assert.deepEqual([...new Set(seen.changes.flatMap(({ directories }) => directories))], [join(workspace, 'inside/c')])
})

test('a directory that becomes readable is watched from then on', TIMED, (t) =>
  asNobody(async () => {
    const root = temporaryDirectory(t)
    writeFiles(root, { 'a/SKILL.md': skillText('a') })
    chmodSync(join(root, 'a'), 0o000)
    const seen = await watching(t, [root])
    assert.deepEqual(seen.watcher.diagnostics, [])
    await seen.forget()
    chmodSync(join(root, 'a'), 0o755)
    await seen.told(join(root, 'a'))
    await seen.forget()
    appendFileSync(join(root, 'a/SKILL.md'), 'more\n')
    await seen.told(join(root, 'a'))
  }),
)

test('a flood of events ends in a rescan, because the system may have dropped some', TIMED, async (t) => {
  const root = temporaryDirectory(t)
  manySkills(root, 2)
  const seen = await watching(t, [root])
  await seen.forget()
  for (let round = 0; round < 6_000; round++) chmodSync(join(root, `s${round % 2}/SKILL.md`), 0o600 + (round % 3))
  await seen.rescan()
  await seen.forget()
  appendFileSync(join(root, 's0/SKILL.md'), 'more\n')
  await seen.told(join(root, 's0'))
})

test('of too many directories the rest is not watched, and that is said', TIMED, async (t) => {
  const root = temporaryDirectory(t)
  manySkills(root, 30)
  const before = kernelWatches()
  const seen = await watching(t, [root], { maxDirectories: 10 })
  assert.deepEqual(
    seen.watcher.diagnostics.map(({ code }) => code),
    ['watch-limit'],
  )
  if (process.platform === 'linux') assert.ok(kernelWatches() - before <= 12, 'the parent, the root and 10 at most')
})

test('of the directories beside the root none is watched, and none that is hidden', TIMED, async (t) => {
  if (process.platform !== 'linux') {
    t.skip('counts the watches in /proc')
    return
  }
  const home = temporaryDirectory(t)
  for (const beside of ['other/deep', 'node_modules/m', '.git/objects'])
    mkdirSync(join(home, beside), { recursive: true })
  writeFiles(home, {
    'skills/a/SKILL.md': skillText('a'),
    'skills/a/node_modules/m/index.js': '',
    'skills/.git/x/HEAD': '',
  })
  const before = kernelWatches()
  const missing = await watching(t, [join(home, 'not/yet/there')])
  assert.equal(kernelWatches() - before, 1, 'the nearest directory that exists')
  await missing.watcher.close()
  await watching(t, [join(home, 'skills')])
  assert.equal(kernelWatches() - before, 3, 'the parent, the root and the skill')
})

test('a skill in a hidden directory of the root is watched when a link leads to it', TIMED, async (t) => {
  const root = temporaryDirectory(t)
  writeFiles(root, { '.store/a/SKILL.md': skillText('a'), '.store/b/SKILL.md': skillText('b') })
  symlinkSync('.store/a', join(root, 'a'))
  const seen = await watching(t, [root])
  await seen.forget()
  appendFileSync(join(root, '.store/a/SKILL.md'), 'more\n')
  await seen.told(join(root, '.store/a'))
  symlinkSync('.store/b', join(root, 'b'))
  await seen.forget()
  appendFileSync(join(root, '.store/b/SKILL.md'), 'more\n')
  await seen.told(join(root, '.store/b'))
})

test('an aborted signal refuses the watch, and ends one that is on', TIMED, async (t) => {
  const root = temporaryDirectory(t)
  manySkills(root, 1)
  await assert.rejects(
    watchSources([{ folder: { path: root } }], { onChange: () => undefined, signal: AbortSignal.abort() }),
    {
      code: 'CANCELLED',
    },
  )
  const ending = new AbortController()
  const seen = await watching(t, [root], { signal: ending.signal })
  await seen.forget()
  appendFileSync(join(root, 's0/SKILL.md'), 'more\n')
  ending.abort()
  await aged()
  assert.deepEqual(seen.changes, [])
})

for (const mode of ['events', 'polling'] as const) {
  test(`by ${mode}: in a directory of 600 skills nothing is lost, also while it is opened`, TIMED, async (t) => {
    const root = temporaryDirectory(t)
    const names = Array.from({ length: 600 }, (_, index) => `skill-${index}`)
    for (const name of names) writeFiles(root, { [`${name}/SKILL.md`]: skillText('skill') })
    const opening = watching(t, [root], { mode, ...(mode === 'polling' && { pollMs: 200 }) })
    await new Promise((resolve) => setImmediate(resolve))
    rmSync(join(root, 'skill-7'), { recursive: true })
    const seen = await opening
    await seen.forget()
    writeFileSync(join(root, 'skill-599/SKILL.md'), skillText('edited'))
    await seen.told(join(root, 'skill-599'))
    writeFiles(root, { 'new/SKILL.md': skillText('new') })
    await seen.told(join(root, 'new'))
    renameSync(join(root, 'skill-1'), join(root, 'moved'))
    await seen.told(join(root, 'moved'))
  })
}

test('nothing is reported to a caller who gave up while a folder was opened', TIMED, async (t) => {
  const root = temporaryDirectory(t)
  manySkills(root, 600)
  const stop = new AbortController()
  const options = { onChange: () => assert.fail('reported after closing'), signal: stop.signal, debounceMs: 0 }
  const opening = watchSources([{ folder: { path: root } }], options)
  await new Promise((resolve) => setImmediate(resolve))
  stop.abort()
  await assert.rejects(opening, { code: 'CANCELLED' })
  rmSync(join(root, 's3'), { recursive: true })
  await aged()
})

test('numbers that are no times are refused by name', async () => {
  for (const wrong of [{ debounceMs: -1 }, { pollMs: Number.NaN }]) {
    await assert.rejects(watchSources([], { onChange: () => undefined, ...wrong }), {
      code: 'INVALID_ARGUMENT',
      message: new RegExp(Object.keys(wrong)[0] ?? ''),
    })
  }
})
