/** A command that leaves as much as it can: the next one must run, and lose nothing of the workspace. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { openMirror, picture } from '../sandbox/mirror-rig.ts'

test('changes that would make the workspace too large for the next command are not taken back', async (context) => {
  const { host, inside, mirror } = openMirror(context, { maxBytes: 100, maxFiles: 3 })
  writeFileSync(join(host, 'own'), 'x'.repeat(40))
  await mirror.pull()
  writeFileSync(join(inside, 'big'), 'x'.repeat(100))
  assert.match((await mirror.push()).join(), /kept no change.*2 files with 140 bytes/)
  await mirror.pull()
  for (const name of ['1', '2', '3']) writeFileSync(join(inside, name), '')
  assert.match((await mirror.push()).join(), /kept no change.*4 files with 40 bytes/)
  await mirror.pull()
  assert.deepEqual(picture(inside), picture(host))
  writeFileSync(join(inside, 'small'), 'x'.repeat(60))
  assert.deepEqual(await mirror.push(), [])
  await mirror.pull()
})

test('a removal of a command whose changes are too much is not taken over later either', async (context) => {
  const { host, inside, mirror } = openMirror(context, { maxBytes: 100 })
  writeFileSync(join(host, 'own'), 'mine')
  mkdirSync(join(host, 'kind'))
  await mirror.pull()
  rmSync(join(inside, 'own'))
  rmSync(join(inside, 'kind'), { recursive: true })
  writeFileSync(join(inside, 'kind'), 'x'.repeat(200))
  assert.match((await mirror.push()).join(), /kept no change/)
  await mirror.pull()
  assert.deepEqual(picture(inside), picture(host))
  assert.deepEqual(await mirror.push(), [])
  assert.equal(readFileSync(join(host, 'own'), 'utf8'), 'mine')
})
