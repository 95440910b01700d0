import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { createSandbox, openSandbox } from '../../../src/machine/sandbox/index.ts'

test('a sandbox that is only looked at makes nothing on disk, and knows the same facts', async () => {
  const stateDir = join(mkdtempSync(join(tmpdir(), 'nexus-lazy-')), 'state')
  const options = { kind: 'local', projectId: 'default', stateDir } as const
  const lazy = openSandbox(options)
  const real = await createSandbox(options)
  const [a, b] = [await lazy.facts(), await real.facts()]
  assert.deepEqual(
    [a.target, a.os, a.hasBin('bash'), a.hasEnv('HOME')],
    [b.target, b.os, b.hasBin('bash'), b.hasEnv('HOME')],
  )
  await lazy.close()
  assert.ok(!existsSync(stateDir))
  await real.close()
  rmSync(join(stateDir, '..'), { recursive: true, force: true })
})

test('a sandbox that was closed before its first command refuses one', async () => {
  const lazy = openSandbox({ kind: 'none', projectId: 'default' })
  await lazy.close()
  await assert.rejects(lazy.run({ command: 'true', workspace: tmpdir() }), { code: 'SANDBOX_FAILED' })
})
