import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { watchSources } from '../../src/sources/index.ts'
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

test(
  'a root that gets no more watches is polled and says so, and the roots before it keep their events',
  TIMED,
  async (t) => {
    const [first, second] = [temporaryDirectory(t), temporaryDirectory(t)]
    manySkills(first, 2)
    manySkills(second, 30)
    const told: string[] = []
    const seen = await watching(t, [first, second], {
      maxWatches: 20,
      pollMs: 40,
      onDiagnostic: ({ code }) => told.push(code),
    })
    assert.equal(seen.watcher.mode, 'polling')
    assert.deepEqual(told, ['watch-polling'])
    const [diagnostic] = seen.watcher.diagnostics
    assert.equal(diagnostic?.path, second)
    assert.equal(diagnostic.severity, 'warning')
    assert.match(diagnostic.message, /more than 20 directories/)
    for (const [root, name] of [
      [first, 's1'],
      [second, 's29'],
    ] as const) {
      await seen.forget()
      appendFileSync(join(root, name, 'SKILL.md'), 'more\n')
      await seen.told(join(root, name))
    }
  },
)

test('watches that run out later are no loss: the root is polled from then on', TIMED, async (t) => {
  const root = temporaryDirectory(t)
  manySkills(root, 2)
  const seen = await watching(t, [root], { maxWatches: 20, pollMs: 40 })
  assert.equal(seen.watcher.mode, 'events')
  manySkills(root, 40)
  await seen.rescan()
  assert.equal(seen.watcher.mode, 'polling')
  await seen.forget()
  appendFileSync(join(root, 's39/SKILL.md'), 'more\n')
  await seen.told(join(root, 's39'))
})

for (const [code, limit, value] of [
  ['ENOSPC', 'max_inotify_watches', 10],
  ['EMFILE', 'max_inotify_instances', 0],
] as const) {
  test(`a kernel that answers ${code} leads to polling that names it, and nothing is lost`, TIMED, (t) => {
    const root = temporaryDirectory(t)
    manySkills(root, 30)
    chmodSync(root, 0o777)
    const script = `echo ${value} > /proc/sys/user/${limit} || exit 77; exec "$0" "$1" limits "$2"`
    const child = spawnSync('unshare', ['-Ur', 'sh', '-c', script, process.execPath, CHILD, root], {
      encoding: 'utf8',
      timeout: 25_000,
    })
    if (child.error || child.status === 77 || /unshare/.test(child.stderr)) {
      t.skip(`no user namespace with limits of its own here: ${child.error?.message ?? child.stderr.trim()}`)
      return
    }
    assert.equal(child.status, 0, child.stderr)
    const { mode, diagnostics, told } = JSON.parse(child.stdout) as {
      mode: string
      diagnostics: string[]
      told: string[]
    }
    assert.equal(mode, 'polling')
    assert.equal(diagnostics.length, 1)
    assert.match(diagnostics[0] ?? '', new RegExp(code))
    assert.ok(told.includes(join(root, 's29')))
  })
}

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
  manySkills(root, 1)
  const seen = await watching(t, [root])
  await seen.forget()
  for (let round = 0; round < 6_000; round++) writeFileSync(join(root, `s0/${round % 50}`), String(round))
  await seen.rescan()
  await seen.forget()
  appendFileSync(join(root, 's0/SKILL.md'), 'more\n')
  await seen.told(join(root, 's0'))
})

test('a sweep that meets too many directories says that the rest is not noticed', TIMED, async (t) => {
  const root = temporaryDirectory(t)
  manySkills(root, 30)
  const codes: string[] = []
  const found = Promise.withResolvers<void>()
  await watching(t, [root], {
    mode: 'polling',
    maxDirectories: 10,
    onDiagnostic: ({ code }) => {
      codes.push(code)
      found.resolve()
    },
  })
  await found.promise
  await aged()
  assert.deepEqual(codes, ['watch-limit'])
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

test('numbers that are no times are refused by name', async () => {
  for (const wrong of [{ debounceMs: -1 }, { pollMs: Number.NaN }]) {
    await assert.rejects(watchSources([], { onChange: () => undefined, ...wrong }), {
      code: 'INVALID_ARGUMENT',
      message: new RegExp(Object.keys(wrong)[0] ?? ''),
    })
  }
})
