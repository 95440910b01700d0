import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { assertValid } from '../../src/config/index.ts'
import { everyRule } from './rules.ts'
import { findings, makePlace } from './place.ts'

/** A file that uses every section, and what must be said about each part that this version does not act on. */
const EVERYTHING = `model: openai/m
skills:
  mode: remote
  builtin: [web_search, file_ops, shell]
  custom: [./tools/mine.mjs, some-package]
  skill_dirs: [./skills, /shared/team-skills]
  disabled_skills: []
  sources: [{type: git, url: "https://x/y.git"}, {type: registry, url: "https://x"}]
agents:
  - id: main
    preset: mine
    permissions:
      disableTools: [exec]
      enableTools: [read_file]
      allowedPaths: [./src]
      addBlockedPaths: [~/.ssh]
      toolOverrides: {run_command: {enabled: true, allowedPaths: null, timeoutMs: 0, requiresConfirmation: true}}
    budget: {maxTokens: 1000, maxTurns: 5, maxTimeMs: 60000, maxChildren: 2}
    context: {maxTokens: 8000, reserveTokens: 2000, truncation: middle_out}
  - {id: child, extends: main, preset: worker}
permissions:
  defaultPreset: sandboxed
  destructiveTools: [edit_file]
  presets:
    mine: {extends: trusted, allowedPaths: null, blockedPaths: [secrets], network: false, disableTools: [x],
           tools: {write_file: {enabled: false}}, defaultToolTimeoutMs: 30000}
    narrower: {extends: mine, allowedPaths: []}
execution:
  sandbox: e2b
  limits: {processes: 100}
  network: {allowedDomains: [example.com], deniedDomains: [no.example.com]}
  filesystem: {denyRead: [~/.ssh], allowWrite: [out], denyWrite: [.git]}
  files: {maxInputBytes: 1, maxOutputBytes: 1, maxTotalBytes: 1}
  e2b: {apiKey: "\${E2B}", apiUrl: "http://127.0.0.1:1", domain: d, template: t, reuse: none,
        idleTtlMs: 1800000, hardTtlMs: 21600000, lockTimeoutMs: 600000}
  reaper: {enabled: true, intervalMs: 60000, pageSize: 200, maxPages: 10, maxScanMs: 5000, sandboxBatch: 50}
search: {provider: brave, apiKey: "\${BRAVE}", maxResults: 3}
secrets: {providers: {vault: {source: exec, command: /bin/true}}}
server: {port: 8765, host: 127.0.0.1, idleTimeoutMs: 0, requestTimeoutMs: 30000, maxBodyBytes: 1048576,
         maxConnections: 32, allowedHosts: [h], allowedOrigins: ["https://o"], console: false}
store: {type: postgres, synchronous: normal, url: "postgres://u:\${PG}@h/d", pool: {maxConnections: 5, statementTimeoutMs: 0},
        blobs: {type: s3, bucket: b, region: r, endpoint: "https://s3", accessKeyId: a, secretAccessKey: very-secret}}
nats: {servers: ["nats://h"], token: token-of-nats, protocolVersion: v1r4, maxInFlight: 1, ackWaitMs: 30000}
mcp:
  servers:
    github: {command: npx, args: [-y, x], env: {TOKEN: "\${GH}"}, cwd: ./here, timeoutMs: 1000}
    remote: {url: "https://mcp.example.com", headers: {Authorization: "Bearer \${GH}"}, enabled: false}
`
const VARIABLES = { E2B: 'e2b-secret', BRAVE: 'brave-secret', PG: 'pg-secret', GH: 'gh-secret' }

describe('every section of the documents', () => {
  it('is accepted, and each part that is not used is named once', async () => {
    await using place = await makePlace({ user: EVERYTHING })
    const loaded = await place.load({ variables: VARIABLES })
    assertValid(loaded)
    assert.deepEqual(new Set(loaded.diagnostics.map(({ code }) => code)), new Set(['config-not-used']))
    assert.equal(loaded.diagnostics.length, everyRule().filter(({ rules }) => rules.unused).length)
    for (const { message, line } of loaded.diagnostics) {
      assert.match(message, /^[\w.[\]]+ has no effect yet\. This version does not /)
      assert.ok((line ?? 0) > 0)
    }
  })

  it('hands over every secret for blanking, wherever it stands', async () => {
    await using place = await makePlace({ user: EVERYTHING })
    const { secrets } = await place.load({ variables: VARIABLES })
    for (const secret of [...Object.values(VARIABLES), 'very-secret', 'token-of-nats', 'postgres://u:pg-secret@h/d'])
      assert.ok(secrets.includes(secret), secret)
  })

  it('has its paths made absolute from the directory of the file', async () => {
    await using place = await makePlace({ user: EVERYTHING })
    const { config } = await place.load({ variables: VARIABLES })
    const text = JSON.stringify(config.values)
    for (const path of ['tools/mine.mjs', 'skills', 'src', 'secrets', 'out', '.git', 'here'])
      assert.ok(text.includes(JSON.stringify(join(place.nexusHome, path))), path)
    assert.ok(text.includes(JSON.stringify(join(place.home, '.ssh'))))
    assert.ok(text.includes('"some-package"'))
  })

  it('runs commands in the local sandbox when another machine was asked for, and says so', async () => {
    for (const user of ['skills: {mode: remote}', 'execution: {sandbox: e2b}']) {
      await using place = await makePlace({ user })
      const loaded = await place.load()
      assert.equal(loaded.config.execution.sandbox, 'local')
      assert.match(loaded.diagnostics[0]?.message ?? '', /they run in the local sandbox of this machine/)
      assert.equal(loaded.diagnostics[0]?.line, 1)
    }
  })
})

