/** A command that leaves more files than can be carried over in its time: it takes half a minute, so it runs here. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { createSandbox } from '../../src/machine/sandbox/index.ts'
import { localOptions, openDirectory } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const FILES = 250_000

test(
  'a command whose changes take longer than its time says so, and the next one runs',
  { skip: whySkipped() ?? false },
  async (t) => {
    const root = openDirectory()
    const workspace = join(root, 'work')
    mkdirSync(workspace)
    const sandbox = await createSandbox(localOptions({ mirror: { maxFiles: 2 * FILES } }))
    t.after(async () => {
      await sandbox.close()
      rmSync(root, { recursive: true, force: true })
    })
    const many = await sandbox.run({ command: `seq ${FILES} | xargs touch`, workspace, timeoutMs: 8_000 })
    // A slow machine keeps none in that time.
    assert.match(
      many.notes.join(),
      /^Nexus (did not keep all changes of the command: it kept \d+, and then the time|kept no change of the command: the time)/,
    )
    assert.ok(readdirSync(workspace).length < FILES)
    const next = await sandbox.run({ command: 'echo here > next', workspace, timeoutMs: 120_000 })
    assert.deepEqual([next.exitCode, next.notes], [0, []])
    assert.equal(readFileSync(join(workspace, 'next'), 'utf8'), 'here\n')
  },
)
