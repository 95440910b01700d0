import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { copyCheckout } from './checkout.ts'
import { IS_ROOT, openDirectory } from './local-rig.ts'
import { whySkipped } from './required.ts'

/** Tests of commands that run as ourselves in layers, which root never does. */
const FILES = [
  ...['recover', 'layers', 'programs'].map((name) => `machine/sandbox/${name}`),
  ...['git-data', 'places'].map((name) => `hostile/${name}`),
]

/** The outer run has these as root already; `npm run test:long` runs every file as a normal user. */
const SAME_FOR_ROOT = 'mode mirror|change places|what root takes|root mounts|root that may|without git on the host'

const skip = (whySkipped() ?? false) || (!IS_ROOT && 'we are a normal user already')

test('as a normal user commands are confined in layers over the workspace', { skip }, async (context) => {
  const root = openDirectory()
  context.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))
  const node = copyCheckout(join(root, 'checkout'))
  // The test runner says nothing of a file that is not there.
  for (const name of FILES) assert.ok(existsSync(join(root, 'checkout/test', `${name}.test.ts`)), name)
  const compiled = join(root, 'checkout/node_modules/.cache/tests')
  mkdirSync(compiled, { recursive: true })
  chownSync(compiled, 65_534, 65_534)
  const cache = `--import=${join(root, 'checkout/scripts/test-cache.mjs')}`
  const options = [
    '--test',
    cache,
    '--disable-warning=ExperimentalWarning',
    '--test-reporter=tap',
    `--test-skip-pattern=/${SAME_FOR_ROOT}/`,
  ]
  const child = spawn(node, [...options, ...FILES.map((name) => `test/${name}.test.ts`)], {
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
  assert.match(said, /# pass \d{2,3}\n# fail 0\n# cancelled 0\n# skipped 0/)
})
