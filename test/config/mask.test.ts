import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { explainConfig, type LoadedConfig } from '../../src/config/index.ts'
import { FREE_MAPS, NAMED_MAPS } from '../../src/config/schema/no-file.ts'
import { holdsOf, ROOT, type Schema, unwrapped } from '../../src/config/schema/walk.ts'
import { readEntries } from '../../src/local/entries.ts'
import { readPolicies } from '../../src/local/policies.ts'
import { makePlace } from './place.ts'

/** All that `config show` and `config check` print of a configuration, in text and as JSON. */
async function printed(loaded: LoadedConfig): Promise<string> {
  const { document, originOf } = await explainConfig(loaded)
  const findings = [loaded.diagnostics, (await readPolicies(loaded)).diagnostics, await readEntries(loaded)]
  return JSON.stringify([document, findings, loaded.broken, originOf(['tools'])])
}

/** Every kind of place where somebody may put a secret, and what is no place for one at all. */
const PLACES: readonly ((secret: string) => string)[] = [
  (secret) => `model: {provider: openai, name: m, apiKey: ${secret}}`,
  (secret) => `model: {provider: openai, name: m, apiKey: {command: [sh, -c, "echo ${secret}"]}}`,
  (secret) => `model: {provider: openai, name: m, baseUrl: "https://me:${secret}@host/v1"}`,
  (secret) => `model: {provider: openai, name: m, baseUrl: "https://${secret}@host/v1?key=${secret}#${secret}"}`,
  (secret) => `model: {provider: openai, name: m, baseUrl: "https://me:12/${secret}@host/v1"}`,
  (secret) => `nats: {servers: ["nats://${secret.toLowerCase()}:12/${secret}@h:4222", "nats://${secret}:1?a@h"]}`,
  (secret) => `model: {provider: openai, name: m, baseUrl: "${secret}"}`,
  (secret) => `model: {provider: openai, name: m, apiKeyy: ${secret}}`,
  (secret) => `model: {provider: openai, name: m, apikey:${secret}}`,
  (secret) => `model: {provider: openai, name: m, apiKey ${secret}}`,
  (secret) => `search:\n  apiKey:${secret}`,
  (secret) => `search:\n  apiKey: |\n    ${secret}\n    ${secret}`,
  (secret) => `search:\n  apiKey:\n    "${secret}\n    ${secret}"`,
  (secret) => `search: {apiKey: "${secret}`,
  (secret) => `search: {apiKey: ${secret}`,
  (secret) => `search:\n  apiKey: x # ${secret}\n  # password: ${secret}, {a: ${secret}}`,
  (secret) => `search: {url: "https://s/${secret}"}`,
  (secret) => `search: {apiKey: &${secret} x}\nlimits: {a: 1}`,
  (secret) => `search: {apiKey: *${secret}}`,
  (secret) => `search: {apiKey: !${secret} x}`,
  (secret) => `search: [${secret}]`,
  (secret) => `serch: ${secret}`,
  (secret) => `password: ${secret}\ntoken: [${secret}, {a: ${secret}}]`,
  (secret) => `limits: {maxIterations: "${secret}"}\nskills: {load: "${secret}"}`,
  (secret) => `skills: {entries: {x: {apiKey: [${secret}], env: {A: ${secret}, B: [${secret}]}}}}`,
  (secret) => `skills: {entries: {x: {config: {list: [a, ${secret}], deep: {token: ${secret}}, plain: ${secret}}}}}`,
  (secret) => `skills: {entries: {x: {config: {"Authorization: Bearer ${secret}": true}}}}`,
  (secret) =>
    `skills: {sources: [{type: git, url: "https://me:${secret}@host/x"}, {type: registry, url: "https://h", auth: ${secret}}]}`,
  (secret) =>
    `tools: {github: {token: ${secret}, args: [--token, ${secret}], line: "mysql -p${secret}"}, ${secret.slice(0, 5)}: 1}`,
  (secret) => `tools: ${secret}`,
  (secret) => `agents: [{id: main, instructions: "use ${secret}"}, {idd: "${secret}"}]`,
  (secret) => `mcp: {servers: {a: {command: "npx --key ${secret}", args: [--key=${secret}], env: {T: ${secret}}}}}`,
  (secret) => `mcp: {servers: {a: {url: "https://h/?k=${secret}", headers: {Authorization: "Bearer ${secret}"}}}}`,
  (secret) => `store: {url: "postgres://u:${secret}@h/d", blobs: {accessKeyId: ${secret}, secretAccessKey: ${secret}}}`,
  (secret) => `nats: {servers: ["nats://u:${secret}@h:4222"], token: ${secret}, credentials: "${secret}"}`,
  (secret) => `secrets: {providers: {v: {source: exec, command: "/bin/v ${secret}", args: [${secret}]}}}`,
  (secret) => `execution: {e2b: {apiKey: ${secret}, apiUrl: "https://h/${secret}"}}`,
  (secret) => `- ${secret}`,
  (secret) => secret,
  (secret) => `a: [\n${secret}: ${secret}`,
]

