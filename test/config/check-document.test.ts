import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { assertValid } from '../../src/config/index.ts'
import { CONFIG_SCHEMA } from '../../src/config/schema/schema.ts'
import { checkDocument } from '../../src/config/document/check-document.ts'
import { parseSettings } from '../../src/config/document/parse.ts'
import { withoutGaps } from '../../src/config/document/path.ts'
import { resolveReferences } from '../../src/config/layers/references.ts'
import { readEnvironment } from '../../src/config/index.ts'
import type { JsonObject } from '../../src/kernel/index.ts'
import { findings, makePlace } from './place.ts'

/** Text, the findings in order, and words of the first message or fix. */
const BAD: readonly (readonly [text: string, found: readonly string[], words: RegExp])[] = [
  ['a: [1', ['1:4 config-syntax'], /A bracket is not closed\. Write the missing \]/],
  ['limits: {a: 1\nb: 2', ['1:9 config-syntax'], /bracket is not closed/],
  ['model: "openai/x\nlimits: {}', ['1:8 config-syntax'], /A closing quote is missing/],
  ['model: "openai/x\nlimits:\n  a: "b"', ['1:8 config-syntax'], /closing quote/],
  ["a:\n  b: 'c\n  d: 'e'", ['2:6 config-syntax'], /closing quote/],
  ['model:openai/x', ['1:1 config-wrong-type'], /Write each setting as "key: value"/],
  ['limits:\n  maxIterations:3\n  x: 3', ['2:3 config-syntax'], /with a space after the colon/],
  ['limits:\n  maxIterations:3', ['1:1 config-wrong-type'], /It must be a map; it is a string/],
  ['token:top-secret\nlimits: {}', ['1:1 config-syntax'], /^(?!.*top-secret).*with a space after the colon/],
  ['a: b: c', ['1:4 config-syntax'], /put quotes around all of it/],
  ['limits:\n\ta: 1', ['2:1 config-syntax'], /a tab\. Indent with spaces/],
  ['limits:\n  a: 1\n b: 2', ['3:1 config-syntax'], /does not have the indentation .* the same number of spaces/],
  ['agents:\n  - id: a\n   tools: {}', ['3:1 config-syntax'], /does not have the indentation/],
  [
    'agents:\n  - id: a\n     tools: {}',
    ['2:9 config-syntax'],
    /goes on in the next line, .* the same number of spaces/,
  ],
  ['agents:\n  - id: a\n   - id: b', ['3:4 config-syntax'], /does not have the indentation/],
  [
    'agents:\n  - id: a\n    instructions: |\n      a: b\n   tools: {}',
    ['5:1 config-syntax'],
    /does not have the indentation/,
  ],
  ['skills: {entries: {x: {apiKey: ${KEY}}}}', ['1:33 config-syntax'], /Put quotes around the value/],
  ['\tskills: {}', ['1:1 config-syntax'], /a tab/],
  ['- a\n- b', ['1:1 config-wrong-type'], /must be a map of settings; it is a list/],
  ['just words', ['1:1 config-wrong-type'], /it is a string/],
  ['limits: {}\nlimits: {}', ['2:1 config-duplicate-key'], /"limits" is here twice/],
  ['%YAML 1.1\n---\nlimits: {}', ['1:1 config-yaml-refused'], /directives/],
  ['limits: {}\n---\nlimits: {}', ['2:1 config-yaml-refused'], /second YAML document/],
  ['skills: &a {}', ['1:9 config-yaml-refused'], /anchors/],
  ['skills: &a {}\nlimits: *a', ['1:9 config-yaml-refused', '2:9 config-yaml-refused'], /anchors/],
  ['limits: !!map {}', ['1:9 config-yaml-refused'], /tags/],
  ['model: !js/function x', ['1:8 config-yaml-refused'], /tags/],
  ['limits:\n  <<: {}', ['2:3 config-yaml-refused'], /merge keys/],
  ['? [a]\n: b', ['1:3 config-bad-key'], /plain string/],
  ['tools:\n  __proto__: {polluted: true}', ['2:3 config-bad-key'], /plain string/],
  ['tools:\n  constructor: {}', ['2:3 config-bad-key'], /reserves its name/],
  ['limits: {maxIterations: .inf}', ['1:25 config-yaml-refused'], /number/],
  [`tools: {a: ${'['.repeat(40)}${']'.repeat(40)}}`, ['1:42 config-yaml-refused'], /nested more than 32 deep/],
  ['lmits: {}', ['1:1 config-unknown-key'], /Did you mean "limits"\?/],
  ['skill_dirs: [./team]', ['1:1 config-unknown-key'], /Did you mean skills\.skill_dirs\?/],
  [
    'execution: {workspace: {mode: direct}}',
    ['1:25 config-unknown-key'],
    /workspace\.mode was removed .*Delete "mode" on this line/,
  ],
  ['execution:\n  mode: local', ['2:3 config-unknown-key'], /execution\.sandbox says where .*Delete "mode"/],
  ['temprature: 1', ['1:1 config-unknown-key'], /^(?!.*Did you mean).*Use one of: model/],
  [
    'model: {provider: openai, name: m, temprature: 1}',
    ['1:36 config-unknown-key'],
    /^(?!.*Did you mean).*Use one of: provider/,
  ],
  ['extraDirs: [./team]', ['1:1 config-unknown-key'], /Did you mean skills\.load\.extraDirs\?/],
  [
    'limits:\n  a: 1\n  b: 2\n  toString: 3',
    ['2:3 config-unknown-key', '3:3 config-unknown-key', '4:3 config-unknown-key'],
    /Use one of: maxIterations/,
  ],
  ['skills: []', ['1:1 config-wrong-type'], /skills is not applied\. It must be a map; it is a list/],
  ['skills:\n  disabled_skills: github', ['2:3 config-wrong-type'], /must be a list; it is a string/],
  ['skills:\n  disabled_skills:', ['2:3 config-wrong-type'], /must be a list; it is empty/],
  [
    'skills:\n  disabled_skills: [a, 5]',
    ['2:24 config-wrong-type'],
    /disabled_skills\[1\] is not applied\. It must be a string; it is the number 5/,
  ],
  ['limits:\n  maxIterations: many', ['2:3 config-wrong-type'], /must be a number; it is a string/],
  ['limits:\n  maxIterations: 0', ['2:3 config-wrong-value'], /must be a number of at least 1/],
  ['limits:\n  toolTimeoutMs: 1.5', ['2:3 config-wrong-value'], /must be a whole number/],
  ['execution:\n  sandbox: docker', ['2:3 config-wrong-value'], /one of local, e2b, none; it is "docker"/],
  ['agents:\n  - id: main\n    tools: {profile: codng}', ['3:13 config-wrong-value'], /Did you mean "coding"\?/],
  ['agents:\n  - tools: {}', ['2:5 config-missing-key'], /agents\[0\]\.id is missing/],
  ['agents:\n  - id: a b', ['2:5 config-wrong-value'], /1 to 64 letters.*"a b"/],
  ['agents:\n  - id: a\n  - id: a', ['3:5 config-duplicate-agent'], /the agent "a" twice/],
  [
    'agents: [{id: main, tools: {deny: ["${X}"]}}]',
    ['1:36 config-env-not-here'],
    /replaces no variables in this setting/,
  ],
  ['tools:\n  groups: {fs: [a]}', ['2:12 config-bad-key'], /begins with "group:"/],
  ['tools:\n  deny: [run_command]', ['2:3 config-misplaced-policy'], /has no effect here.*agents\[\]\.tools\.deny/],
  ['tools: {allow: [a], ask: b}', ['1:9', '1:21'].map((at) => `${at} config-misplaced-policy`), /\.tools\.allow/],
  ['tools: {Profile: minimal}', ['1:9 config-misplaced-policy'], /agents\[\]\.tools\.profile/],
  ['tools: {deny: {run_command: true}}', ['1:9 config-misplaced-policy'], /agents\[\]\.tools\.deny/],
  ['deny: [run_command]', ['1:1 config-unknown-key'], /Did you mean agents\[\]\.tools\.deny\?/],
  ['agents: [{id: a, deny: [x]}]', ['1:18 config-unknown-key'], /Did you mean agents\[\]\.tools\.deny\?/],
  ['model: gpt', ['1:1 config-wrong-value'], /provider\/name/],
  ['model: {provider: opnai, name: x}', ['1:9 config-wrong-value'], /Did you mean "openai"\?/],
  ['model: {provider: openai, name: x, baseUrl: "ftp://x"}', ['1:36 config-wrong-value'], /http or https/],
  ['skills: {sources: [{path: a}]}', ['1:20 config-missing-key'], /such as: type: local/],
  ['skills: {sources: [{type: gti, url: a}]}', ['1:21 config-wrong-value'], /Did you mean "git"\?/],
  ['skills: {entries: {x: {env: {A-B: c}}}}', ['1:30 config-bad-key'], /letters, digits and underscores/],
  ['skills: {entries: {x: {apiKey: "${a-b}"}}}', ['1:24 config-env-syntax'], /without a variable name/],
  ['skills: {entries: {x: {apiKey: {env: A, file: b}}}}', ['1:24 config-wrong-value'], /exactly one of/],
]