describe('an agent that extends another', () => {
  it('starts from its settings; its own lists of denials are added, its own skills replace', async () => {
    await using place = await makePlace({
      user: `agents:
  - {id: base, skills: [a, b], instructions: be brief, tools: {profile: coding, deny: [x], allow: [y]}}
  - {id: middle, extends: base, tools: {deny: [z]}}
  - {id: leaf, extends: middle, skills: [b], tools: {profile: minimal}}`,
    })
    const { agents } = assertValid(await place.load())
    assert.deepEqual(agents[1]?.skills, ['a', 'b'])
    assert.deepEqual(JSON.parse(JSON.stringify(agents[2])), {
      id: 'leaf',
      skills: ['b'],
      instructions: 'be brief',
      tools: { profile: 'minimal', allow: ['y'], ask: [], deny: ['x', 'z'] },
    })
  })

  it('does not inherit the shadow, so that the shadow itself may extend it', async () => {
    await using place = await makePlace({
      user: 'agents: [{id: main, shadow: strict}, {id: strict, extends: main, preset: worker}]',
    })
    const { agents } = assertValid(await place.load())
    assert.deepEqual(
      agents.map(({ shadow }) => shadow),
      ['strict', undefined],
    )
  })

  it('has no shadow that an untrusted workspace names', async () => {
    await using place = await makePlace({
      user: 'agents: [{id: main, shadow: strict}, {id: strict}, {id: open}]',
      local: 'agents: [{id: main, shadow: open}]',
    })
    const loaded = await place.load()
    assert.deepEqual(findings(loaded), ['1:21 config-untrusted'])
    assert.equal(loaded.config.agents[0]?.shadow, 'strict')
  })

  it('is not widened by an untrusted workspace beyond what it inherited', async () => {
    await using place = await makePlace({
      user: 'agents: [{id: base, skills: [a], tools: {profile: minimal}}, {id: leaf, extends: base}]',
      local: 'agents: [{id: leaf, skills: [a, b], tools: {profile: coding}}]',
    })
    const loaded = await place.load()
    assert.deepEqual(findings(loaded), ['1:21 config-untrusted', '1:45 config-untrusted'])
    const leaf = loaded.config.agents[1]
    assert.deepEqual([leaf?.skills, leaf?.tools.profile], [['a'], 'minimal'])
  })
})

describe('names that stand for something elsewhere', () => {
  const CASES: readonly (readonly [user: string, found: string, words: RegExp])[] = [
    ['agents: [{id: a, extends: b}, {id: ab}]', '1:18 config-unknown-name', /defines no agent "b"/],
    ['agents: [{id: a, preset: sandbxed}]', '1:18 config-unknown-name', /Did you mean "sandboxed"\?/],
    ['permissions: {defaultPreset: mine}', '1:15 config-unknown-name', /Use one of: yolo, trusted, sandboxed, worker/],
    ['permissions: {presets: {a: {extends: nothing}}}', '1:29 config-unknown-name', /no preset "nothing"/],
    ['permissions: {presets: {yolo: {}}}', '1:25 config-bad-key', /built in and cannot be redefined/],
    ['permissions: {presets: {a: {extends: a}}}', '1:29 config-cycle', /leads back to itself/],
    ['agents: [{id: a, extends: a}]', '1:18 config-cycle', /leads back to itself/],
    ['agents: [{id: main, shadow: strct}, {id: strict}]', '1:21 config-unknown-name', /Did you mean "strict"\?/],
    ['agents: [{id: main, shadow: strict}]', '1:21 config-unknown-name', /defines no agent "strict"/],
  ]
  for (const [user, found, words] of CASES) {
    it(`must exist and end somewhere: ${user}`, async () => {
      await using place = await makePlace({ user })
      const loaded = await place.load()
      const errors = loaded.diagnostics.filter(({ severity }) => severity === 'error')
      assert.deepEqual(findings({ ...loaded, diagnostics: errors }), [found])
      assert.match(`${errors[0]?.message} ${errors[0]?.fix}`, words)
      assert.throws(() => assertValid(loaded), { code: 'CONFIG_INVALID' })
    })
  }

  it('may be defined in another file', async () => {
    await using place = await makePlace({
      user: 'permissions: {presets: {mine: {}}}',
      local: 'agents: [{id: a, preset: mine}]',
    })
    assertValid(await place.load({ trusted: true }))
  })

  it('are known for built-in skills, and a wrong one is a warning as in design 002', async () => {
    await using place = await makePlace({ user: 'skills: {builtin: [web_serch]}' })
    const { diagnostics } = await place.load()
    const found = diagnostics.find(({ code }) => code === 'config-unknown-builtin')
    assert.equal(found?.severity, 'warning')
    assert.equal(found.message, 'Unknown built-in skill: web_serch. Available: [web_search, file_ops, shell]')
  })
})

describe('a duration', () => {
  it('is what Go reads as one, or has days', async () => {
    const source = (refresh: string): string =>
      `skills: {sources: [{type: git, url: "https://h", refresh: ${refresh}}]}`
    for (const good of ['24h', '1h30m', '1.5h', '.5m', '2d12h', '100ms', '3\u00b5s', '"0"']) {
      await using place = await makePlace({ user: source(good) })
      assert.deepEqual(
        (await place.load()).diagnostics.filter(({ severity }) => severity === 'error'),
        [],
        good,
      )
    }
    for (const bad of ['24', '1h30', 'h', '-1h', '1w', '1h 30m', '""', '1.2.3h']) {
      await using place = await makePlace({ user: source(bad) })
      const found = (await place.load()).diagnostics.find(({ severity }) => severity === 'error')
      assert.match(
        found?.message ?? '',
        /refresh is not applied\. It must be (?:a duration such as 24h or 1h30m|a string)/,
        bad,
      )
    }
  })
})
