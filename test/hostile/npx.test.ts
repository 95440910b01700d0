/** `npx nexus` where Nexus is installed in the workspace: npx prefers the `bin` of a package.json there to the installed command. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { readEnvironment } from '../../src/config/index.ts'
import { openLocal } from '../../src/local/index.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const skip = whySkipped() ?? false
const EVIL = '{ "bin": { "nexus": "./evil.js" } }'

/** What an agent does to `path` in a workspace: by a command, then with a file tool. */
async function attack(
  t: TestContext,
  path: string,
  { installedIn = '', settings = '', file }: { installedIn?: string; settings?: string; file?: string } = {},
): Promise<string | undefined> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-npx-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [home, cwd] = [join(root, 'home'), join(root, 'above/work')]
  for (const directory of [home, cwd, join(root, installedIn, 'node_modules/.bin')])
    mkdirSync(directory, { recursive: true })
  if (installedIn !== '') writeFileSync(join(root, installedIn, 'node_modules/.bin/nexus'), '')
  if (file !== undefined) writeFileSync(join(cwd, path), file)
  writeFileSync(join(home, 'nexus.yaml'), settings)
  const environment = readEnvironment({ HOME: root, NEXUS_HOME: home, PATH: process.env['PATH'] })
  const nexus = await openLocal({ cwd, environment, trusted: true, record: 'memory' })
  t.after(() => nexus.close())
  const agent = nexus.runtime.openAgent()
  const command = `mkdir -p "$(dirname ${path})"; echo '${EVIL}' > ${path}; echo 1 > free`
  await agent.call({ tool: 'run_command', arguments: { command } })
  assert.equal(existsSync(join(cwd, 'free')), true)
  await agent.call({ tool: 'write_file', arguments: { path, content: EVIL } })
  return existsSync(join(cwd, path)) ? readFileSync(join(cwd, path), 'utf8').trim() : undefined
}

test('package.json beside the installed Nexus is not changed', { skip }, async (t) => {
  assert.equal(await attack(t, 'package.json', { installedIn: 'above/work', file: '{}' }), '{}')
})

test('package.json is not made below a directory where Nexus is installed', { skip }, async (t) => {
  assert.equal(await attack(t, 'package.json', { installedIn: 'above' }), undefined)
})

test('a command called nexus is not made where npx finds it', { skip }, async (t) => {
  assert.equal(await attack(t, 'sub/node_modules/.bin/nexus'), undefined)
})

test('package.json is written where Nexus is not installed, and where the user opens it', { skip }, async (t) => {
  assert.equal(await attack(t, 'package.json', { file: '{}' }), EVIL)
  const settings = 'execution: { workspace: { writable: [package.json] } }\n'
  assert.equal(await attack(t, 'package.json', { installedIn: 'above/work', settings, file: '{}' }), EVIL)
})