describe('a bad nexus.yaml', () => {
  for (const [text, expected, words] of BAD) {
    it(`names the place and the fix: ${JSON.stringify(text.slice(0, 60))}`, async () => {
      await using place = await makePlace({ user: text })
      const loaded = await place.load()
      assert.deepEqual(findings(loaded), expected)
      const [first] = loaded.diagnostics
      assert.equal(first?.severity, 'error')
      assert.match(`${first.message} ${first.fix ?? ''}`, words)
      assert.throws(() => assertValid(loaded), { code: 'CONFIG_INVALID' })
    })
  }

  it('has a line and a fix, whatever it is', async () => {
    for (const [text] of BAD) {
      await using place = await makePlace({ user: text })
      for (const { code, line, fix } of (await place.load()).diagnostics)
        assert.ok(line !== undefined && fix !== undefined && fix !== '', `${text}: ${code}`)
    }
  })

  it('names the setting as data: the subject of a finding is its path in the file', async () => {
    const user = 'lmits: {}\nagents: [{id: "a b"}, {id: c, tools: {dny: [x]}}]\nskills: {sources: [{type: gti}]}'
    await using place = await makePlace({ user })
    const subjects = (await place.load()).diagnostics.map(({ subject }) => subject)
    assert.deepEqual(subjects, ['lmits', 'agents[0].id', 'agents[1].tools.dny', 'skills.sources[0].type'])
  })

  it('is refused when it is too large, not UTF-8, or no file', async () => {
    for (const [content, code] of [
      ['#'.repeat(256 * 1024 + 1), 'config-too-large'],
      [Uint8Array.of(0xff, 0xfe, 0x61), 'config-encoding'],
    ] as const) {
      await using place = await makePlace()
      await place.write('home/.nexus/nexus.yaml', content)
      assert.deepEqual(findings(await place.load()), [code])
    }
    await using place = await makePlace()
    await place.write('home/.nexus/nexus.yaml/inside', '')
    assert.deepEqual(findings(await place.load()), ['config-unreadable'])
  })

  it('counts the findings that are too many to show', async () => {
    await using place = await makePlace({ user: Array.from({ length: 2000 }, (_, index) => `k${index}: 1`).join('\n') })
    const { diagnostics } = await place.load()
    assert.equal(diagnostics.length, 51)
    assert.match(diagnostics.at(-1)?.message ?? '', /1950 more findings/)
  })

  it('keeps what is right beside what is wrong', async () => {
    const user =
      'limits: {maxIterations: 7, toolTimeoutMs: x}\nagents:\n  - {id: 5}\n  - {id: a, tools: {deny: [1, b]}}\n'
    await using place = await makePlace({ user })
    const { config } = await place.load()
    assert.equal(config.limits.maxIterations, 7)
    assert.equal(config.limits.toolTimeoutMs, 30_000)
    assert.deepEqual(
      config.agents.map(({ id, tools }) => [id, tools.deny]),
      [['a', ['b']]],
    )
  })

  it('never shows a secret in a diagnostic', async () => {
    const secret = 'sk-very-secret'
    for (const user of [
      `skills: {entries: {x: {apiKey: [${secret}]}}}`,
      `skills: {entries: {x: {apiKey: ${secret}, env: {A: [${secret}]}}}}`,
      `model: {provider: openai, name: x, apiKey: ${secret}, baseUrl: "${secret}"}`,
      `skills: {entries: {x: {apiKey: "${secret}" "${secret}"}}}`,
      `skills: {entries: {x: {apiKey: "${secret}}}}`,
      `skills: {sources: [{type: registry, url: "https://x", auth: {${secret}: 1}}]}`.replace(secret, 'env'),
    ]) {
      await using place = await makePlace({ user })
      assert.doesNotMatch(JSON.stringify((await place.load()).diagnostics), new RegExp(secret))
    }
  })
})

