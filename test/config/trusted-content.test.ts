import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { listTrusted, trustWorkspace } from '../../src/config/index.ts'
import { findings, makePlace, type Place } from './place.ts'

const trust = (place: Place): Promise<string> =>
  trustWorkspace({ nexusHome: place.nexusHome, directory: place.workspace })

describe('what is trusted is the nexus.yaml as it was', () => {
  const WIDENS = 'model: openai/other'

  it('does not count when it appeared after the workspace was trusted, while the skills stay trusted', async () => {
    await using place = await makePlace()
    await trust(place)
    assert.deepEqual((await place.load()).diagnostics, [])
    await place.write('workspace/nexus.yaml', `${WIDENS}\nlimits: {maxIterations: 2}`)
    const loaded = await place.load()
    assert.deepEqual(findings(loaded), ['config-changed-since-trust', '1:1 config-untrusted'])
    const [changed] = loaded.diagnostics
    assert.equal(changed?.path, join(place.workspace, 'nexus.yaml'))
    assert.match(changed?.message ?? '', /appeared after/)
    assert.match(changed?.fix ?? '', /nexus trust/)
    assert.deepEqual([loaded.workspace.trusted, loaded.config.model], [true, undefined])
    assert.equal(loaded.config.limits.maxIterations, 2)
  })

  it('does not count when it is another by one byte, and counts again when that one is trusted', async () => {
    await using place = await makePlace({ local: WIDENS })
    await trust(place)
    assert.equal((await place.load()).config.model?.name, 'other')
    await place.write('workspace/nexus.yaml', `${WIDENS} `)
    const loaded = await place.load()
    assert.deepEqual(findings(loaded), ['config-changed-since-trust', '1:1 config-untrusted'])
    assert.equal(loaded.config.model, undefined)
    await trust(place)
    assert.deepEqual((await place.load()).diagnostics, [])
  })

  it('is said to be gone when it is', async () => {
    await using place = await makePlace({ local: 'skills: {disabled_skills: [x]}' })
    await trust(place)
    await rm(join(place.workspace, 'nexus.yaml'))
    const loaded = await place.load()
    assert.deepEqual(findings(loaded), ['config-changed-since-trust'])
    assert.match(loaded.diagnostics[0]?.message ?? '', /gone/)
  })

  it('counts as it is for a run that trusts it, and for one who names it', async () => {
    await using place = await makePlace()
    await trust(place)
    const configPath = await place.write('workspace/nexus.yaml', WIDENS)
    for (const options of [{ trusted: true }, { configPath }]) {
      const loaded = await place.load(options)
      assert.deepEqual([findings(loaded), loaded.config.model?.name], [[], 'other'])
    }
    assert.deepEqual(findings(await place.load({ trusted: false })), ['1:1 config-untrusted'])
  })

  it('is not known to a list of an older version, whose entries trust skills only, and that is said', async () => {
    await using place = await makePlace({ local: WIDENS })
    const list = { version: 1, directories: [place.workspace] }
    await writeFile(join(place.nexusHome, 'trust.json'), JSON.stringify(list), { mode: 0o600 })
    const loaded = await place.load()
    assert.deepEqual(findings(loaded), ['config-changed-since-trust', '1:1 config-untrusted'])
    assert.match(loaded.diagnostics[0]?.message ?? '', /older version/)
    assert.equal(loaded.workspace.trusted, true)
    assert.deepEqual((await listTrusted(place.nexusHome)).workspaces, [{ directory: place.workspace }])
    await trust(place)
    assert.deepEqual((await place.load()).diagnostics, [])
  })

  it('is kept in the list as a digest, or as absent', async () => {
    await using place = await makePlace()
    await trust(place)
    assert.deepEqual((await listTrusted(place.nexusHome)).workspaces, [
      { directory: place.workspace, config: 'absent' },
    ])
    await place.write('workspace/nexus.yaml', '')
    await trust(place)
    const text = await readFile(join(place.nexusHome, 'trust.json'), 'utf8')
    assert.match(text, /"config": "sha256:e3b0c44298fc1c14/)
  })
})

describe("a workspace's nexus.yaml", () => {
  const OFF: readonly (readonly [text: string, place: string])[] = [
    ['execution: {sandbox: none}', '1:13'],
    ['execution: {mode: none}', '1:13'],
    ['execution: {uidBase: 300000}', '1:13'],
    ['execution: {workspace: {mode: direct}}', '1:13'],
    ['execution: {filesystem: {allowWrite: [/]}}', '1:26'],
  ]
  for (const [local, position] of OFF) {
    it(`never turns confinement off, trusted or not: ${local}`, async () => {
      await using place = await makePlace({ local })
      await trust(place)
      for (const options of [{}, { trusted: true }]) {
        const loaded = await place.load(options)
        assert.deepEqual(findings(loaded), [`${position} config-user-only`])
        assert.match(loaded.diagnostics[0]?.fix ?? '', /~\/\.nexus\/nexus\.yaml/)
        await place.write('workspace/nexus.yaml', '')
        assert.deepEqual(loaded.config, (await place.load({ trusted: true })).config)
        await place.write('workspace/nexus.yaml', local)
      }
    })
  }

  it('is not asked: who uses the machine may turn confinement off in their own file, by --config, or by a flag', async () => {
    const none = 'execution: {sandbox: none}'
    await using place = await makePlace({ user: none })
    assert.equal((await place.load()).config.execution.sandbox, 'none')
    await using other = await makePlace()
    const configPath = await other.write(
      'mine.yaml',
      'execution: {sandbox: none, workspace: {mode: direct, maxFiles: 5}}',
    )
    const { config } = await other.load({ configPath })
    assert.deepEqual([config.execution.sandbox, config.execution.workspace], ['none', { mode: 'direct', maxFiles: 5 }])
    assert.equal((await other.load({ overrides: { execution: { sandbox: 'none' } } })).config.execution.sandbox, 'none')
  })
})
