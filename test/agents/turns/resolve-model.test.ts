import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ModelRequestOptions, resolveModel } from '../../../src/agents/turns/index.ts'
import { isNexusError } from '../../../src/kernel/index.ts'

const LOCAL = 'http://127.0.0.1:11434/v1'
const LOCAL_HOST = 'http://127.0.0.1:11434'

async function refusal(options: ModelRequestOptions) {
  const error = await resolveModel(options).then(
    (choice) => assert.fail(`resolved to ${choice?.describe}`),
    (thrown: unknown) => thrown,
  )
  assert.ok(isNexusError(error))
  assert.ok(error.fix, 'says what to do')
  return { code: error.code, text: `${error.message} ${error.fix}` }
}

async function describeChoice(options: ModelRequestOptions) {
  return (await resolveModel(options))?.describe
}

describe('resolveModel', () => {
  it('gives nothing when nothing is named and no key is set', async () => {
    assert.equal(await resolveModel({ environment: {} }), undefined)
    assert.equal(await resolveModel({ environment: { openaiBaseUrl: LOCAL } }), undefined)
  })

  it('never gives nothing for a spec: a blank one is refused where nothing else names a model', async () => {
    const { code, text } = await refusal({ spec: ' ', environment: { openaiBaseUrl: LOCAL } })
    assert.equal(code, 'MODEL_NOT_CONFIGURED')
    assert.match(text, /names no provider/)
    const named = await resolveModel({ spec: ' ', environment: { model: 'openai/x', openaiApiKey: 'k' } })
    assert.equal(named.describe, 'openai/x')
  })

  it('reads the variables of the process where no environment is given', async (t) => {
    const { ANTHROPIC_API_KEY: before } = process.env
    t.after(() =>
      before === undefined ? delete process.env['ANTHROPIC_API_KEY'] : (process.env['ANTHROPIC_API_KEY'] = before),
    )
    process.env['ANTHROPIC_API_KEY'] = 'sk-test-key'
    assert.equal((await resolveModel({ spec: 'anthropic/claude-x' })).describe, 'anthropic/claude-x')
    delete process.env['ANTHROPIC_API_KEY']
    assert.match((await refusal({ spec: 'anthropic/claude-x' })).text, /Set ANTHROPIC_API_KEY/)
  })

  it('lets the spec win over the configuration, and that over the environment', async () => {
    const environment = { openaiApiKey: 'k1', anthropicApiKey: 'k2', model: 'openai/from-environment' }
    const configured = { provider: 'anthropic', name: 'from-config' }
    assert.equal(await describeChoice({ spec: 'openai/from-spec', configured, environment }), 'openai/from-spec')
    assert.equal(await describeChoice({ configured, environment }), 'anthropic/from-config')
    assert.equal(await describeChoice({ environment }), 'openai/from-environment')
  })

  it('takes the default model of the provider whose key is set', async () => {
    assert.match((await describeChoice({ environment: { openaiApiKey: 'k' } })) ?? '', /^openai\/gpt-/)
    assert.match((await describeChoice({ environment: { anthropicApiKey: 'k' } })) ?? '', /^anthropic\/claude-/)
  })

  it('guesses no default model for a server that is not the own one of the provider', async () => {
    assert.equal(await resolveModel({ environment: { openaiApiKey: 'k', openaiBaseUrl: LOCAL } }), undefined)
  })

  it('keeps slashes that belong to the name, and shows the address of other servers', async () => {
    const environment = { openaiBaseUrl: `${LOCAL}/` }
    const spec = 'openai-compatible/meta-llama/Llama-4'
    const choice = await resolveModel({ spec, environment })
    assert.equal(choice?.describe, `openai-compatible/meta-llama/Llama-4 at ${LOCAL_HOST}`)
    assert.equal(choice?.name, 'meta-llama/Llama-4')
  })

  it('shows no query of an address, which may hold a key', async () => {
    const baseUrl = `${LOCAL}?key=top-secret#top-secret`
    assert.equal(
      await describeChoice({ spec: 'openai-compatible/x', baseUrl, environment: {} }),
      `openai-compatible/x at ${LOCAL_HOST}`,
    )
    for (const wrong of [`ftp://h?key=top-secret`, 'https://me:top@secret@h'])
      assert.doesNotMatch(
        (await refusal({ spec: 'openai-compatible/x', baseUrl: wrong, environment: {} })).text,
        /secret/,
      )
    assert.doesNotMatch((await refusal({ spec: 'openai/x', baseUrl, environment: {} })).text, /secret/)
  })

  it('knows the provider of a bare name that tells it', async () => {
    const environment = { openaiApiKey: 'k', anthropicApiKey: 'k' }
    assert.equal(await describeChoice({ spec: 'gpt-5-mini', environment }), 'openai/gpt-5-mini')
    assert.equal(await describeChoice({ spec: 'claude-haiku-4-5', environment }), 'anthropic/claude-haiku-4-5')
    const { code, text } = await refusal({ spec: 'llama', environment })
    assert.equal(code, 'MODEL_NOT_CONFIGURED')
    assert.match(text, /openai-compatible\/<name>/)
  })

  it('says which key is missing and where it goes', async () => {
    const openai = await refusal({ spec: 'openai/gpt-5', environment: {} })
    assert.equal(openai.code, 'MODEL_NOT_CONFIGURED')
    assert.match(openai.text, /openai\/gpt-5 has no key.*OPENAI_API_KEY/)
    assert.match((await refusal({ spec: 'anthropic/c', environment: { openaiApiKey: 'k' } })).text, /ANTHROPIC_API_KEY/)
  })

  it('asks for an address where the provider has none', async () => {
    const { code, text } = await refusal({ spec: 'openai-compatible/m', environment: { openaiApiKey: 'k' } })
    assert.equal(code, 'MODEL_NOT_CONFIGURED')
    assert.match(text, /OPENAI_BASE_URL/)
  })

  it('names the known providers when one is unknown', async () => {
    assert.match(
      (await refusal({ spec: 'gemini/pro', environment: {} })).text,
      /does not know the model provider 'gemini'.*anthropic/,
    )
    assert.match(
      (await refusal({ configured: { provider: 'constructor', name: 'x' }, environment: {} })).text,
      /does not know the model provider/,
    )
  })

  it('sends a key from the environment to no address but its own', async () => {
    const environment = { openaiApiKey: 'sk-environment' }
    const configured = { provider: 'openai', name: 'gpt-5', baseUrl: 'https://elsewhere.example/v1' }
    const { text } = await refusal({ configured, environment })
    assert.match(text, /has no key for https:\/\/elsewhere\.example\./)
    const own = { ...configured, apiKey: 'sk-own' }
    assert.equal(await describeChoice({ configured: own, environment }), 'openai/gpt-5 at https://elsewhere.example')
    assert.match((await refusal({ configured: own, baseUrl: LOCAL, environment: {} })).text, /has no key for/)
  })

  it('sends a key without an address of its own to the address that the user typed', async () => {
    const environment = { openaiApiKey: 'sk-environment' }
    for (const spec of ['openai/gpt-5', 'openai-compatible/m']) {
      const choice = await resolveModel({ spec, baseUrl: LOCAL, environment })
      assert.deepEqual(choice?.key, { variable: 'OPENAI_API_KEY', sent: 'OPENAI_API_KEY' })
    }
    const configured = { provider: 'openai', name: 'gpt-5', apiKey: 'sk-own' }
    assert.equal((await resolveModel({ configured, baseUrl: LOCAL, environment }))?.key?.sent, 'model.apiKey')
    const paired = { ...environment, openaiBaseUrl: 'https://proxy.example/v1' }
    const { text } = await refusal({ spec: 'openai/gpt-5', baseUrl: LOCAL, environment: paired })
    assert.match(text, /has no key for http.*OPENAI_API_KEY is set, but it belongs to another address\./)
  })

  it('does not send a key from the environment to an address of a file, and says so', async () => {
    const environment = { openaiApiKey: 'sk-environment' }
    const configured = { provider: 'openai-compatible', name: 'm', baseUrl: LOCAL }
    assert.deepEqual((await resolveModel({ configured, environment }))?.key, {
      variable: 'OPENAI_API_KEY',
      withheld: 'OPENAI_API_KEY',
    })
    const { text } = await refusal({ configured: { ...configured, provider: 'openai' }, environment })
    assert.match(text, /Give the address with --base-url, or write model\.apiKey: \$\{OPENAI_API_KEY\}/)
  })

  it('refuses an address that is none, or that holds a password, without showing the password', async () => {
    const withSlash = ['ftp://user:12/hunter2@host', 'https://user:a/hunter2@host/v1']
    for (const baseUrl of ['ftp://x', 'not a url', 'http://user:hunter2@host/v1', ...withSlash]) {
      const { code, text } = await refusal({
        configured: { provider: 'openai-compatible', name: 'm', baseUrl },
        environment: {},
      })
      assert.equal(code, 'INVALID_ARGUMENT')
      assert.ok(!text.includes('hunter2'))
    }
  })

  it('shows nothing of an address whose host is in doubt, because a password has a slash', async () => {
    const baseUrl = 'https://user:12/hunter2@host/v1'
    const { text } = await refusal({ configured: { provider: 'openai', name: 'gpt-5', baseUrl }, environment: {} })
    assert.doesNotMatch(text, /user|hunter2/)
    const configured = { provider: 'openai-compatible', name: 'm', baseUrl }
    assert.doesNotMatch((await describeChoice({ configured, environment: {} })) ?? '', /user|hunter2/)
  })

  it('never shows the key', async () => {
    const choice = await resolveModel({ spec: 'openai/gpt-5', environment: { openaiApiKey: 'sk-very-secret' } })
    assert.ok(!JSON.stringify({ ...choice, languageModel: undefined }).includes('sk-very-secret'))
    assert.equal(choice?.redact?.('Incorrect key sk-very-secret.'), 'Incorrect key [redacted].')
  })
})