/** Everything that is done with the text of a file. */
async function process(text: string): Promise<void> {
  const path = 'nexus.yaml'
  const { document } = checkDocument({ path, ...(await parseSettings(text, path)) })
  resolveReferences(document, { path, directory: '/', environment: readEnvironment({ HOME: '/home/me' }) })
}

describe('any text', () => {
  const word = fc.constantFrom(
    ...[
      'skills',
      'agents',
      'tools',
      'model',
      'limits',
      'entries',
      'groups',
      'id',
      'deny',
      'sources',
      'type',
      'local',
      'apiKey',
      'env',
    ],
    ...[
      'a',
      '${X}',
      '$${',
      '${',
      'null',
      '5',
      '__proto__',
      'constructor',
      '&a',
      '*a',
      '!!str',
      '<<',
      '---',
      '%YAML',
      '"',
      "'",
      '\ud800',
    ],
  )
  const glue = fc.constantFrom(
    ': ',
    ':',
    '\n',
    '\n  ',
    '\n    ',
    '- ',
    '[',
    ']',
    '{',
    '}',
    ', ',
    '#',
    '|\n',
    '? ',
    '\t',
    '\r\n',
    '\u0000',
  )
  const yamlLike = fc.array(fc.oneof(word, glue), { maxLength: 40 }).map((parts) => parts.join(''))
  const settings = fc.object({
    key: word,
    maxDepth: 5,
    values: [fc.string(), fc.integer(), fc.constant(null), fc.boolean(), fc.double()],
  })

  it('is read without an exception', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          yamlLike,
          fc.string({ unit: 'binary' }),
          settings.map((value) => JSON.stringify(value)),
        ),
        process,
      ),
      { numRuns: 1500 },
    )
  })

  it('leaves only what fits the schema', async () => {
    const { safeParse } = await import('valibot')
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          yamlLike,
          settings.map((value) => JSON.stringify(value)),
        ),
        async (text) => {
          const path = 'nexus.yaml'
          const { document } = checkDocument({ path, ...(await parseSettings(text, path)) })
          const value = withoutGaps(document as JsonObject) as JsonObject
          assert.equal(safeParse(CONFIG_SCHEMA, value).success, true)
          assert.deepEqual(checkDocument({ path, value }).findings, [])
        },
      ),
      { numRuns: 1000 },
    )
  })
})
