/** A mirror outlives its process; what it holds is believed only as far as it is as it was left. */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createSandbox, type CommandResult } from '../../../src/machine/sandbox/index.ts'
import { localOptions, openPlace } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped() ?? false

test(
  'a later process works in the same copy, which is checked and belongs to one workspace',
  { skip },
  async (context) => {
    const { stateDir, workspace } = openPlace(context)
    const run = async (command: string, env = {}): Promise<CommandResult> => {
      const sandbox = await createSandbox(localOptions({ stateDir, workspaceMode: 'mirror', mirror: { maxFiles: 12 } }))
      try {
        return await sandbox.run({ command, workspace, env })
      } finally {
        await sandbox.close()
      }
    }
    const saved = join(stateDir, 'projects/default/mirrors')
    const copy = (): string => join(saved, readdirSync(saved)[0] ?? '', 'copy')
    for (const name of ['a', 'b', 'c']) writeFileSync(join(workspace, name), name)
    mkdirSync(join(workspace, 'd'))
    writeFileSync(join(workspace, 'd/e'), 'below')
    // Packages count to no limit.
    const made = await run(
      'mkdir node_modules .venv; touch node_modules/{1..40} .venv/{pyvenv.cfg,tool}; echo x > .envrc; stat -c %i a; echo A > a',
    )
    assert.match(made.notes.join('\n'), /Nexus holds \.envrc \([^]*\.venv, node_modules: installed packages/)
    writeFileSync(join(workspace, 'b'), 'by hand')
    rmSync(join(workspace, 'c'))
    const later = await run('stat -c %i a; cat a b .envrc; ls; ls node_modules | wc -l; ls .venv')
    assert.equal(later.stdout, `${made.stdout}A\nby handx\na\nb\nd\nnode_modules\n40\npyvenv.cfg\ntool\n`)
    assert.deepEqual([later.notes, later.changes], [[], undefined])
    // As a process of a command could have left it that outlived its runner.
    writeFileSync(join(copy(), 'a'), 'forged')
    writeFileSync(join(copy(), 'planted'), 'forged')
    rmSync(join(copy(), 'b'))
    // It goes with all below it, which was as it was left.
    chmodSync(join(copy(), 'd'), 0o777)
    const checked = await run('cat a b d/e; ls -A')
    assert.equal(checked.stdout, 'A\nby handbelow.envrc\n.venv\na\nb\nd\nnode_modules\n')
    assert.deepEqual([checked.notes, checked.changes], [[], undefined])
    mkdirSync(join(workspace, 'node_modules'))
    assert.equal((await run('ls node_modules | wc -l')).stdout, '0\n')
    assert.equal(readdirSync(saved).length, 1)
    await run('echo "$KEY" > node_modules/secret; true', { KEY: 'marked' })
    assert.deepEqual(readdirSync(saved), [])
    await run('true')
    rmSync(workspace, { recursive: true })
    mkdirSync(workspace)
    assert.equal((await run('ls -A')).stdout, '')
    assert.equal(existsSync(join(workspace, 'a')), false)
  },
)
