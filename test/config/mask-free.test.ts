import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { explainConfig, maskConfig, sourceOf } from '../../src/config/index.ts'
import type { JsonValue } from '../../src/kernel/index.ts'
import { maskFree } from '../../src/config/secrets/mask.ts'
import { makePlace } from './place.ts'

const NAMES = [
  ...['token', 'apiKey', 'api_key', 'X-Api-Key', 'Authorization', 'password', 'client_secret', 'creds', 'credentials'],
  ...['oauth', 'oauth2', 'pat', 'passphrase', 'bearer', 'cookie', 'session', 'dbPassword', 'PGPASSWORD', 'DB_PASS'],
]
const secret = fc.string({ unit: fc.constantFrom(...'abz019'), maxLength: 8 }).map((text) => `Q${text}QZ`)
const name = fc.constantFrom(...NAMES)

/** Every way to write down a secret that people use. */
const FORMS: readonly ((name: string, value: string) => JsonValue)[] = [
  (key, value) => ({ [key]: value }),
  (key, value) => ({ [key]: { deep: [value] } }),
  (key, value) => `${key}=${value}`,
  (key, value) => `${key} = ${value}`,
  (key, value) => `${key}: ${value}`,
  (key, value) => `${key} ${value} and ${value}`,
  (key, value) => `mysql --${key}=${value}`,
  (key, value) => `mysql --${key} '${value} ${value}'`,
  (key, value) => `some lines\n  ${key}:\n    ${value}\nmore`,
  (key, value) => `curl -H "${key}: ${value}"`,
  (key, value) => `{"${key}": "${value}"}`,
  (key, value) => [`--${key}=${value}`],
  (key, value) => [`--${key}`, value],
  (key, value) => [key, value],
  (key, value) => ['run', '-k', value, `${key}: ${value}`],
  (key, value) => ({ name: key, value }),
  (key, value) => ({ value, key }),
  (key, value) => ({ value, header: `${key}: Bearer` }),
  (key, value) => ({ name: `the ${key} of it`, value }),
  (key, value) => [{ header: key, content: { text: value } }],
  (key, value) => ({ [`${key}: ${value}`]: true }),
  (_, value) => `-u user:${value}`,
  (_, value) => `curl -u${value}`,
  (_, value) => ['-u', `user:${value}`],
  (_, value) => `user:${value}`,
  (_, value) => `https://host/a?b=${value}#${value}`,
  (_, value) => `https://host/a#${value}`,
  (_, value) => `https://me:${value}@host/`,
  (_, value) => `ghp_0123456789${value}`,
  (_, value) => ({ [`ghp_0123456789${value}`]: 'x' }),
  (_, value) => `[secret] ${value}`,
]

describe('a secret in settings that may be anything', () => {
  it('is not shown, in whatever form and at whatever place it stands', async () => {
    const form = fc.constantFrom(...FORMS)
    const around = fc.array(fc.constantFrom('list', 'object', 'pair'), { maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(form, name, secret, around), { minLength: 1, maxLength: 6 }),
        async (cases) => {
          const values = cases.map(([make, key, value, outer]) =>
            outer.reduce<JsonValue>((inner, kind) => wrap(inner, kind), make(key, value)),
          )
          const file = { tools: { t: { values } }, skills: { entries: { s: { config: { values } } } } }
          await using place = await makePlace({ user: JSON.stringify(file, undefined, 1) })
          const loaded = await place.load()
          const { document } = await explainConfig(loaded)
          const { lines = [] } = (await sourceOf(loaded, `${place.nexusHome}/nexus.yaml`)) ?? {}
          const shown = [document, maskConfig(loaded.config), loaded.diagnostics, lines].map((part) =>
            JSON.stringify(part),
          )
          for (const text of shown)
            for (const [, , value] of cases) assert.ok(!text.includes(value), `${value} in ${text}`)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('does not hide what is plainly none', () => {
    for (const text of [
      'shown',
      '/usr/bin/git',
      'http://localhost:8080/a',
      'two words',
      'api.example.org:443',
      '1.2.3',
    ])
      assert.equal(maskFree(text), text)
    assert.equal(maskFree('mysql --password=x -h y'), 'mysql --password=[secret]')
    assert.equal(maskFree('X-Api-Key: x'), 'X-Api-Key: [secret]')
  })

  it('is not in findings or lines of the file when it has the form of a key of a service, wherever it stands', async () => {
    const key = 'ghp_abcdefabcdefabcdef12'
    await using place = await makePlace({
      user: `tools:
  groups: {${key}: [${key}]}
  x: {${key}: "\${NOPE}", ${key}: 1}
agents: [{id: main, skills: [a/${key}], tools: {deny: [${key}]}}]
`,
    })
    const loaded = await place.load()
    const { lines = [] } = (await sourceOf(loaded, `${place.nexusHome}/nexus.yaml`)) ?? {}
    assert.match(JSON.stringify(loaded.diagnostics), /twice/)
    assert.doesNotMatch(JSON.stringify([loaded.diagnostics, lines]), /ghp_/)
  })

  it('does not hide its neighbours in an object when it stands with its name', async () => {
    const x = { cmd: 'mysql --password=hunter2', level: 'info', tries: 3, base: 'http://localhost:8080/v1' }
    await using place = await makePlace({ user: JSON.stringify({ tools: { x } }) })
    const { document } = await explainConfig(await place.load())
    assert.deepEqual(document['tools'], { x: { ...x, cmd: 'mysql --password=[secret]' } })
  })

  it('that is a key is told apart from others, and its line is known', async () => {
    const [a, b] = ['ghp_aaaaaaaaaaaaaaaa', 'ghp_bbbbbbbbbbbbbbbb']
    await using place = await makePlace({ user: `tools:\n  t:\n    ${a}: 1\n    ${b}: 2\n` })
    const { document, originOf } = await explainConfig(await place.load())
    assert.deepEqual(document['tools'], { t: { '[secret]': 1, '[secret] 2': 2 } })
    assert.equal(originOf(['tools', 't', '[secret] 2'])?.line, 4)
  })

  it('takes no longer for being long', () => {
    for (const text of ['a', 'a:', ':', '-', '-a', 'A', ' ', 'token', '1', '.', '"', 'a-'])
      assert.ok(maskFree(text.repeat(100_000)).length > 0)
  })
})

function wrap(inner: JsonValue, kind: 'list' | 'object' | 'pair'): JsonValue {
  if (kind === 'list') return ['first', inner]
  return kind === 'object' ? { plain: inner } : { name: 'x', value: inner }
}
