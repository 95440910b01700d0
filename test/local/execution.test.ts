import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'

import { loadConfig, readEnvironment } from '../../src/config/index.ts'
import { executionSettings } from '../../src/local/execution.ts'
import { fileSettings } from '../../src/local/tool-settings.ts'
import { protectedPaths, skillRoots } from '../../src/local/protected-paths.ts'
import { readSettings } from '../../src/local/settings.ts'

async function settingsOf(t: TestContext, files: { user?: string; workspace?: string; trusted?: boolean }) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-execution-')))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const [cwd, nexusHome, bin] = [join(home, 'work'), join(home, '.nexus'), join(home, 'bin')]
  for (const directory of [cwd, nexusHome, bin]) mkdirSync(directory)
  if (files.user !== undefined) writeFileSync(join(nexusHome, 'nexus.yaml'), files.user)
  if (files.workspace !== undefined) writeFileSync(join(cwd, 'nexus.yaml'), files.workspace)
  writeFileSync(join(bin, 'jq'), '')
  chmodSync(join(bin, 'jq'), 0o755)
  writeFileSync(join(bin, 'data'), '')
  const environment = readEnvironment({ HOME: home, PATH: `relative:${bin}` })
  const settings = await readSettings({ cwd, environment, trusted: files.trusted ?? true })
  return { home, nexusHome, execution: executionSettings(settings), files: fileSettings(settings) }
}

test('the setting of a limit is in the trusted file of the workspace, else in the file of the user', async (t) => {
  const workspace = 'execution: { timeoutMs: 5000 }\n'
  assert.equal((await settingsOf(t, { workspace })).execution.settingsFile, '~/work/nexus.yaml')
  assert.equal((await settingsOf(t, { workspace, trusted: false })).execution.settingsFile, '~/.nexus/nexus.yaml')
  assert.equal((await settingsOf(t, {})).execution.settingsFile, '~/.nexus/nexus.yaml')
})

test('tools.run_command.blocked replaces the words that run_command refuses, not in an untrusted workspace', async (t) => {
  const blocked = 'tools: { run_command: { blocked: [curl, wget] } }\n'
  assert.deepEqual((await settingsOf(t, { user: blocked })).execution.blockedCommands, ['curl', 'wget'])
  assert.deepEqual((await settingsOf(t, { workspace: blocked })).execution.blockedCommands, ['curl', 'wget'])
  assert.equal((await settingsOf(t, { workspace: blocked, trusted: false })).execution.blockedCommands, undefined)
  await assert.rejects(settingsOf(t, { user: 'tools: { run_command: { blocked: curl } }\n' }), /blocked/)
})

test('tools.run_command.allowed and .blockedPatterns reach run_command, not from an untrusted workspace', async (t) => {
  const settings = 'tools: { run_command: { allowed: [git, ls], blockedPatterns: ["| sudo", "${HOME}"] } }\n'
  const read = async (files: Parameters<typeof settingsOf>[1]) => {
    const { allowedCommands, blockedPatterns } = (await settingsOf(t, files)).execution
    return [allowedCommands, blockedPatterns]
  }
  const expected = [
    ['git', 'ls'],
    ['| sudo', '${HOME}'],
  ]
  assert.deepEqual(await read({ user: settings }), expected)
  assert.deepEqual(await read({ workspace: settings }), expected)
  assert.deepEqual(await read({ workspace: settings, trusted: false }), [undefined, undefined])
})

test('a program of this machine is found by its name alone, if it is executable', async (t) => {
  const { home, execution } = await settingsOf(t, {})
  assert.equal(execution.findOnHost?.('jq'), join(home, 'bin/jq'))
  for (const name of ['data', 'nothing', '../bin/jq', '', '.'])
    assert.equal(execution.findOnHost?.(name), undefined, name)
})

test('tools.file_ops says which files the file tools use, not in an untrusted workspace', async (t) => {
  const workspace = 'tools: { file_ops: { allowedExtensions: [md, .txt], maxReadBytes: 1000 } }\n'
  const { allowedExtensions, maxReadBytes } = (await settingsOf(t, { workspace })).files
  assert.deepEqual([allowedExtensions, maxReadBytes], [['md', '.txt'], 1000])
  assert.equal((await settingsOf(t, { workspace, trusted: false })).files.allowedExtensions, undefined)
  await assert.rejects(settingsOf(t, { user: 'tools: { file_ops: { maxReadBytes: many } }\n' }), /maxReadBytes/)
})

test('the file tools know the home, what the user opened, and the places of Nexus', async (t) => {
  const user = 'execution: { workspace: { writable: [skills] } }\n'
  const { home, nexusHome, files } = await settingsOf(t, { user })
  assert.deepEqual([files.home, files.writableNames], [home, ['skills']])
  assert.ok(files.privatePaths?.includes(nexusHome))
  assert.ok(files.protectedPaths?.includes(nexusHome))
})

test('what the settings name is protected before it exists, with each link on the way', async (t) => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-protected-')))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const cwd = join(home, 'work')
  for (const path of ['work/real', '.nexus']) mkdirSync(join(home, path), { recursive: true })
  symlinkSync('real', join(cwd, 'tools'))
  writeFileSync(
    join(cwd, 'nexus.yaml'),
    'skills: { load: { extraDirs: [team] } }\nmcp: { servers: { x: { command: npx, args: [tools/x.js, build, srv/y.js] } } }\n',
  )
  const loaded = await loadConfig({ cwd, environment: readEnvironment({ HOME: home }), trusted: true })
  const paths = protectedPaths(loaded, { skillsDirs: ['more'] })
  // The gate holds links above a protected path: test/machine/changes/gate.test.ts.
  for (const path of ['team', 'tools', 'real/x.js', 'srv/y.js', 'nexus.yaml'])
    assert.ok(paths.includes(join(cwd, path)), `${path} is in ${paths.join(' ')}`)
  for (const path of ['build', 'npx']) assert.ok(!paths.includes(join(cwd, path)), path)
})

test('directories of skills of a home that are links into a workspace are protected in it, and no workspace', async (t) => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-linked-')))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const cwd = join(home, 'work')
  for (const path of ['work/mine', 'work/team', 'work/one', '.nexus', '.agents', '.claude/skills'])
    mkdirSync(join(home, path), { recursive: true })
  symlinkSync('../work/mine', join(home, '.nexus/skills'))
  symlinkSync(join(cwd, 'team'), join(home, '.agents/skills'))
  symlinkSync('../../work/one', join(home, '.claude/skills/one'))
  const loaded = await loadConfig({ cwd, environment: readEnvironment({ HOME: home }) })
  const [paths, roots] = [protectedPaths(loaded), skillRoots(loaded)]
  for (const name of ['mine', 'team', 'one']) {
    assert.ok(paths.includes(join(cwd, name)), `${name} is in ${paths.join(' ')}`)
    assert.ok(roots.includes(join(cwd, name)), `${name} is in ${roots.join(' ')}`)
  }
})
