import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { copyCheckout } from './checkout.ts'
import { IS_ROOT, openDirectory, whySkipped } from './local-rig.ts'

const skip = ((await whySkipped()) ?? false) || (!IS_ROOT && 'we are a normal user already')

test('as a normal user the workspace is used directly, under the same protection', { skip }, async (context) => {
  const root = openDirectory()
  context.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))
  const node = copyCheckout(join(root, 'checkout'))
  const child = spawn(node, ['--test', '--test-reporter=tap', 'test/sandbox/direct.test.ts'], {
    cwd: join(root, 'checkout'),
    uid: 65_534,
    gid: 65_534,
    // Without this the inner run would report to the outer runner in its own language.
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent' },
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  assert.equal(code, 0, said)
  assert.match(said, /# pass 5\n# fail 0\n# cancelled 0\n# skipped 0/)
})
