import assert from 'node:assert/strict'
import { tmpdir, userInfo } from 'node:os'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { test } from 'node:test'
import { checkWorkspace } from '../../../src/machine/sandbox/local/check-workspace.ts'

const STATE = { stateDir: '/var/lib/nexus', skillRoots: [] }

test('a workspace never holds the home directory, be it that of HOME or of the system', (t) => {
  const before = process.env['HOME']
  t.after(() => {
    if (before === undefined) delete process.env['HOME']
    else process.env['HOME'] = before
  })
  const refusal = { code: 'INVALID_ARGUMENT', message: /contains your whole home directory|is a system directory/ }
  const { homedir } = userInfo()
  for (const home of ['/srv/somebody', '', '.']) {
    process.env['HOME'] = home
    if (isAbsolute(homedir) && homedir !== '/') assert.throws(() => checkWorkspace(homedir, STATE), refusal)
    checkWorkspace('/srv/project', STATE)
  }
  process.env['HOME'] = '/srv/project/home'
  assert.throws(() => checkWorkspace('/srv/project', STATE), refusal)
})

test('a workspace is no directory of skills of a home, nor in one', (t) => {
  const before = process.env['HOME']
  t.after(() => {
    if (before === undefined) delete process.env['HOME']
    else process.env['HOME'] = before
  })
  process.env['HOME'] = '/srv/me'
  const refusal = { code: 'INVALID_ARGUMENT', message: /is in a directory of skills/ }
  for (const path of ['.nexus/skills', '.agents/skills/x', '.claude/skills/x/y', '.config/other/skills'])
    assert.throws(() => checkWorkspace(`/srv/me/${path}`, STATE), refusal, path)
  for (const path of ['work/skills', '.dotfiles', 'skills', '.skills/work']) checkWorkspace(`/srv/me/${path}`, STATE)
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-home-')))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'real'))
  symlinkSync('real', join(root, 'me'))
  process.env['HOME'] = join(root, 'me')
  assert.throws(() => checkWorkspace(join(root, 'real/.claude/skills/x'), STATE), refusal, 'a home by a link')
  const settings = { ...STATE, skillRoots: ['/srv/me/mine'] }
  for (const path of ['mine', 'mine/csv']) assert.throws(() => checkWorkspace(`/srv/me/${path}`, settings), refusal)
  checkWorkspace('/srv/me/mine2', settings)
})
