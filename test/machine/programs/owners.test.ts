import assert from 'node:assert/strict'
import { chmodSync, chownSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Owners, type Program } from '../../../src/machine/programs/index.ts'
import { type Home, makeHome } from './home.ts'

const UID = process.getuid?.() ?? -1
const isRoot = UID === 0

function lay(context: TestContext): { readonly home: Home; readonly program: Program } {
  const home = makeHome(context)
  home.program('.pyenv/versions/3.12.1/bin/only-python', '\x7fELF')
  home.file('.pyenv/versions/3.12.1/lib/os.py', '')
  const program = home.search().locate('only-python')
  assert.ok(program.type === 'found')
  return { home, program }
}

const LIBRARY = '.pyenv/versions/3.12.1/lib'

test('files that only we and root can write are mounted', async (context) => {
  const { program } = lay(context)
  assert.equal(new Owners(UID).ofWays(program), undefined)
  assert.equal(await new Owners(UID).ofFiles(program), undefined)
})

test('a directory above, a place or a file in it that every account can write is refused', async (context) => {
  const { home, program } = lay(context)
  for (const name of ['.pyenv', '.pyenv/versions/3.12.1', '.pyenv/versions/3.12.1/bin/only-python']) {
    chmodSync(join(home.path, name), 0o777)
    const found = new Owners(UID).ofWays(program)
    assert.deepEqual(found, { path: join(home.path, name), why: 'every account can write to it' })
    chmodSync(join(home.path, name), 0o755)
  }
  chmodSync(join(home.path, LIBRARY, 'os.py'), 0o666)
  assert.equal((await new Owners(UID).ofFiles(program))?.path, join(home.path, LIBRARY, 'os.py'))
  // Others do not get there at all.
  chmodSync(home.path, 0o700)
  assert.equal(await new Owners(UID).ofFiles(program), undefined)
})

test('a group with no other member counts as none; one with members, or of a directory service, does not', async (context) => {
  if (!isRoot) return context.skip('only root gives files to groups')
  const { home, program } = lay(context)
  const file = join(home.path, LIBRARY, 'os.py')
  // The group of root has no member here; `users` or any unknown one may have.
  chmodSync(file, 0o664)
  assert.equal(await new Owners(UID).ofFiles(program), undefined)
  chownSync(file, 0, 60_123)
  assert.match((await new Owners(UID).ofFiles(program))?.why ?? '', /the group 60123 can write to it/)
})

test('files of another account are refused, also for root', async (context) => {
  if (!isRoot) return context.skip('only root gives files away')
  const { home, program } = lay(context)
  chownSync(join(home.path, LIBRARY, 'os.py'), 1234, 1234)
  assert.match((await new Owners(UID).ofFiles(program))?.why ?? '', /it belongs to another account \(uid 1234\)/)
  chownSync(join(home.path, '.pyenv/versions/3.12.1'), 1234, 1234)
  assert.match(new Owners(UID).ofWays(program)?.why ?? '', /another account/)
})
