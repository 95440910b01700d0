import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { explainConfig, maskConfig } from '../../src/config/index.ts'
import { isSecretName, maskText } from '../../src/config/secrets/mask.ts'
import { makePlace } from './place.ts'

const FILE = `model: {provider: openai, name: m, baseUrl: "https://gw/v1?api-version=1&sig=SECRET"}
skills:
  entries:
    x: {config: {pass: SECRET, deep: {dbPassword: [SECRET]}, credentials: {user: SECRET, any: SECRET}, pin: 1234, plain: shown}}
  sources:
    - {type: registry, url: "https://r/x?token=SECRET&page=SECRET#frag"}
    - {type: git, url: "https://me:SECRET@host/x?SECRET"}
tools:
  github: {token: SECRET, apiKey: SECRET, maxTokens: 5, enabled: true, plain: shown}
  token: SECRET
  pass: {store: shown}
  db: {address: "postgres://u:SECRET/SECRET@h/d", line: "Server=h;Pwd=SECRET", header: Bearer SECRET}
search: {provider: searxng, url: "https://s/?k=SECRET"}
mcp: {servers: {a: {url: "https://h/?k=SECRET#access_token=SECRET"}, b: {command: npx, args: [--token, SECRET]}}}
nats: {servers: ["nats://me:SECRET@h:4222"]}
secrets: {providers: {v: {source: exec, command: /bin/vault, args: [--token=SECRET]}}}
`

describe('a secret that stands where nobody asked for one', () => {
  it('is not in the effective settings, and the rest is', async () => {
    await using place = await makePlace({ user: FILE })
    const { document } = await explainConfig(await place.load())
    const text = JSON.stringify(document)
    assert.doesNotMatch(text, /SECRET|1234/)
    const { tools, skills, model } = document as Record<string, Record<string, Record<string, unknown>>>
    assert.deepEqual(tools?.['github'], {
      ...{ token: '[secret]', apiKey: '[secret]', maxTokens: 5, enabled: true, plain: 'shown' },
    })
    assert.deepEqual(tools?.['pass'], { store: 'shown' })
    assert.deepEqual(model?.['baseUrl'], 'https://gw/v1?api-version=[secret]&sig=[secret]')
    assert.match(JSON.stringify(skills?.['entries']), /"plain":"shown"/)
    assert.match(text, /https:\/\/r\/x\?token=\[secret\]&page=\[secret\]#\[secret\]/)
  })

  it('is not in the configuration as data, where all that may be one is hidden', async () => {
    await using place = await makePlace({ user: FILE })
    const { config } = await place.load()
    const text = JSON.stringify(maskConfig(config))
    assert.doesNotMatch(text, /SECRET|1234|shown|https/)
    assert.match(text, /"enabled":true/)
    assert.match(text, /\[hidden\]/)
  })
})

describe('the name of a free setting', () => {
  it('tells that a secret is meant', () => {
    const secret =
      'token TOKEN apiKey api_key API-KEY accessToken authToken password dbPasswd pass pwd pin sessionCookie'
    for (const name of `${secret} privateKey client_secret credentials webhook key1 DSN sig githubTokens`.split(' '))
      assert.ok(isSecretName(name), name)
    for (const name of 'keyboard keywords author tokenizer monkey compass passive enabled host design'.split(' '))
      assert.ok(!isSecretName(name), name)
  })
})

describe('an address', () => {
  it('is shown without user, password and values, whatever they are', () => {
    const part = fc.string({ unit: fc.constantFrom(...'abcXYZ019-._~!*:;'), minLength: 1, maxLength: 12 })
    const marked = part.map((text) => `SE${text}CRET`)
    fc.assert(
      fc.property(fc.array(marked, { minLength: 2, maxLength: 6 }), part, ([user, password, ...values], name) => {
        const query = values.map((value, index) => `${index}=${encodeURIComponent(value)}`).join('&')
        const text = maskText(`https://${user}:${password}@host:8080/a/b?${query}&${encodeURIComponent(name)}=SECRET`)
        assert.doesNotMatch(text, /SE.*CRET/)
        assert.match(text, /@host:8080\/a\/b\?/)
      }),
    )
  })

  it('without any of them is shown as it is', () => {
    const plain = ['https://host:8080/a@b/c', 'git@github.com:a/b.git', 'nats://h:4222', '/a/b c=d']
    for (const text of plain) assert.equal(maskText(text), text)
  })

  it('takes no longer for being long', () => {
    for (const text of ['#', 'a', '?', '@', 'eyJ-', '//', '=', 'a:', '-----BEGIN '])
      assert.ok(maskText(`//${text.repeat(262_144 / text.length)}`).length > 0)
  })
})
