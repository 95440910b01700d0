import assert from 'node:assert/strict'
import { renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { skillText, temporaryDirectory, writeFiles } from './temporary.ts'
import { watching } from './watching.ts'

const TIMED = { timeout: 30_000 }

test('a SKILL.md that is a link to a file in a hidden directory of the root is watched', TIMED, async (t) => {
  const root = temporaryDirectory(t)
  writeFiles(root, { '.store/a.md': skillText('a'), '.store/other.md': '', 'a/x.txt': '' })
  symlinkSync('../.store/a.md', join(root, 'a/SKILL.md'))
  const watch = await watching(t, [root])
  writeFiles(root, { '.store/a.md': skillText('a', 'Edited.') })
  await watch.told(join(root, 'a'))
  await watch.forget()
  writeFiles(root, { '.store/other.md': 'text' })
  await watch.forget()
  assert.deepEqual(watch.changes, [])
  // Editors write beside the file and rename.
  writeFiles(root, { '.store/new.md': skillText('a', 'Renamed.') })
  renameSync(join(root, '.store/new.md'), join(root, '.store/a.md'))
  await watch.told(join(root, 'a'))
})
