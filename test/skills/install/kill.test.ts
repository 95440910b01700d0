import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { inScope, lockOf, scopeOf, verifyCopies } from '../../../src/skills/install/index.ts'
import { skillText } from './git-server.ts'
import { refuseLinks } from './no-links.ts'
import { COMPILED } from '../../source-tree.ts'

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 3)
const FILES = 40

/** Two versions of a skill; every file says which it is of. */
function prepare(t: { after: (fn: () => void) => void }): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-kill-')))
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  mkdirSync(join(root, 'workspace'))
  for (const version of ['one', 'two']) {
    mkdirSync(join(root, version, 'a/data'), { recursive: true })
    writeFileSync(join(root, version, 'a/SKILL.md'), skillText('a', `license: ${version}\n`))
    for (let index = 0; index < FILES; index++) writeFileSync(join(root, version, 'a/data', `${index}.txt`), version)
  }
  return root
}

/** What other programs find. */
function seatsIn(directory: string): readonly string[] {
  const names = existsSync(directory) ? readdirSync(directory) : []
  return names.filter((name) => !name.startsWith('.')).filter((name) => existsSync(join(directory, name, 'SKILL.md')) || assert.fail(`${name} leads nowhere`)) // oxfmt-ignore
}

for (const seated of ['links', 'copies'] as const)
  test(`kill -9 at ${ROUNDS} random points of install, update, rollback and remove, with ${seated} for other programs: one whole copy, as the lock has it`, async (t) => {
    if (seated === 'copies') t.after(refuseLinks())
    const env = { ...process.env, NO_LINKS: seated === 'copies' ? '1' : '0' }
    const root = prepare(t)
    const nexusHome = join(root, 'home')
    const scope = scopeOf({
      kind: 'workspace',
      directory: join(root, 'workspace'),
      nexusHome,
      stateDirectory: join(nexusHome, 'state'),
    })
    const alone = <T>(_: string, work: () => Promise<T>): Promise<T> => work()
    for (let round = 0; round < ROUNDS; round++) {
      const child = spawn(process.execPath, [COMPILED, join(import.meta.dirname, 'changes.ts'), root], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env,
      })
      let said = ''
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
      await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
      await sleep(Math.random() * 120)
      assert.equal(child.exitCode, null, said)
      child.kill('SIGKILL')
      await once(child, 'exit')
      await inScope(scope, { alone }, async () => undefined)
      const lock = lockOf(scope)
      for (const { drift } of await verifyCopies(scope)) assert.deepEqual(drift, [], `round ${round}`)
      const shown = readdirSync(join(scope.root, 'skills')).filter((name) => !name.startsWith('.'))
      assert.deepEqual(shown, lock.has('skills/a') ? ['a'] : [], `round ${round}`)
      for (const seats of ['.claude/skills', '.agents/skills']) {
        assert.deepEqual(seatsIn(join(scope.root, seats)), shown, `round ${round}: ${seats}`)
        for (const name of shown)
          assert.equal(lstatSync(join(scope.root, seats, name)).isSymbolicLink(), seated === 'links')
      }
      const versions = shown.length === 0 ? [] : readdirSync(join(scope.root, 'skills/a/data'))
      const contents = new Set(versions.map((name) => readFileSync(join(scope.root, 'skills/a/data', name), 'utf8')))
      assert.ok(contents.size <= 1, `round ${round}: both versions in one copy`)
    }
    // A change sweeps what those before it left.
    const child = spawn(process.execPath, [COMPILED, join(import.meta.dirname, 'changes.ts'), root], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env,
    })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await inScope(scope, { alone }, async () => undefined)
    const left = readdirSync(join(scope.root, 'skills')).filter((name) => name.startsWith('.nexus-'))
    assert.ok(left.length <= 3, left.join(' '))
  })
