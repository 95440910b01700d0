import assert from 'node:assert/strict'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs' // oxfmt-ignore
import { join } from 'node:path'
import { test } from 'node:test'
import { fetchLocked, findToRestore, lockOf, removeSkills, restore, verifyCopies } from '../../../src/skills/install/index.ts' // oxfmt-ignore
import { skillText } from './git-server.ts'
import { refuse, refuseLinks } from './no-links.ts'
import { Ground } from './rig.ts'

const CLIENTS = ['claude-code', 'codex']

function ground(t: { after: (fn: () => void) => void }) {
  const here = new Ground(t)
  here.write('one/a/SKILL.md', skillText('a'))
  here.write('one/a/data.txt', 'one')
  here.write('two/a/SKILL.md', skillText('a', 'license: MIT\n'))
  here.write('two/a/data.txt', 'two')
  const seat = join(here.scope.root, '.claude/skills/a')
  const again = async () => {
    const due = await findToRestore(here.scope, lockOf(here.scope))
    return restore(here.scope, { due, wanted: await fetchLocked(here.scope, due, here.access()) }, here.options)
  }
  return Object.assign(here, { seat, again })
}

test('links for programs that are gone are made again by a restore, also where every copy is as the lock has it', async (t) => {
  const here = ground(t)
  await here.folder('one', { clients: CLIENTS })
  assert.equal(readlinkSync(here.seat), '../../skills/a')
  rmSync(join(here.scope.root, '.claude'), { recursive: true })
  const [missing] = (await verifyCopies(here.scope)).filter(({ drift }) => drift.length > 0)
  assert.deepEqual([missing?.place, missing?.drift.map(({ change }) => change)], ['.claude/skills/a', ['missing', 'missing']]) // oxfmt-ignore
  await here.again()
  assert.equal(readlinkSync(here.seat), '../../skills/a')
})

test('a directory for programs that is a link stops an install before anything is placed', async (t) => {
  const here = ground(t)
  mkdirSync(join(here.root, 'elsewhere'))
  symlinkSync('../elsewhere', join(here.scope.root, '.claude'))
  await assert.rejects(here.folder('one', { clients: CLIENTS }), { code: 'PATH_OUTSIDE', path: '.claude' })
  assert.deepEqual(readdirSync(join(here.scope.root, 'skills')), [])
  assert.deepEqual(readdirSync(join(here.root, 'elsewhere')), [])
})

test('a copy for a program follows the lock: it is replaced by updates, verified, restored, removed, and its edits are kept', async (t) => {
  const here = ground(t)
  await here.folder('one', { clients: CLIENTS })
  // The same as where links are not possible.
  rmSync(here.seat)
  mkdirSync(here.seat)
  for (const name of ['SKILL.md', 'data.txt'])
    writeFileSync(join(here.seat, name), readFileSync(join(here.scope.root, 'skills/a', name)))
  assert.ok((await verifyCopies(here.scope)).every(({ drift }) => drift.length === 0))
  await here.folder('two')
  assert.equal(readFileSync(join(here.seat, 'data.txt'), 'utf8'), 'two')
  assert.ok(lstatSync(here.seat).isDirectory() || readlinkSync(here.seat) === '../../skills/a')
  rmSync(here.seat, { recursive: true })
  mkdirSync(here.seat)
  writeFileSync(join(here.seat, 'data.txt'), 'mine')
  await assert.rejects(here.folder('one'), { code: 'CONFLICT' })
  assert.equal(readFileSync(join(here.scope.root, 'skills/a/data.txt'), 'utf8'), 'two')
  await removeSkills(here.scope, ['a'], here.options)
  // It is somebody's own by now.
  assert.equal(readFileSync(join(here.seat, 'data.txt'), 'utf8'), 'mine')
  assert.ok(!existsSync(join(here.scope.root, '.agents/skills/a')))
})

test('a copy for a program that cannot be removed whole is seen by no program, and the next change removes the rest', async (t) => {
  const here = ground(t)
  t.after(refuseLinks())
  await here.folder('one', { clients: ['claude-code'] })
  assert.ok(lstatSync(here.seat).isDirectory())
  const end = refuse('unlinkSync', 'EIO', 2)
  await removeSkills(here.scope, ['a'], here.options).catch(() => undefined)
  end()
  const seats = join(here.scope.root, '.claude/skills')
  assert.deepEqual(readdirSync(seats).filter((name) => !name.startsWith('.')), []) // oxfmt-ignore
  await here.folder('two', { clients: ['claude-code'] })
  await removeSkills(here.scope, ['a'], here.options)
  assert.equal(existsSync(here.seat), false)
})
