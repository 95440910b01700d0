/** What is kept of change sets, for how long, and for whose eyes. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  type ChangeSet,
  keep,
  type Records,
  recordsOf,
  recordWrite,
  recover,
  type SetEntry,
  undo,
} from '../../../src/machine/changes/index.ts'
import { Tree } from '../../../src/machine/files/index.ts'
import { sideAt } from '../../../src/machine/changes/sides.ts'
import { freshDirectory } from '../files/rig.ts'

const DAY_MS = 86_400_000
const NOW = Date.parse('2030-01-15')

/** Sets of so many bytes, a day after each other; `h` holds something. */
async function written(directory: string, sizes: Readonly<Record<string, number>>): Promise<Records> {
  const records = recordsOf(join(directory, 'state'), directory)
  for (const [index, [id, size]] of Object.entries(sizes).entries()) {
    const pack = records.pack(id)
    pack.add(Buffer.alloc(size))
    await pack.finish()
    const createdAt = new Date(NOW + (index - 10) * DAY_MS).toISOString()
    const expiresAt = new Date(NOW + (index - 1) * DAY_MS + 1).toISOString()
    const set: ChangeSet = { id, workspace: directory, createdAt, expiresAt, state: 'applied', tool: 't' }
    const verdict = id.startsWith('h') ? 'held' : 'applied'
    await records.write(set, { entries: [{ path: 'a', unit: 'a', type: 'removed', verdict }], pack })
  }
  return records
}

/** The directory of the sets of a workspace. */
function setsIn(directory: string): string {
  const changes = join(directory, 'state/changes')
  return join(changes, readdirSync(changes)[0] ?? '')
}

const idsOf = (records: Records): string[] => records.list().map(({ id }) => id)

test('sets go when they expired, and the oldest when all hold too much: those that hold something last', async (t) => {
  const directory = freshDirectory(t)
  const records = await written(directory, { gone: 1, h1: 10_000, a1: 10_000, h2: 10_000, a2: 10_000, a3: 10_000 })
  const hour = 3_600_000
  // Writing them has looked already.
  records.prune(Date.now())
  assert.deepEqual(idsOf(records), ['a3', 'a2', 'h2', 'a1', 'h1', 'gone'], 'once an hour')
  // A row with its bytes has 14,000.
  records.prune(NOW, 48_000)
  assert.deepEqual(idsOf(records), ['a3', 'h2', 'h1'])
  records.prune(NOW + hour / 2, 50)
  assert.equal(idsOf(records).length, 3, 'once an hour')
  records.prune(NOW + hour + 1, 20_000)
  assert.deepEqual(idsOf(records), ['h2'])
})

test('a pack whose process was killed before its row goes; a new set of a long process prunes too', async (t) => {
  const directory = freshDirectory(t)
  const records = recordsOf(join(directory, 'state'), directory)
  const pack = records.pack('orphan')
  pack.add(Buffer.alloc(100_000))
  await pack.finish()
  const path = join(setsIn(directory), 'orphan.pack')
  assert.equal(existsSync(path), true)
  records.prune(Date.now() + DAY_MS)
  assert.equal(existsSync(path), false)
})

test('a set is readable for its user only, and its row has its numbers', async (t) => {
  const directory = freshDirectory(t)
  const records = await written(directory, { h: 70_000 })
  const sets = setsIn(directory)
  for (const path of [sets, join(sets, 'open')]) assert.equal(statSync(path).mode & 0o777, 0o700, path)
  for (const name of ['h.jsonl', 'h.pack']) assert.equal(statSync(join(sets, name)).mode & 0o777, 0o600, name)
  assert.deepEqual(records.find('h')?.counts, { applied: 0, held: 1 })
})

test('a loss of power that takes the last line of a row away makes nothing undone that is there', async (t) => {
  const directory = freshDirectory(t)
  const records = recordsOf(join(directory, 'state'), directory)
  const host = new Tree(directory)
  t.after(() => host.close())
  const bytes = Buffer.from('new')
  const at = { records, host, workspace: directory, limits: { keepDays: 1, maxBytes: 1_000 } }
  const write = (): Promise<void> => host.write('a', { bytes })
  await recordWrite(at, { path: 'a', bytes }, { maker: { tool: 'write_file' }, write })
  const [name = ''] = readdirSync(setsIn(directory)).filter((each) => each.endsWith('.jsonl'))
  const row = join(setsIn(directory), name)
  const text = readFileSync(row, 'utf8')
  writeFileSync(join(setsIn(directory), 'open', name.replace('.jsonl', '')), '')
  for (const cut of ['"applied"\n'.length, 3]) {
    writeFileSync(row, text.slice(0, -cut))
    assert.equal(records.list()[0]?.state, 'taking')
    assert.deepEqual(await recover(records, host), [])
    assert.equal(records.list()[0]?.state, 'applied')
    writeFileSync(join(setsIn(directory), 'open', name.replace('.jsonl', '')), '')
  }
  writeFileSync(row, text.slice(0, -3))
  writeFileSync(join(directory, 'a'), 'other')
  assert.equal((await recover(records, host)).length, 1)
  assert.equal(records.list()[0]?.state, 'undone')
})

test('a link whose target is not UTF-8 is undone and kept byte by byte', async (t) => {
  const directory = freshDirectory(t)
  const target = Buffer.from('caf\xe9/\xff', 'latin1')
  symlinkSync(target, join(directory, 'l'))
  const records = recordsOf(join(directory, 'state'), directory)
  const host = new Tree(directory)
  t.after(() => host.close())
  const pack = records.pack('s')
  const side = await sideAt(host, 'l', { pack })
  await pack.finish()
  assert.ok(side)
  const expiresAt = new Date(Date.now() + DAY_MS).toISOString()
  const set: ChangeSet = { id: 's', workspace: directory, createdAt: expiresAt, expiresAt, state: 'applied', tool: 't' }
  const entry: SetEntry = { path: 'l', unit: 'l', type: 'removed', verdict: 'applied', before: side }
  for (const [move, change] of [
    [undo, entry],
    [keep, { path: 'l', unit: 'l', type: 'added', verdict: 'held', after: side }],
  ] as const) {
    host.remove('l', 'link')
    await records.write(set, { entries: [change], pack })
    const [outcome] = await move({ records, host, set }, { paths: [], force: false })
    assert.equal(outcome?.result, 'done')
    assert.deepEqual(readlinkSync(join(directory, 'l'), 'buffer'), target)
  }
})
