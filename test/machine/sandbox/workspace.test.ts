import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { isAbsolute } from 'node:path'
import { test } from 'node:test'
import { checkWorkspace } from '../../../src/machine/sandbox/local/workspace.ts'

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
    if (isAbsolute(homedir) && homedir !== '/') assert.throws(() => checkWorkspace(homedir, '/var/lib/nexus'), refusal)
    checkWorkspace('/srv/project', '/var/lib/nexus')
  }
  process.env['HOME'] = '/srv/project/home'
  assert.throws(() => checkWorkspace('/srv/project', '/var/lib/nexus'), refusal)
})
