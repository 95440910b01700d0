/** What a command moved is not lost when its new place is not in the workspace. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { undo } from '../../../src/machine/changes/index.ts'
import { Tree } from '../../../src/machine/files/index.ts'
import { openMirror, picture } from './mirror-rig.ts'

test('a file that was moved to where it is held, or never comes, is in its set, and undo brings it back', async (context) => {
  const { host, inside, mirror, records } = openMirror(context)
  mkdirSync(join(host, 'docs'))
  for (const name of ['one', 'two', 'docs/three']) writeFileSync(join(host, name), name)
  const before = picture(host)
  await mirror.pull()
  mkdirSync(join(inside, 'deep'))
  renameSync(join(inside, 'one'), join(inside, 'nexus.yaml'))
  renameSync(join(inside, 'two'), join(inside, 'deep/.mcp.json'))
  renameSync(join(inside, 'docs'), join(inside, '.vscode'))
  await mirror.push()
  assert.deepEqual(picture(host), { deep: '/' })
  const [set] = records.list()
  assert.ok(set)
  const tree = new Tree(host)
  await undo({ records, host: tree, set }, { paths: [], force: false })
  tree.close()
  assert.deepEqual(picture(host), before)
})

test('where the system refuses a change, nothing is removed', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  mkdirSync(join(host, 'data'))
  for (const name of ['a', 'b', 'data/c']) writeFileSync(join(host, name), name)
  await mirror.pull()
  renameSync(join(host, 'data'), join(host, 'elsewhere'))
  symlinkSync(host, join(host, 'data'))
  writeFileSync(join(inside, 'data/copy'), 'a')
  rmSync(join(inside, 'a'))
  renameSync(join(inside, 'b'), join(inside, 'data/b'))
  const notes = await mirror.push()
  assert.deepEqual([readFileSync(join(host, 'a'), 'utf8'), readFileSync(join(host, 'b'), 'utf8')], ['a', 'b'])
  assert.match(notes.join('\n'), /^Nexus holds a \(another change of the command failed\)/)
})

test('a push that runs out of time has removed nothing', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  for (let index = 0; index < 400; index++) writeFileSync(join(host, `file-${index}`), `${index}`)
  await mirror.pull()
  mkdirSync(join(inside, 'moved'))
  for (let index = 0; index < 400; index++)
    renameSync(join(inside, `file-${index}`), join(inside, `moved/file-${index}`))
  const controller = new AbortController()
  const abortAtFirstChange = (): void => {
    const names = readdirSync(host)
    if (names.length !== 400 || names.includes('moved')) controller.abort()
    else setImmediate(abortAtFirstChange)
  }
  setImmediate(abortAtFirstChange)
  await mirror.push(controller.signal)
  const all = Object.values(picture(host)).filter((content) => content !== '/')
  assert.equal(new Set(all).size, 400, 'each content is still there')
})
