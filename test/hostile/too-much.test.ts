/** A command that leaves as much as it can: the next one must run, and lose nothing of the workspace. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { createSandbox } from '../../src/machine/sandbox/index.ts'
import { localOptions, openDirectory } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const skip = whySkipped() ?? false

test('what would be too much for the next command is not taken back, and what was there stays', { skip }, async (t) => {
  const root = openDirectory()
  const workspace = join(root, 'work')
  mkdirSync(workspace)
  writeFileSync(join(workspace, 'own'), 'x'.repeat(40))
  const sandbox = await createSandbox(localOptions({ workspaceMode: 'mirror', mirror: { maxBytes: 100, maxFiles: 3 } }))
  t.after(async () => {
    await sandbox.close()
    rmSync(root, { recursive: true, force: true })
  })
  const run = async (command: string) => (await sandbox.run({ command, workspace })).notes.join()
  assert.match(await run('head -c 100 /dev/zero > big'), /kept no change.*2 files with 140 bytes/)
  assert.match(await run('touch 1 2 3'), /kept no change.*4 files with 40 bytes/)
  assert.match(await run('rm own; head -c 200 /dev/zero > big'), /kept no change/)
  assert.equal(await run('cat own > /dev/null && head -c 60 /dev/zero > small'), '')
  assert.deepEqual(readdirSync(workspace).toSorted(), ['own', 'small'])
  assert.equal(readFileSync(join(workspace, 'own'), 'utf8'), 'x'.repeat(40))
  assert.equal(await run('true'), '')
})
