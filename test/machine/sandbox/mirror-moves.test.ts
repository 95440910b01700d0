/** What a command moved is not lost when its new place is refused. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openMirror, picture } from './mirror-rig.ts'

test('a file that was moved to where it is not kept stays where it was, with a note', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  mkdirSync(join(host, 'docs'))
  for (const name of ['one', 'two', 'docs/three', 'gone']) writeFileSync(join(host, name), name)
  await mirror.pull()
  mkdirSync(join(inside, 'deep'))
  renameSync(join(inside, 'one'), join(inside, 'nexus.yaml'))
  renameSync(join(inside, 'two'), join(inside, 'deep/.mcp.json'))
  renameSync(join(inside, 'docs'), join(inside, '.vscode'))
  rmSync(join(inside, 'gone'))
  const notes = await mirror.push()
  assert.deepEqual(picture(host), { one: 'one', two: 'two', docs: '/', 'docs/three': 'docs/three', deep: '/' })
  assert.match(notes.at(-1) ?? '', /^Nexus did not remove [^:]*one[^:]*: what the command made of it was not kept/)
  await mirror.pull()
  assert.deepEqual(picture(inside), picture(host))
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
  assert.match(notes.at(-1) ?? '', /^Nexus did not remove a, b: what the command made of it was not kept\.$/)
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
