/** A checkout of Nexus as the workspace: no command changes what `npm start` installs, builds and runs there. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { copyCheckout } from '../machine/sandbox/checkout.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const THERE = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'src/local/index.ts']
const PLANTED = ['npm-shrinkwrap.json', '.npmrc', '.bootstrap.lock', 'dist/cli/bin.cjs', 'scripts/build.mjs']

test('commands change nothing of what npm start installs, builds and runs', { skip: whySkipped() ?? false }, (t) => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-checkout-')))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const checkout = join(home, 'nexus')
  mkdirSync(checkout)
  const node = copyCheckout(checkout)
  for (const name of THERE.filter((path) => !existsSync(join(checkout, path))))
    writeFileSync(join(checkout, name), '{}')
  const before = THERE.map((path) => readFileSync(join(checkout, path), 'utf8'))
  const command = `mkdir -p dist/cli scripts; for f in ${[...THERE, ...PLANTED].join(' ')}; do echo evil >> $f; done; echo 1 > free`
  const script = `
    import { openLocal, readEnvironment } from '${checkout}/src/public/local.ts'
    const environment = readEnvironment({ HOME: '${home}', PATH: process.env.PATH })
    const local = await openLocal({ cwd: '${checkout}', environment, trusted: true, record: 'memory' })
    const { outcome } = await local.runtime.openAgent().call({ tool: 'run_command', arguments: { command: ${JSON.stringify(command)} } })
    console.log(JSON.stringify(outcome))
    await local.close()`
  const { status, stdout, stderr } = spawnSync(node, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.equal(existsSync(join(checkout, 'free')), true, stdout)
  assert.deepEqual(
    THERE.map((path) => readFileSync(join(checkout, path), 'utf8')),
    before,
  )
  assert.deepEqual(
    PLANTED.filter((path) => existsSync(join(checkout, path))),
    [],
  )
})
