import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Tree } from '../../src/files/index.ts'
import { createTemp, removeTree } from '../../src/sandbox/runner/temp.ts'
import { freshDirectory, noDescriptors } from '../files/rig.ts'

test(
  'the temp of a command is removed whatever is in it, and what links in it lead to is not',
  { skip: noDescriptors },
  async (t) => {
    const live = freshDirectory(t)
    const outside = freshDirectory(t)
    writeFileSync(join(outside, 'kept'), '')
    const temp = createTemp(live)
    symlinkSync(outside, join(temp, 'home/link'))
    const tree = new Tree(temp)
    // Longer than a path may be.
    let path = 'deep'
    for (let level = 0; level < 1_500; level++, path += '/deep') tree.makeDirectory(path, { mode: 0o755 })
    tree.close()
    mkdirSync(join(temp, 'closed/in'), { recursive: true })
    chmodSync(join(temp, 'closed'), 0)
    await removeTree(temp)
    assert.deepEqual([existsSync(temp), readdirSync(outside)], [false, ['kept']])
    await removeTree(temp)
    await removeTree(join(temp, 'not', 'there'))
  },
)
