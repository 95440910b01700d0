import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Home, makeHome } from './home.ts'

/** The reason why the program `x` is not mounted. */
function refusal(context: Parameters<typeof makeHome>[0], lay: (home: Home) => void, path?: readonly string[]): string {
  const home = makeHome(context)
  lay(home)
  const search = path ? { path: path.map((each) => join(home.path, each)) } : {}
  const found = home.search(search).locate('x')
  return found.type === 'refused' ? found.because : found.type
}

test('refuses a link that leads to a key, also by way of an interpreter', (context) => {
  const key = (home: Home): string => {
    chmodSync(home.file('.aws/credentials', '[default]'), 0o755)
    return join(home.path, '.aws/credentials')
  }
  assert.equal(
    refusal(context, (home) => void home.link('.local/bin/x', key(home))),
    'unknown',
  )
  assert.equal(
    refusal(context, (home) => void home.program('.local/bin/x', `#!${key(home)}\n`)),
    'unknown',
  )
  const environment = (home: Home): void => {
    key(home)
    home.file('.local/share/uv/tools/x/pyvenv.cfg', `home = ${home.path}/.aws\n`)
    home.link('.local/share/uv/tools/x/bin/python', join(home.path, '.aws/credentials'))
    home.program('.local/share/uv/tools/x/bin/x')
  }
  assert.equal(refusal(context, environment), 'unknown')
})

test('refuses a whole home, and places of keys into which an installation was moved', (context) => {
  const home = makeHome(context)
  home.file('lib/gcloud.py', '')
  home.program('bin/y')
  home.program('.ssh/versions/node/v20.0.0/bin/x', '\x7fELF')
  const whole = home.search({ path: [], variables: { CLOUDSDK_ROOT_DIR: home.path } }).locate('y')
  assert.equal(whole.type === 'refused' && whole.because, 'home')
  const keys = home.search({ path: [], variables: { NVM_DIR: join(home.path, '.ssh') } }).locate('x')
  assert.equal(keys.type === 'refused' && keys.because, 'keys')
})

test('refuses snaps and flatpaks with the reason, and places that no row knows', (context) => {
  assert.equal(
    refusal(context, (home) => void home.link('.local/bin/x', '/usr/bin/snap')),
    'absent',
  )
  const flatpak = '.local/share/flatpak/exports/bin'
  assert.equal(
    refusal(context, (home) => void home.program(`${flatpak}/x`), [flatpak]),
    'never-runs',
  )
  assert.equal(
    refusal(context, (home) => void home.program('stuff/x'), ['stuff']),
    'unknown',
  )
})

test('what cannot be mounted is passed over for a later program of the PATH; those of the system are none of the home', (context) => {
  const found = refusal(
    context,
    (home) => {
      home.program('stuff/x')
      home.program('.local/bin/x')
    },
    ['stuff', '.local/bin'],
  )
  assert.equal(found, 'found')
  const home = makeHome(context)
  assert.equal(home.search().locate('sh').type, 'system')
  for (const name of ['../x', '', 'no-such-program', '-x']) assert.equal(home.search().locate(name).type, 'absent')
})

test('an environment of the workspace names its interpreter; links in circles lead to nothing', (context) => {
  const home = makeHome(context)
  home.program('.pyenv/versions/3.12.1/bin/python3', '\x7fELF')
  home.file('work/.venv/pyvenv.cfg', `home = ${home.path}/.pyenv/versions/3.12.1/bin\n`)
  const found = home.search().environment(join(home.path, 'work/.venv'))
  assert.deepEqual(found?.type === 'found' && found.places.map(({ path }) => path), [
    join(home.path, '.pyenv/versions/3.12.1'),
  ])
  home.file('other/.venv/pyvenv.cfg', 'home = /usr/bin\n')
  assert.equal(home.search().environment(join(home.path, 'other/.venv')), undefined)
  home.link('.local/bin/a', 'b')
  home.link('.local/bin/b', 'a')
  assert.equal(home.search().locate('a').type, 'absent')
})
