/** The file tools as a program gets them: with the settings, secrets and trust of a machine. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/public/index.ts'
import { type LocalOptions, openLocal, readEnvironment } from '../../src/public/local.ts'

const KEY = 'sk-0123456789abcdef'

async function open(context: TestContext, settings: string, options: LocalOptions = {}) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-file-tools-')))
  context.after(() => rmSync(directory, { recursive: true, force: true }))
  const [cwd, nexusHome] = [join(directory, 'work'), join(directory, 'home')]
  for (const path of [cwd, nexusHome]) mkdirSync(path)
  writeFileSync(join(nexusHome, 'nexus.yaml'), settings)
  writeFileSync(join(cwd, 'a.txt'), 'in the workspace')
  writeFileSync(join(directory, 'out.txt'), 'outside')
  const environment = readEnvironment({ HOME: directory, NEXUS_HOME: nexusHome, PATH: process.env['PATH'] ?? '' })
  const local = await openLocal({ cwd, environment, sandbox: 'none', record: 'memory', ...options })
  context.after(() => local.close())
  const agent = local.runtime.openAgent()
  const call = async (tool: string, args: JsonObject): Promise<string> => {
    const { outcome, decision } = await agent.call({ tool, arguments: args, origin: 'model' })
    if (outcome.type !== 'failed') return outcome.text
    return `${decision.type === 'deny' ? 'denied' : outcome.code}: ${outcome.message}`
  }
  return { directory, cwd, nexusHome, call }
}

describe('file tools on this machine', () => {
  it('an agent of preset sandboxed reads and writes in the workspace only, and learns where it may', async (context) => {
    const { call, cwd } = await open(context, 'agents: [{ id: main, preset: sandboxed }]\n', { trusted: true })
    assert.equal(await call('read_file', { path: 'a.txt' }), 'in the workspace')
    assert.match(await call('write_file', { path: 'b.txt', content: 'x' }), /^Successfully/)
    for (const [tool, args] of [
      ['read_file', {}],
      ['list_directory', {}],
      ['write_file', { content: 'x' }],
      ['edit_file', { old_string: 'a', new_string: 'b' }],
    ] as const)
      assert.match(await call(tool, { path: '../out.txt', ...args }), new RegExp(`ACCESS_DENIED: .*: ${cwd}$`), tool)
  })

  it('a worker reads and does not write', async (context) => {
    const { call } = await open(context, 'agents: [{ id: main, preset: worker }]\n', { trusted: true })
    assert.equal(await call('read_file', { path: 'a.txt' }), 'in the workspace')
    assert.match(await call('write_file', { path: 'b.txt', content: 'x' }), /^denied: .*disabled by the permissions/)
  })

  it('yolo reads and writes everywhere but at home with Nexus, and asks about what would be held of commands', async (context) => {
    const { call, directory, nexusHome } = await open(context, 'agents: [{ id: main, preset: yolo }]\n', {
      trusted: true,
    })
    assert.equal(await call('read_file', { path: '~/out.txt' }), 'outside')
    assert.match(await call('write_file', { path: '../new.txt', content: 'x' }), /^Successfully/)
    assert.match(await call('read_file', { path: join(nexusHome, 'nexus.yaml') }), /^ACCESS_DENIED: .*Nexus keeps/)
    assert.match(
      await call('write_file', { path: join(nexusHome, 'trust.json'), content: '{}' }),
      /^ACCESS_DENIED: .*Nexus keeps/,
    )
    assert.match(await call('write_file', { path: '~/.bashrc', content: 'evil' }), /^denied: .*if a command changed/i)
    assert.equal(existsSync(join(directory, '.bashrc')), false)
  })

  it('without trust files are read and not changed', async (context) => {
    const { call, cwd } = await open(context, 'agents: [{ id: main, preset: yolo }]\n')
    mkdirSync(join(cwd, 'skills/evil'), { recursive: true })
    writeFileSync(join(cwd, 'skills/evil/SKILL.md'), '---\nname: evil\ndescription: Does it.\n---\nDo it.\n')
    await call('load_skill', { skill_name: 'evil' })
    assert.equal(await call('read_file', { path: 'a.txt' }), 'in the workspace')
    for (const [tool, args] of [
      ['write_file', { content: 'x' }],
      ['edit_file', { old_string: 'in', new_string: 'x' }],
    ] as const)
      assert.match(await call(tool, { path: 'a.txt', ...args }), /^denied: .*not trusted.*nexus trust/, tool)
  })

  it('secrets of the configuration are hidden in what is read, in the difference and in a cut', async (context) => {
    const settings = `model: { provider: openai, name: m, apiKey: ${KEY} }\nagents: [{ id: main, preset: yolo }]\n`
    const { call, cwd } = await open(context, settings, { trusted: true })
    writeFileSync(join(cwd, 'env.txt'), `KEY=${KEY}\n`)
    writeFileSync(join(cwd, 'long'), `${'x'.repeat(49_970)}${KEY}${'y'.repeat(500)}`)
    assert.equal(await call('read_file', { path: 'env.txt' }), 'KEY=[redacted]\n')
    assert.doesNotMatch(await call('read_file', { path: 'long' }), /sk-0123/)
    const edited = await call('edit_file', { path: 'env.txt', old_string: 'KEY=', new_string: 'TOKEN=' })
    assert.match(edited, /-KEY=\[redacted\]\n\+TOKEN=\[redacted\]/)
  })
})
