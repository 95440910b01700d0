import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../source-tree.ts'
import { IS_ROOT, openDirectory } from '../machine/sandbox/local-rig.ts'

const USER = 65_534

test('npm test is green as a normal user', { skip: !IS_ROOT && 'we are a normal user already' }, async (context) => {
  const root = openDirectory()
  context.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))
  const [checkout, home] = [join(root, 'checkout'), join(root, 'home')]
  mkdirSync(home)
  chownSync(home, USER, USER)
  const filter = (path: string): boolean => path !== join(ROOT, '.git')
  cpSync(ROOT, checkout, { recursive: true, verbatimSymlinks: true, filter })
  execFileSync('chown', ['-R', `${USER}:${USER}`, checkout])
  const child = spawn(join(checkout, 'node_modules/.bin/node'), ['scripts/bootstrap.mjs', 'test'], {
    cwd: checkout,
    uid: USER,
    gid: USER,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Without an environment of its own the inner run would report to this runner in its own language.
    env: { PATH: process.env['PATH'], HOME: home },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  assert.equal(code, 0, said.slice(-20_000))
})
