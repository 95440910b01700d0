import assert from 'node:assert/strict'
import { readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { listTrusted, trustWorkspace } from '../../src/config/index.ts'
import { findings, makePlace, type Place } from './place.ts'

const trust = (place: Place): Promise<string> =>
  trustWorkspace({ nexusHome: place.nexusHome, directory: place.workspace })

const WIDENS = 'model: openai/other'

describe('trust covers the settings that widen power', () => {
  it('so one that is added later does not apply, and the workspace waits for trust', async () => {
    await using place = await makePlace()
    await trust(place)
    assert.deepEqual((await place.load()).diagnostics, [])
    await place.write('workspace/nexus.yaml', `${WIDENS}\nlimits: {maxIterations: 2}`)
    const loaded = await place.load()
    assert.deepEqual(findings(loaded), ['1:1 config-changed-since-trust', '2:10 config-changed-since-trust'])
    const [added] = loaded.diagnostics
    assert.equal(added?.path, join(place.workspace, 'nexus.yaml'))
    assert.equal(added?.subject, 'model')
    assert.match(added?.message ?? '', /^model is not applied\. It was added after you trusted this workspace\./)
    assert.equal(added?.fix, 'Run: nexus trust')
    assert.deepEqual([loaded.workspace.trusted, loaded.config.model], [false, undefined])
    assert.deepEqual(loaded.workspace.lost, ['model', 'limits.maxIterations'])
    assert.equal(loaded.config.limits.maxIterations, 2)
  })

  it('and is kept whatever else is edited', async () => {
    const trusted = `model: {provider: openai, name: m}\nagents: [{id: main, instructions: Be brief.}]\n`
    const edits = [
      `# a comment\n\n${trusted} `,
      'agents:\n  - instructions: Be brief.\n    id: main\nmodel:\n  name: "m"\n  provider: openai\n',
      `${trusted}skills: {disabled_skills: [x], entries: {y: {enabled: false}}}\n`,
      `${trusted}skills:\n`,
      'model: {provider: openai, name: m}\nagents: [{id: main, instructions: Be brief., tools: {deny: [a], ask: [b]}}]\n',
      `${trusted}execution: {sandbox: none, uidBase: 300000, workspace: {maxFiles: 9}}\n`,
    ]
    await using place = await makePlace({ local: trusted })
    await trust(place)
    for (const edit of edits) {
      await place.write('workspace/nexus.yaml', edit)
      const loaded = await place.load()
      assert.deepEqual(loaded.workspace.lost, [], edit)
      assert.equal(loaded.config.model?.name, 'm', edit)
    }
    await using other = await makePlace()
    await trust(other)
    await other.write('workspace/nexus.yaml', 'agents: [{id: main, tools: {deny: [run_command]}}]')
    assert.deepEqual((await other.load()).workspace.lost, [])
  })

  const LOSES: readonly (readonly [before: string, after: string, subject: string, how: RegExp])[] = [
    ['model: openai/a', 'model: openai/b', 'model', /changed/],
    [
      'model: {provider: openai, name: m, baseUrl: "https://a"}',
      'model: {provider: openai, name: m, baseUrl: "https://b"}',
      'model.baseUrl',
      /changed/,
    ],
    [
      'mcp: {servers: {m: {command: x, args: [a]}}}',
      'mcp: {servers: {m: {command: x}}}',
      'mcp.servers.m.args',
      /removed/,
    ],
    ['agents: [{id: main, skills: [a]}]', 'agents: [{id: main, skills: [b]}]', 'agents[0].skills', /changed/],
    ['agents: [{id: main, skills: [a]}]', 'agents: [{id: main}]', 'agents[0].skills', /removed/],
    ['agents: [{id: x}]', 'agents: [{id: main}, {id: x}]', 'agents', /changed/],
    [
      'skills: {entries: {x: {apiKey: "${A}"}}}',
      'skills: {entries: {x: {apiKey: "${B}"}}}',
      'skills.entries.x.apiKey',
      /changed/,
    ],
    ['limits: {maxIterations: 2}', 'limits: {maxIterations: 3}', 'limits.maxIterations', /changed/],
    ['', 'skills: {custom: [./evil.mjs]}', 'skills.custom', /added/],
  ]
  for (const [before, after, subject, how] of LOSES) {
    it(`and an edit of ${subject} loses it, with its name: ${after}`, async () => {
      await using place = await makePlace({ local: before })
      await trust(place)
      assert.deepEqual((await place.load()).workspace.lost, [])
      await place.write('workspace/nexus.yaml', after)
      const loaded = await place.load()
      assert.deepEqual(loaded.workspace.lost, [subject])
      const [found] = loaded.diagnostics
      assert.deepEqual(
        [found?.code, found?.subject, found?.fix],
        ['config-changed-since-trust', subject, 'Run: nexus trust'],
      )
      assert.match(found?.message ?? '', how)
      await trust(place)
      assert.deepEqual((await place.load()).workspace.lost, [])
    })
  }

  it('and a file that is gone is reported', async () => {
    await using place = await makePlace({ local: 'skills: {disabled_skills: [x]}' })
    await trust(place)
    await rm(join(place.workspace, 'nexus.yaml'))
    const loaded = await place.load()
    assert.deepEqual(findings(loaded), ['config-changed-since-trust'])
    assert.match(loaded.diagnostics[0]?.message ?? '', /gone/)
  })

  it('and a run that trusts the workspace takes the file as it is', async () => {
    await using place = await makePlace()
    await trust(place)
    await place.write('workspace/nexus.yaml', WIDENS)
    const loaded = await place.load({ trusted: true })
    assert.deepEqual([findings(loaded), loaded.config.model?.name], [[], 'other'])
    assert.deepEqual(findings(await place.load({ trusted: false })), ['1:1 config-untrusted'])
  })

  it('as they were in the text that was shown, not in the file at a later moment', async () => {
    await using place = await makePlace({ local: WIDENS })
    const path = join(place.workspace, 'nexus.yaml')
    await place.write('workspace/nexus.yaml', 'model: openai/swapped')
    await trustWorkspace({ nexusHome: place.nexusHome, directory: place.workspace, shown: new Map([[path, WIDENS]]) })
    assert.deepEqual((await place.load()).workspace.lost, ['model'])
    await place.write('workspace/nexus.yaml', WIDENS)
    assert.deepEqual((await place.load()).workspace.lost, [])
  })

  it('and are kept in the list as digests, without their values', async () => {
    await using place = await makePlace({ local: 'skills: {entries: {"a/b": {apiKey: key-of-somebody}}}' })
    await trust(place)
    const [entry] = (await listTrusted(place.nexusHome)).workspaces
    assert.deepEqual(Object.keys(entry?.files['nexus.yaml'] ?? {}), ['/skills/entries/a~1b/apiKey'])
    const text = await readFile(join(place.nexusHome, 'trust.json'), 'utf8')
    assert.match(text, /"sha256:[0-9a-f]{64}"/)
    assert.doesNotMatch(text, /key-of-somebody/)
  })
})

describe('a list of another version', () => {
  it('trusts nothing, and says so', async () => {
    await using place = await makePlace({ local: WIDENS })
    for (const list of [
      { version: 1, directories: [place.workspace] },
      { version: 4, workspaces: [] },
    ]) {
      await writeFile(join(place.nexusHome, 'trust.json'), JSON.stringify(list), { mode: 0o600 })
      const loaded = await place.load()
      assert.equal(loaded.diagnostics[0]?.code, 'trust-damaged')
      assert.equal(loaded.workspace.trusted, false)
    }
  })
})

describe('a configuration file inside the workspace', () => {
  it("is the workspace's, be it found, named by the caller or by a variable", async () => {
    await using place = await makePlace()
    const inside = await place.write('workspace/ci/own.yaml', `${WIDENS}\nexecution: {sandbox: none}`)
    await symlink(inside, join(place.root, 'link.yaml'))
    const named = [
      { configPath: inside },
      { configPath: join(place.root, 'link.yaml') },
      { configPath: 'ci/own.yaml' },
      { variables: { NEXUS_CONFIG: inside } },
    ]
    for (const options of named) {
      const loaded = await place.load(options)
      assert.deepEqual(findings(loaded), ['1:1 config-untrusted', '2:13 config-untrusted'])
      assert.equal(loaded.workspace.files.length, 1)
      assert.deepEqual([loaded.config.model, loaded.config.execution.sandbox], [undefined, 'local'])
      const trusted = await place.load({ ...options, trusted: true })
      assert.deepEqual([trusted.config.model?.name, trusted.config.execution.sandbox], ['other', 'local'])
    }
    await trust(place)
    const added = await place.load({ configPath: inside })
    assert.deepEqual(added.workspace.lost, ['model'])
    assert.match(added.diagnostics[0]?.fix ?? '', /nexus trust --config .*own\.yaml$/)
    const shown = new Map([[inside, WIDENS]])
    await trustWorkspace({ nexusHome: place.nexusHome, directory: place.workspace, shown })
    for (const options of named) assert.deepEqual((await place.load(options)).workspace.lost, [])
  })

  it("is not the user's own file in a home that is worked in", async () => {
    await using place = await makePlace({ user: WIDENS })
    for (const variables of [{}, { NEXUS_CONFIG: join(place.nexusHome, 'nexus.yaml') }] as Record<string, string>[])
      assert.equal((await place.load({ cwd: place.home, variables })).config.model?.name, 'other')
  })
})

describe("a workspace's nexus.yaml", () => {
  const OFF: readonly (readonly [text: string, place: string])[] = [
    ['execution: {sandbox: none}', '1:13'],
    ['execution: {uidBase: 300000}', '1:13'],
    ['execution: {workspace: {writable: [skills]}}', '1:25'],
    ['execution: {changes: {keepDays: 1}}', '1:23'],
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
    const configPath = await other.write('mine.yaml', 'execution: {sandbox: none, workspace: {maxFiles: 5}}')
    const { config } = await other.load({ configPath })
    assert.deepEqual(
      [config.execution.sandbox, config.execution.workspace],
      ['none', { maxFiles: 5, protected: [], writable: [] }],
    )
    assert.equal((await other.load({ overrides: { execution: { sandbox: 'none' } } })).config.execution.sandbox, 'none')
  })
})
