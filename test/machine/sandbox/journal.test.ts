/** Journals of commands under way: only what we wrote decides what is removed. */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Guarded } from '../../../src/machine/sandbox/guard/clean.ts'
import { guardedIn, writeJournal } from '../../../src/machine/sandbox/guard/journal.ts'
import { IS_ROOT, openDirectory } from './local-rig.ts'

const skip = IS_ROOT ? false : 'only root can give a file to another user'

const guardedOf = (workspace: string): Guarded => ({
  ...{ workspace, mode: 0o755, found: ['.git/config'], closed: [], repositories: [], links: [] },
  places: { paths: [], writable: [] },
})

for (const mode of [0o620, 0o602, 0o666])
  test(`a journal that others may write (${mode.toString(8)}) is not read`, (t) => {
    const directory = openDirectory()
    t.after(() => rmSync(directory, { recursive: true }))
    mkdirSync(join(directory, 'work'))
    const guarded = guardedOf(join(directory, 'work'))
    const journal = writeJournal(directory, guarded)
    assert.deepEqual(guardedIn([directory], guarded.workspace), [guarded])
    chmodSync(journal, mode)
    assert.deepEqual(guardedIn([directory], guarded.workspace), [])
  })

test('a journal of another user is not read', { skip }, (t) => {
  const directory = openDirectory()
  t.after(() => rmSync(directory, { recursive: true }))
  const guarded = guardedOf(directory)
  chownSync(writeJournal(directory, guarded), 200_123, 200_123)
  assert.deepEqual(guardedIn([directory], guarded.workspace), [])
})
