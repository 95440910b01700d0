/** skills.builtin, and names in lists of permissions that mean no tool. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type Local, openLocal, readEnvironment } from '../../src/public/local.ts'

async function open(t: TestContext, user: string): Promise<Local> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-builtin-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const directory of ['home', 'work']) mkdirSync(join(root, directory))
  writeFileSync(join(root, 'home/nexus.yaml'), user)
  const environment = readEnvironment({ HOME: root, NEXUS_HOME: join(root, 'home'), PATH: '' })
  const local = await openLocal({ cwd: join(root, 'work'), environment, sandbox: 'none', record: 'memory' })
  t.after(() => local.close())
  return local
}

const SEARCH = 'search: { provider: searxng, url: "http://127.0.0.1:1" }\n'
const FILES = ['read_file', 'write_file', 'edit_file', 'list_directory']
const WEB = ['web_fetch', 'web_search']

test('skills.builtin chooses among the web tools, the file tools and run_command; the other tools stay', async (t) => {
  const names = async (builtin: string): Promise<string[]> => {
    const { runtime, diagnostics } = await open(t, SEARCH + builtin)
    assert.deepEqual(diagnostics, [])
    return [...runtime.openAgent().registry.names]
  }
  const all = await names('')
  for (const name of [...FILES, ...WEB, 'run_command', 'load_skill', 'sleep']) assert.ok(all.includes(name), name)
  const without = (left: readonly string[]): string[] => all.filter((name) => !left.includes(name))
  assert.deepEqual(await names('skills: { builtin: [web_search, file_ops, shell] }'), all)
  assert.deepEqual(await names('skills: { builtin: [file_ops] }'), without([...WEB, 'run_command']))
  assert.deepEqual(await names('skills: { builtin: [shell, web_search] }'), without(FILES))
  assert.deepEqual(await names('skills: { builtin: [] }'), without([...FILES, ...WEB, 'run_command']))
})

test('an unknown name of skills.builtin lists what exists, and chooses nothing', async (t) => {
  const { runtime, diagnostics } = await open(t, 'skills: { builtin: [shel] }')
  assert.deepEqual(
    diagnostics.map(({ code, message }) => [code, message]),
    [['config-unknown-builtin', 'Unknown built-in skill: shel. Available: [web_search, file_ops, shell]']],
  )
  assert.ok(!runtime.openAgent().registry.has('run_command'))
})

test('an unknown name in a list of permissions is a warning with place and nearest name', async (t) => {
  const { diagnostics } = await open(
    t,
    `permissions:
  destructiveTools: [read_fil, edit_file]
  presets: { mine: { disableTools: [group:wb, "group:web"] } }
agents:
  - id: main
    permissions:
      disableTools: [run_comand, run_command, "mcp:*", exec]
      enableTools: [nothing_like_it]
`,
  )
  assert.deepEqual(
    diagnostics.map(({ severity, line, message, fix }) => [severity, line, message.split(':', 1)[0], fix]),
    [
      ['warning', 7, 'permissions.disableTools[0]', "Did you mean 'run_command'?"],
      ['warning', 8, 'permissions.enableTools[0]', undefined],
      ['warning', 3, 'permissions.presets.mine.disableTools[0]', "Did you mean 'group:web'?"],
      ['warning', 2, 'permissions.destructiveTools[0]', "Did you mean 'read_file'?"],
    ],
  )
})
