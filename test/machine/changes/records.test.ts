/** What is kept of change sets, for how long, and for whose eyes. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readlinkSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  type ChangeSet,
  keep,
  type Records,
  recordsOf,
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
    await records.write(set, [{ path: 'a', unit: 'a', type: 'removed', verdict }])
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
  const records = await written(directory, { gone: 1, h1: 100, a1: 100, h2: 100, a2: 100, a3: 100 })
  const hour = 3_600_000
  // Writing them has looked already.
  records.prune(Date.now())
  assert.deepEqual(idsOf(records), ['a3', 'a2', 'h2', 'a1', 'h1', 'gone'], 'once an hour')
  records.prune(NOW, 350)
  assert.deepEqual(idsOf(records), ['a3', 'h2', 'h1'])
  records.prune(NOW + hour / 2, 50)
  assert.equal(idsOf(records).length, 3, 'once an hour')
  records.prune(NOW + hour + 1, 150)
  assert.deepEqual(idsOf(records), ['h2'])
})

test('a pack whose process was killed before its row goes; a new set of a long process prunes too', async (t) => {
  const directory = freshDirectory(t)
  const records = recordsOf(join(directory, 'state'), directory)
  await records.pack('orphan').finish()
  records.prune(Date.now() + DAY_MS)
  assert.equal(existsSync(join(setsIn(directory), 'orphan')), false)
})

test('a set is readable for its user only, and its row has its numbers', async (t) => {
  const directory = freshDirectory(t)
  const records = await written(directory, { h: 5 })
  const sets = setsIn(directory)
  for (const path of [sets, join(sets, 'h'), join(sets, 'open')]) assert.equal(statSync(path).mode & 0o777, 0o700, path)
  for (const name of readdirSync(join(sets, 'h')))
    assert.equal(statSync(join(sets, 'h', name)).mode & 0o777, 0o600, name)
  assert.deepEqual(records.find('h')?.counts, { applied: 0, held: 1 })
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
    await records.write(set, [change])
    const [outcome] = await move({ records, host, set }, { paths: [], force: false })
    assert.equal(outcome?.result, 'done')
    assert.deepEqual(readlinkSync(join(directory, 'l'), 'buffer'), target)
  }
})
