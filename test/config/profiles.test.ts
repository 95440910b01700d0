import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { consentOf, explainConfig, trustWorkspace } from '../../src/config/index.ts'
import { findings, makePlace } from './place.ts'

const READER = '# Reads only.\npreset: worker\ntools:\n  deny: [web_fetch]\n'

describe('a profile of an agent', () => {
  it('adds an agent that is called as its file, behind the default one', async () => {
    await using place = await makePlace()
    await place.write('home/.nexus/agents/reader.yaml', READER)
    const loaded = await place.load()
    assert.deepEqual(loaded.diagnostics, [])
    assert.deepEqual(
      loaded.config.agents.map(({ id, preset, tools }) => [id, preset, tools.deny]),
      [
        ['main', undefined, []],
        ['reader', 'worker', ['web_fetch']],
      ],
    )
    const { originOf } = await explainConfig(loaded)
    const { path, line } = originOf(['agents', 1, 'tools', 'deny', 0]) ?? {}
    assert.deepEqual([path, line], [join(place.nexusHome, 'agents/reader.yaml'), 4])
  })

  it('never becomes the default agent beside agents of a nexus.yaml, and is the default as main.yaml without any', async () => {
    await using place = await makePlace({ local: 'agents: [{ id: coder }]\n' })
    await place.write('home/.nexus/agents/alpha.yaml', READER)
    const ids = async (): Promise<string[]> => (await place.load({ trusted: true })).config.agents.map(({ id }) => id)
    assert.deepEqual(await ids(), ['coder', 'alpha'])
    await rm(join(place.workspace, 'nexus.yaml'))
    await place.write('home/.nexus/agents/zeta.yaml', 'id: main\npreset: sandboxed\n')
    assert.deepEqual(await ids(), ['main', 'alpha'])
  })

  it('with a fault is reported with file, line and fix', async () => {
    await using place = await makePlace()
    const path = await place.write('home/.nexus/agents/reader.yaml', 'preset: workr\ntools:\n  denny: []\n')
    const loaded = await place.load()
    assert.deepEqual(findings(loaded), ['1:1 config-unknown-name', '3:3 config-unknown-key'])
    assert.deepEqual([loaded.diagnostics[0]?.path, loaded.diagnostics[1]?.path], [path, path])
    assert.match(loaded.diagnostics[0]?.fix ?? '', /worker/)
  })

  it('is reported with its settings as the profile calls them', async () => {
    await using place = await makePlace()
    const text = 'preset: workr\ntols: x\npermissions: { disableTools: exec }\ninstructions: 3\n'
    await place.write('home/.nexus/agents/reader.yaml', text)
    const { diagnostics } = await place.load()
    const messages = diagnostics.map(({ message }) => message.split('.')[0])
    assert.deepEqual(messages.slice(0, 1), ['preset is not applied'])
    assert.deepEqual(
      diagnostics.map(({ subject }) => subject),
      ['preset', 'tols', 'permissions.disableTools', 'instructions'],
    )
    assert.doesNotMatch(JSON.stringify(diagnostics), /agents\[/)
    assert.match(diagnostics[1]?.message ?? '', /This agent has no setting of this name/)
  })

  it('is reported so where a variable cannot stand, too', async () => {
    await using place = await makePlace()
    await place.write(
      'home/.nexus/agents/reader.yaml',
      'permissions: { allowedPaths: ["${NEXUS_NOT_SET}"] }\nskills: ["a${b"]\n',
    )
    const { diagnostics } = await place.load()
    assert.deepEqual(
      diagnostics.map(({ subject }) => subject),
      ['permissions.allowedPaths[0]', 'skills[0]'],
    )
    assert.doesNotMatch(JSON.stringify(diagnostics), /agents\[/)
  })

  it('that is an agent of another file too is an error that names both', async () => {
    await using place = await makePlace({ user: 'agents: [{ id: reader }]\n' })
    await place.write('home/.nexus/agents/reader.yaml', READER)
    const loaded = await place.load()
    assert.deepEqual(findings(loaded), ['2:1 config-duplicate-agent'])
    assert.match(loaded.diagnostics[0]?.message ?? '', /"reader" of this profile is also in .*nexus\.yaml/)
  })

  it('of a workspace adds an agent only with trust, is shown before, and what it widens later is not trusted', async () => {
    await using place = await makePlace()
    const { nexusHome, workspace: directory } = place
    const path = await place.write('workspace/.nexus/agents/builder.yaml', 'preset: trusted\n')
    const untrusted = await place.load()
    assert.deepEqual(
      untrusted.config.agents.map(({ id }) => id),
      ['main'],
    )
    assert.deepEqual(findings(untrusted), ['1:1 config-untrusted'])
    const { shown, text } = await consentOf(untrusted)
    assert.match(text ?? '', /preset: trusted/)
    await trustWorkspace({ nexusHome, directory, shown })
    const trusted = await place.load()
    assert.deepEqual(trusted.diagnostics, [])
    assert.equal(trusted.config.agents[1]?.id, 'builder')
    await place.write('workspace/.nexus/agents/builder.yaml', 'preset: yolo\n')
    const edited = await place.load()
    assert.equal(edited.workspace.lost.length > 0, true)
    assert.equal(
      edited.config.agents.some(({ preset }) => preset === 'yolo'),
      false,
    )
    assert.ok(edited.diagnostics.some((found) => found.path === path))
  })

  it('without trust tightens what a nexus.yaml of the user defines, and no more', async () => {
    await using place = await makePlace({ user: 'agents: [{ id: coder }]\n' })
    await place.write('workspace/.nexus/agents/coder.yaml', 'tools: { deny: [run_command], allow: [web_fetch] }\n')
    const { config } = await place.load()
    assert.deepEqual(config.agents[0]?.tools, { profile: 'full', allow: [], ask: [], deny: ['run_command'] })
  })
})