describe('a secret in nexus.yaml', () => {
  const secret = fc.stringMatching(/^[a-z]{4,8}-[A-Z]{4,8}-[0-9]{4,8}$/)
  for (const place of PLACES) {
    it(`is printed nowhere: ${place('SECRET').replaceAll('\n', '⏎')}`, async () => {
      for (const value of ['hunter-TWO-0000', ...fc.sample(secret, 3)]) {
        await using at = await makePlace({ user: place(value) })
        const text = await printed(await at.load())
        assert.ok(!text.includes(value), text)
      }
    })
  }

  it('is printed nowhere in a workspace that is not trusted', async () => {
    for (const place of PLACES) {
      await using at = await makePlace({ local: place('hunter-TWO-0000') })
      assert.doesNotMatch(await printed(await at.load()), /hunter.TWO/)
    }
  })

  it('is printed nowhere when it comes from a variable, in whatever place', async () => {
    await using at = await makePlace({
      user: `search: {apiKey: "\${T}"}\nmodel: openai/token-value\ntools: {a: "\${T}"}`,
    })
    assert.doesNotMatch(await printed(await at.load({ variables: { T: 'token-value' } })), /token-value/)
  })

  it('is printed nowhere however broken the file is', async () => {
    const piece = fc.constantFrom(
      ...['apiKey', ': ', ':', '{', '}', '[', ']', ', ', '"', "'", '\n', '  ', '- ', '|', '#', '&', 'env', '\t'],
      'Hunter2-Zq9',
    )
    await using at = await makePlace()
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const text = `search:\n  apiKey: ${pieces.join('')}`
        await at.write('home/.nexus/nexus.yaml', text)
        const said = await printed(await at.load())
        // A name that is followed by a colon is a key, and keys are shown.
        const isKey = /Hunter2-Zq9[\w-]*["']?[ \n\t]*(?:#[^\n]*)?[ \n\t]*:|[{[,][^]*Hunter2/.test(text)
        assert.ok(isKey || !said.includes('Hunter2-Zq9'), text)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a secret that is a number or a truth value', () => {
  const PLACES_OF_TEXTS: readonly ((value: string) => string)[] = [
    (value) => `nats: {token: ${value}}`,
    (value) => `search: {apiKey: ${value}}`,
    (value) => `model: {provider: openai, name: m, apiKey: ${value}, baseUrl: ${value}}`,
    (value) => `model: {provider: openai, name: m, apiKey: {file: ${value}, command: [${value}]}}`,
    (value) => `skills: {entries: {x: {apiKey: ${value}, env: {A: [${value}]}}}}`,
    (value) =>
      `mcp: {servers: {a: {url: "https://h", command: ${value}, args: [${value}], headers: {X-Key: ${value}}}}}`,
    (value) => `store: {url: ${value}}`,
    (value) => `tools: ${value}`,
    (value) => value,
  ]
  for (const place of PLACES_OF_TEXTS) {
    it(`is printed nowhere: ${place('NUMBER').replaceAll('\n', '⏎')}`, async () => {
      for (const value of ['4455667788', '-4455667788.5']) {
        await using at = await makePlace({ user: place(value) })
        const text = await printed(await at.load())
        assert.ok(!text.includes('4455667788'), text)
      }
    })
  }

  it('is named by its type only', async () => {
    await using at = await makePlace({ user: 'nats: {token: 4455667788}\nsearch: {apiKey: true}' })
    assert.deepEqual(
      (await at.load()).diagnostics.map(({ message }) => message).filter((message) => message.includes('must be')),
      [
        'nats.token is not applied. It must be a string or a map; it is a number.',
        'search.apiKey is not applied. It must be a string or a map; it is true or false.',
      ],
    )
  })

  it('is shown where the schema marks it as public', async () => {
    await using at = await makePlace({ user: 'search: {maxResults: 99}\nskills: {load: {extraDirs: true}}' })
    const messages = (await at.load()).diagnostics.map(({ message }) => message).join('\n')
    assert.match(messages, /maxResults is not applied\. .* it is the number 99\./)
    assert.match(messages, /extraDirs is not applied\. It must be a list; it is true\./)
  })
})

describe('what is no secret', () => {
  it('is shown: every key, and the values that the schema marks as public', async () => {
    await using at = await makePlace({
      user: `model: {provider: openai-compatible, name: m, baseUrl: "http://127.0.0.1:8080"}
skills: {disabled_skills: [old], load: {extraDirs: [/team]}, entries: {gh: {enabled: true, config: {on: true, n: 5, t: x}}}}
agents: [{id: main, instructions: Be brief., tools: {profile: coding, deny: ["group:web", "run_command(rm *)"]}}]
tools: {groups: {"group:mine": [read_file]}, github: {enabled: true, name: x, "a: b": 1, "c: d": 2}}
search: {provider: searxng, url: "https://s.example/a?b=c"}
execution: {timeoutMs: 5}`,
    })
    const { document } = await explainConfig(await at.load())
    const { model, skills, agents, tools, search, execution } = document as Record<string, Record<string, unknown>>
    assert.deepEqual(model, { provider: 'openai-compatible', name: 'm', baseUrl: 'http://127.0.0.1:8080' })
    assert.deepEqual(skills?.['disabled_skills'], ['old'])
    assert.deepEqual((skills?.['load'] as Record<string, unknown>)['extraDirs'], ['/team'])
    assert.deepEqual(skills?.['entries'], {
      gh: { enabled: true, config: { on: true, n: '[hidden]', t: '[hidden]' } },
    })
    assert.deepEqual(agents, [
      { id: 'main', instructions: '[hidden]', tools: { profile: 'coding', deny: ['group:web', 'run_command(rm *)'] } },
    ])
    assert.deepEqual(tools, {
      groups: { 'group:mine': ['read_file'] },
      github: { enabled: true, name: '[hidden]', '[hidden]': '[hidden]', '[hidden] 2': '[hidden]' },
    })
    assert.equal(search?.['url'], 'https://s.example/[hidden]')
    assert.equal(execution?.['timeoutMs'], 5)
  })

  const ODD = ['c++', 'My Skill', "Anna's Skill", '日本 語', 'mcp:github.list', 'github@2', 'v1.2 (beta)']
  for (const key of ODD) {
    it(`is shown: the key ${key}, wherever a person chooses names`, async () => {
      const quoted = JSON.stringify(key)
      const files = `skills: {entries: {${quoted}: {enabled: "x", config: {${quoted}: {a: true}}}}}
permissions: {presets: {mine: {tools: {${quoted}: {enabled: "x"}}}}}
agents: [{id: main, permissions: {toolOverrides: {${quoted}: {enabled: true}}}}]
tools: {groups: {"group:${key.replaceAll(' ', '-').replaceAll("'", '')}": [read_file]}, ${quoted}: {${quoted}: [true]}}
mcp: {servers: {${quoted}: {url: "https://h"}}}`
      await using at = await makePlace({ user: files })
      const loaded = await at.load()
      const messages = loaded.diagnostics.map(({ message, subject }) => `${message} ${subject}`).join('\n')
      assert.ok(messages.includes(`skills.entries.${key}.enabled is not applied. It must be`), messages)
      assert.ok(messages.includes(`permissions.presets.mine.tools.${key}.enabled is not applied. It must be`), messages)
      assert.ok(messages.includes(`"${key}" is not applied. It is not a valid name in mcp.servers`), messages)
      const { document, keysAt } = await explainConfig(loaded)
      const shown = (path: string): unknown => keysAt(path)?.join('|')
      assert.equal(shown(`skills.entries.${key}.config.${key}.a`), `skills|entries|${key}|config|${key}|a`)
      assert.equal(shown(`tools.${key}.${key}`), `tools|${key}|${key}`)
      assert.ok(JSON.stringify(document).includes(`"toolOverrides":{${quoted}:`), JSON.stringify(document))
    })
  }

  it('is cut and made safe when it is long or holds hidden characters', async () => {
    const long = `a ${'b'.repeat(200)}`
    const user = `skills: {entries: {"${long}": {enabled: true}, "x\\e[31m y\\u202e": {enabled: true}, "x y": {}}}`
    await using at = await makePlace({ user })
    const { document, keysAt } = await explainConfig(await at.load())
    const { entries = {} } = document['skills'] as { entries?: Record<string, unknown> }
    assert.deepEqual(Object.keys(entries), [`a ${'b'.repeat(77)}…`, 'x y', 'x y 2'])
    assert.deepEqual(keysAt(`skills.entries.${long}`)?.at(-1), `a ${'b'.repeat(77)}…`)
  })

  it('is hidden where the schema knows the keys, and where a key is joined with a secret', async () => {
    for (const user of [
      'skills: {entries: {x: {"apiKey:hunter2 x": {}}}}',
      'skills: {entries: {"apiKey:hunter2": {}, "x.token = hunter2": {}}}',
      'skills: {entries: {x: {env: {"TOKEN=hunter2": }}}}',
      'mcp: {servers: {a: {url: "https://h", headers: {"Authorization: Bearer hunter2": }}}}',
      'tools: {a: {"b hunter2": 5}}',
    ]) {
      await using at = await makePlace({ user })
      assert.doesNotMatch(await printed(await at.load()), /hunter2/)
    }
  })

  it('has its name chosen by a person in just the maps that the schema has no keys for', () => {
    const holders = (schema: Schema, at: string): string[] => {
      const form = unwrapped(schema)
      const { entries = {}, item, value, options = [], type } = form
      const below = [
        ...Object.entries(entries).flatMap(([key, inner]) => holders(inner, at === '' ? key : `${at}.${key}`)),
        ...[item, value].flatMap((inner) => (inner ? holders(inner, `${at}.*`) : [])),
        ...options.flatMap((inner) => (typeof inner === 'object' ? holders(inner, at) : [])),
      ]
      const isOpen = (type === 'record' && holdsOf(value) !== 'secret') || type === 'object_with_rest'
      return isOpen ? [at, ...below] : below
    }
    const known = new Set([...NAMED_MAPS, ...FREE_MAPS, 'tools.run_command', 'tools.file_ops'])
    assert.deepEqual(new Set(holders(ROOT, '')), known)
  })

  it('keeps its line when its key is hidden', async () => {
    await using at = await makePlace({ user: 'tools:\n  t:\n    "a: b": 1\n    "c: d": 2\n' })
    const { originOf } = await explainConfig(await at.load())
    assert.equal(originOf(['tools', 't', '[hidden] 2'])?.line, 4)
  })
})
