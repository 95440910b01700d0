/** What commands leave behind must not stop a start, take its time, or disappear without a word. */
import assert from 'node:assert/strict'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ownerToken, Tree } from '../../src/machine/files/index.ts'
import { recoverDead } from '../../src/machine/sandbox/local/recover.ts'
import { asNobody, freshDirectory, noDescriptors } from '../machine/files/rig.ts'
import { openMirror } from '../machine/sandbox/mirror-rig.ts'

const skip = noDescriptors
const isRoot = process.getuid?.() === 0

test(
  'leftovers that cannot be removed are set aside and reported once',
  { skip: skip || (!isRoot && 'only root can make what its user cannot remove') },
  async (context) => {
    const stateDir = freshDirectory(context)
    const live = join(stateDir, 'projects/default/live')
    const dead = join(live, `${ownerToken().replace(/\d+$/, '1')}-00000000`)
    mkdirSync(join(dead, 'mirror-x/foreign'), { recursive: true })
    writeFileSync(join(dead, 'mirror-x/own'), '')
    writeFileSync(join(dead, 'mirror-x/foreign/file'), '')
    for (const path of [stateDir, live, dead, join(dead, 'mirror-x')]) chownSync(path, 65_534, 65_534)
    await asNobody(async () => {
      const [finding, ...others] = await recoverDead({ stateDir, projectId: 'default' })
      assert.deepEqual([finding?.code, others], ['sandbox-leftover', []])
      assert.match(finding?.path ?? '', /\/live\/set-aside-[0-9a-f]{8}$/)
      assert.deepEqual(await recoverDead({ stateDir, projectId: 'default' }), [])
    })
    const [aside] = readdirSync(live)
    assert.deepEqual(readdirSync(join(live, aside ?? '', 'mirror-x')), ['foreign'])
  },
)

test(
  'changes that time does not allow to take back are a note, and the copy is not used again',
  { skip },
  async (context) => {
    const { host, inside, mirror } = openMirror(context)
    writeFileSync(join(host, 'file'), 'before')
    await mirror.pull()
    writeFileSync(join(inside, 'file'), 'after')
    const [note, ...others] = await mirror.push(AbortSignal.abort())
    assert.match(note ?? '', /^Nexus kept no change of the command: the time of the call was up/)
    assert.deepEqual([others, mirror.isUsable, readFileSync(join(host, 'file'), 'utf8')], [[], false, 'before'])
  },
)

test('the event loop goes on while many files are dropped from the copy or refused', { skip }, async (context) => {
  const { host, inside, mirror } = openMirror(context, { maxFiles: 20_000 })
  const fill = (directory: string): void => {
    mkdirSync(directory, { recursive: true })
    for (let index = 0; index < 3_000; index++) writeFileSync(join(directory, String(index)), '')
  }
  fill(join(host, 'many'))
  await mirror.pull()
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  context.after(() => clearInterval(timer))
  const tree = new Tree(host)
  await tree.removeAll('many')
  tree.close()
  turns = 0
  await mirror.pull()
  assert.equal(existsSync(join(inside, 'many')), false)
  assert.ok(turns > 1, `${turns} turns while files were dropped`)
  fill(join(inside, '.vscode'))
  turns = 0
  assert.equal((await mirror.push()).length, 1)
  assert.ok(turns > 1, `${turns} turns while files were refused`)
})
