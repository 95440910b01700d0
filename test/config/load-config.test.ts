import assert from 'node:assert/strict'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { assertValid, readEnvironment } from '../../src/config/index.ts'
import { findings, makePlace } from './place.ts'

/** Free settings have no prototype; their content is what counts here. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('loadConfig', () => {
  it('gives the defaults when there is no file', async () => {
    await using place = await makePlace()
    const loaded = await place.load()
    assert.deepEqual(loaded.diagnostics, [])
    assert.deepEqual(loaded.files, [])
    const { config } = loaded
    assert.deepEqual(plain(config.agents), [{ id: 'main', tools: { profile: 'full', allow: [], ask: [], deny: [] } }])
    assert.deepEqual(config.limits, { maxIterations: 50, toolTimeoutMs: 30_000, maxConcurrentTools: 10, maxRunning: 8 })
    assert.deepEqual(config.execution, {
      sandbox: 'local',
      timeoutMs: 30_000,
      maxOutputBytes: 204_800,
      programs: [],
      workspace: { protected: [], writable: [] },
      changes: { keepDays: 14, maxBytes: 64 * 1024 * 1024 },
      limits: {},
      network: { allowedDomains: [], deniedDomains: [] },
    })
    assert.deepEqual(config.skills.prompt, { budgetChars: 12_000, style: 'markdown' })
    assert.deepEqual(config.skills.load, { extraDirs: [], watch: false, watchDebounceMs: 250 })
    assert.deepEqual(config.skills.surface, ['load_skill', 'read_skill_file'])
    assert.equal(config.skills.refreshOnCall, true)
    assert.equal(config.model, undefined)
    assert.equal(assertValid(loaded), config)
  })

  it('reads the example of the design document, and says what this version does not fetch', async () => {
    const user = `skills:
  sources:
    - type: local
      path: /shared/team-skills
    - type: git
      url: https://github.com/org/skills.git
      branch: main
      refresh: 24h
    - type: registry
      url: https://skills.example.com/api/v1
  load:
    extraDirs:
      - /opt/nexus/skills
    watch: true
    watchDebounceMs: 250
  entries:
    github:
      enabled: true
      apiKey: \${GITHUB_TOKEN}
      env:
        GITHUB_TOKEN: \${GITHUB_TOKEN}
      config:
        enterprise: true
    internal-tool:
      enabled: false
agents:
  - id: main
    tools:
      profile: full
      allow: [browser, "group:fs", "mcp:github"]
      deny: [sandbox.network, nodes.camera]
tools:
  groups:
    "group:fs": ["read", "write", "edit", "exec"]
`
    await using place = await makePlace({ user })
    const loaded = await place.load({ variables: { GITHUB_TOKEN: 'ghp-secret' } })
    assert.deepEqual(findings(loaded), ['9:7 config-not-used'])
    const { skills, agents, tools } = assertValid(loaded)
    assert.deepEqual(skills.sources[0], { type: 'local', path: '/shared/team-skills' })
    assert.deepEqual(plain(skills.entries.get('github')), {
      enabled: true,
      apiKey: 'ghp-secret',
      hasApiKey: true,
      env: { GITHUB_TOKEN: 'ghp-secret' },
      config: { enterprise: true },
      network: [],
      isMasked: false,
      broken: [],
    })
    assert.equal(skills.entries.get('internal-tool')?.enabled, false)
    assert.deepEqual(agents[0]?.tools.deny, ['sandbox.network', 'nodes.camera'])
    assert.deepEqual(tools.groups.get('group:fs'), ['read', 'write', 'edit', 'exec'])
    assert.ok(loaded.secrets.includes('ghp-secret'))
  })

  it('lays workspace, named file and flags over the user file, key by key', async () => {
    await using place = await makePlace({
      user: `limits: {maxIterations: 5, maxConcurrentTools: 2}
skills: {disabled_skills: [a], load: {extraDirs: [/user]}, entries: {x: {enabled: true, env: {A: one, B: two}}}}
agents: [{id: main, skills: [p], tools: {profile: coding, deny: [d1]}}]
tools: {github: {enabled: true, url: https://one}}
model: {provider: openai, name: first, apiKey: key-of-the-user}`,
      local: `limits: {maxIterations: 6}
skills: {disabled_skills: [b, a], load: {extraDirs: [near]}, entries: {x: {env: {B: three}}}}
agents: [{id: main, skills: [q], tools: {deny: [d2]}}, {id: other}]
tools: {github: {enabled: false}}
model: {provider: openai-compatible, name: second, baseUrl: http://127.0.0.1:1/v1}`,
    })
    const named = await place.write(
      'named/extra.yaml',
      'limits: {maxIterations: 7}\nskills: {load: {extraDirs: [rel]}}',
    )
    const loaded = await place.load({
      trusted: true,
      configPath: named,
      overrides: { limits: { maxConcurrentTools: 3 }, skills: { load: { extraDirs: ['flag'] } } },
    })
    assert.deepEqual(loaded.diagnostics, [])
    const { config } = loaded
    assert.deepEqual(config.limits, {
      maxIterations: 7,
      maxConcurrentTools: 3,
      toolTimeoutMs: 30_000,
      maxRunning: 8,
    })
    assert.deepEqual(config.skills.disabled_skills, ['a', 'b'])
    assert.deepEqual(config.skills.load.extraDirs, [
      join(place.workspace, 'flag'),
      join(place.root, 'named/rel'),
      join(place.workspace, 'near'),
      '/user',
    ])
    assert.deepEqual(config.skills.entries.get('x')?.env, { A: 'one', B: 'three' })
    assert.equal(config.skills.entries.get('x')?.enabled, true)
    assert.deepEqual(
      config.agents.map(({ id, skills, tools }) => [id, skills, tools.profile, tools.deny]),
      [
        ['main', ['q'], 'coding', ['d1', 'd2']],
        ['other', undefined, 'full', []],
      ],
    )
    assert.deepEqual(plain(config.tools.settings), { github: { enabled: false, url: 'https://one' } })
    const model = { provider: 'openai-compatible', name: 'second', baseUrl: 'http://127.0.0.1:1/v1', hasApiKey: false }
    assert.deepEqual(plain(config.model), model)
    assert.deepEqual(loaded.files, [join(place.nexusHome, 'nexus.yaml'), join(place.workspace, 'nexus.yaml'), named])
  })

  it('leaves out what needs an unset variable, and nothing else', async () => {
    await using place = await makePlace({
      user: `model: {provider: openai, name: m, baseUrl: "\${NO_URL}"}
skills:
  load: {extraDirs: ["\${NOPE}/a", "\${BASE}/b", ~/c]}
  sources: [{type: registry, url: "https://x", auth: "\${NOPE}"}, {type: local, path: "$\${x}"}]
  entries:
    held: {enabled: false, apiKey: "\${NOPE}", env: {A: "\${NOPE}", B: "Bearer \${TOKEN}"}}
limits: {maxIterations: 3}
`,
    })
    const loaded = await place.load({ variables: { BASE: '/base', TOKEN: 'token-value', EMPTY: '' } })
    assert.deepEqual(findings(loaded), [
      '1:36 config-env-unset',
      '3:22 config-env-unset',
      '4:48 config-env-unset',
      '6:28 config-env-unset',
      '6:53 config-env-unset',
    ])
    const config = assertValid(loaded)
    assert.equal(config.model, undefined)
    assert.deepEqual(config.skills.load.extraDirs, ['/base/b', join(place.home, 'c')])
    assert.deepEqual(config.skills.sources, [{ type: 'local', path: join(place.nexusHome, '${x}') }])
    const entry = {
      enabled: false,
      hasApiKey: false,
      env: { B: 'Bearer token-value' },
      config: {},
      network: [],
      isMasked: false,
      broken: ['apiKey', 'env.A'].map((at) => ({
        at,
        problem: 'refers to NOPE, which is not set',
        fix: 'Set NOPE, or remove the line.',
      })),
    }
    assert.deepEqual(plain(config.skills.entries.get('held')), entry)
    assert.equal(config.limits.maxIterations, 3)
    assert.deepEqual(loaded.secrets, ['token-value', 'Bearer token-value'])
  })

  it('reads a secret from a variable or a file, and says when it cannot', async () => {
    await using place = await makePlace({
      user: `skills:
  entries:
    a: {apiKey: {file: key.txt}}
    b: {apiKey: {env: KEY}}
    c: {apiKey: {file: missing.txt}}
`,
    })
    await chmod(await place.write('home/.nexus/key.txt', 'from-a-file\n'), 0o600)
    const loaded = await place.load({ variables: { KEY: 'from-a-variable' } })
    assert.deepEqual(findings(loaded), ['5:9 config-secret-unreadable'])
    const keys = [...loaded.config.skills.entries].map(([name, { apiKey }]) => [name, apiKey])
    assert.deepEqual(keys, [
      ['a', 'from-a-file'],
      ['b', 'from-a-variable'],
      ['c', undefined],
    ])
    assert.deepEqual(loaded.secrets, ['from-a-file', 'from-a-variable'])
  })

  it('takes budget and refresh from the environment when no file sets them', async () => {
    await using place = await makePlace()
    const variables = { SKILLS_PROMPT_CHAR_BUDGET: '500', SKILLS_REFRESH_ON_CALL: 'off', OPENAI_API_KEY: 'sk-from-env' }
    const loaded = await place.load({ variables })
    assert.equal(loaded.config.skills.prompt.budgetChars, 500)
    assert.equal(loaded.config.skills.refreshOnCall, false)
    assert.deepEqual(loaded.secrets, ['sk-from-env'])
    const odd = await place.load({ variables: { SKILLS_PROMPT_CHAR_BUDGET: 'lots', SKILLS_REFRESH_ON_CALL: 'Yes' } })
    assert.deepEqual(findings(odd), ['environment-wrong-value'])
    assert.equal(odd.config.skills.prompt.budgetChars, 12_000)
    assert.equal(odd.config.skills.refreshOnCall, true)
    await place.write('home/.nexus/nexus.yaml', 'skills: {prompt: {budgetChars: 9}, refreshOnCall: true}')
    const filed = await place.load({ variables })
    assert.deepEqual([filed.config.skills.prompt.budgetChars, filed.config.skills.refreshOnCall], [9, true])
  })

  it('throws when the file that was named is not there, and reads it only once when it is the user file', async () => {
    await using place = await makePlace({ user: 'skills: {disabled_skills: [a]}' })
    await assert.rejects(place.load({ configPath: 'missing.yaml' }), {
      code: 'CONFIG_INVALID',
      message: /missing\.yaml/,
    })
    await assert.rejects(place.load({ variables: { NEXUS_CONFIG: '~/none.yaml' } }), { code: 'CONFIG_INVALID' })
    const loaded = await place.load({ variables: { NEXUS_CONFIG: '~/.nexus/nexus.yaml' } })
    assert.deepEqual(loaded.files, [join(place.nexusHome, 'nexus.yaml')])
  })

  it('is moved by NEXUS_HOME and NEXUS_STATE_DIR', async () => {
    await using place = await makePlace()
    await place.write('elsewhere/nexus.yaml', 'limits: {maxIterations: 2}')
    const loaded = await place.load({
      variables: { NEXUS_HOME: join(place.root, 'elsewhere'), NEXUS_STATE_DIR: '~/state' },
    })
    assert.equal(loaded.config.limits.maxIterations, 2)
    assert.equal(loaded.stateDirectory, join(place.home, 'state'))
    assert.equal((await place.load()).stateDirectory, join(place.nexusHome, 'state'))
  })

  it('gives a config that cannot be changed', async () => {
    await using place = await makePlace({
      user: 'skills: {entries: {x: {env: {A: b}}}}\ntools: {groups: {"group:x": [a]}}',
    })
    const { config } = await place.load()
    assert.throws(() => Object.assign(config.skills.load, { watch: true }), TypeError)
    assert.throws(() => Object.assign(config.skills.entries.get('x') ?? {}, { enabled: false }), TypeError)
    assert.throws(() => (config.skills.entries as Map<string, unknown>).delete('x'), TypeError)
    assert.throws(() => (config.tools.groups as Map<string, unknown>).set('group:y', []), TypeError)
    assert.throws(() => Object.assign(config.values, { a: 1 }), TypeError)
  })
})

describe('readEnvironment', () => {
  it('copies the variables once, and takes empty ones as unset', () => {
    const variables: Record<string, string> = {
      HOME: '/home/me',
      NEXUS_MODEL: 'openai/x',
      OPENAI_API_KEY: '',
      OTHER: 'o',
    }
    const environment = readEnvironment(variables)
    variables['OTHER'] = 'changed'
    assert.equal(environment.get('OTHER'), 'o')
    assert.equal(environment.get('toString'), undefined)
    assert.equal(environment.model, 'openai/x')
    assert.equal('openaiApiKey' in environment, false)
    assert.equal(environment.nexusHome, '/home/me/.nexus')
    assert.equal(Object.isFrozen(environment), true)
  })

  it('keeps the directory of the process out of the paths', async () => {
    await using place = await makePlace()
    await mkdir(join(place.root, 'n'))
    assert.equal(readEnvironment({ HOME: place.home, NEXUS_HOME: '~/n' }).nexusHome, join(place.home, 'n'))
  })
})
