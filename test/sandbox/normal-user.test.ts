import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { copyCheckout } from './checkout.ts'
import { IS_ROOT, openDirectory } from './local-rig.ts'
import { whySkipped } from './required.ts'

/** What must hold for a normal user, who may choose to have commands in the workspace itself. */
const FILES = [
  ...['direct-workspace', 'direct-workspace-limits', 'recover', 'open-paths'].map((name) => `sandbox/${name}`),
  ...[
    'hostile/places',
    'hostile/ways',
    'hostile/library',
    'hostile/details',
    'hostile/dependencies',
    'hostile/encodings',
    'hostile/files',
    'hostile/too-much',
    'hostile/modules',
    'hostile/checkout',
    'hostile/npx',
  ],
]

const skip = (whySkipped() ?? false) || (!IS_ROOT && 'we are a normal user already')

test(
  'as a normal user commands are confined in a mirror, and in the workspace itself when that is chosen',
  { skip },
  async (context) => {
    const root = openDirectory()
    context.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))
    const node = copyCheckout(join(root, 'checkout'))
    // The test runner says nothing of a file that is not there.
    for (const name of FILES) assert.ok(existsSync(join(root, 'checkout/test', `${name}.test.ts`)), name)
    const child = spawn(node, ['--test', '--test-reporter=tap', ...FILES.map((name) => `test/${name}.test.ts`)], {
      cwd: join(root, 'checkout'),
      uid: 65_534,
      gid: 65_534,
      // Without this the inner run would report to the outer runner in its own language.
      env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', TESTS_REQUIRE_SANDBOX: '1' },
    })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number]
    assert.equal(code, 0, said)
    assert.match(said, /# pass \d{3}\n# fail 0\n# cancelled 0\n# skipped 0/)
  },
)
