import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Tree } from '../../../src/machine/files/index.ts'
import { createTemp, listHome, removeTree } from '../../../src/machine/sandbox/runner/temp.ts'
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

test(
  'what a command left in its home is listed, bounded, and not through a link',
  { skip: noDescriptors },
  async (t) => {
    const live = freshDirectory(t)
    const temp = createTemp(live)
    mkdirSync(join(temp, 'home/sub'))
    for (const name of ['report.md', 'sub/data', '.cache']) writeFileSync(join(temp, 'home', name), '')
    symlinkSync('/etc', join(temp, 'home/link'))
    assert.deepEqual((await listHome(temp)).sort(), ['link', 'report.md', 'sub/data'])
    for (let index = 0; index < 600; index++) writeFileSync(join(temp, 'home/sub', String(index)), '')
    assert.equal((await listHome(temp)).length, 20)
    await removeTree(join(temp, 'home'))
    assert.deepEqual(await listHome(temp), [])
    symlinkSync('/etc', join(temp, 'home'))
    assert.deepEqual(await listHome(temp), [], 'a home that became a link is not listed')
  },
)
