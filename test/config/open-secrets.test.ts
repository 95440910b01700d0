import assert from 'node:assert/strict'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  assertValid,
  explainConfig,
  loadConfig,
  openSecrets,
  readEnvironment,
  type SecretCommandRequest,
  type SecretCommandResult,
} from '../../src/config/index.ts'
import { createRedactor } from '../../src/kernel/index.ts'
import { findings, makePlace, type Place } from './place.ts'

/** Opens the secrets of a place with a program that answers as told and keeps what it was asked. */
async function open(place: Place, output: SecretCommandResult | string, variables: Record<string, string> = {}) {
  const environment = readEnvironment({ HOME: place.home, ...variables })
  const loaded = await loadConfig({ cwd: place.workspace, environment })
  const asked: SecretCommandRequest[] = []
  const run = async (request: SecretCommandRequest): Promise<SecretCommandResult> => {
    asked.push(request)
    return typeof output === 'string' ? { type: 'done', output } : output
  }
  return { loaded, asked, secrets: openSecrets(loaded, { run, environment }) }
}

const MODEL = (apiKey: string): string => `model:\n  provider: openai\n  name: m\n  apiKey: ${apiKey}\n`

describe('a secret from a command', () => {
  it('is not asked for before it is read, and once', async () => {
    await using place = await makePlace({ user: MODEL('{command: [pass, show, "a b"]}') })
    const { loaded, asked, secrets } = await open(place, 'from-the-command\n')
    assertValid(loaded)
    assert.deepEqual(loaded.diagnostics, [])
    assert.equal(loaded.config.model?.apiKey, undefined)
    assert.equal(loaded.config.model?.hasApiKey, true)
    assert.deepEqual(asked, [])
    const models = await Promise.all([secrets.model(), secrets.model()])
    assert.deepEqual(
      models.map((model) => model?.apiKey),
      ['from-the-command', 'from-the-command'],
    )
    assert.deepEqual(
      asked.map(({ command }) => command),
      [['pass', 'show', 'a b']],
    )
  })

  it('is blanked from then on by a redactor that was made before', async () => {
    await using place = await makePlace({ user: MODEL('{command: [x]}') })
    const { secrets } = await open(place, 'from-the-command')
    const redact = createRedactor(secrets.values)
    await secrets.read(['model', 'apiKey'])
    assert.equal(redact('it is from-the-command'), 'it is [redacted]')
  })

  it('gets a minimal environment', async () => {
    await using place = await makePlace({ user: MODEL('{command: [x]}') })
    const { asked, secrets } = await open(place, 'secret-value', {
      OPENAI_API_KEY: 'k',
      NODE_OPTIONS: '--x',
      USER: 'me',
    })
    await secrets.model()
    assert.deepEqual(asked[0]?.environment, { HOME: place.home, USER: 'me' })
  })

  it('counts as there for a skill that needs it', async () => {
    await using place = await makePlace({ user: 'skills: {entries: {a.b: {apiKey: {command: [x]}}}}' })
    const { loaded, secrets } = await open(place, 'secret-value')
    assert.equal(loaded.config.skills.entries.get('a.b')?.hasApiKey, true)
    assert.equal(await secrets.read(['skills', 'entries', 'a.b', 'apiKey']), 'secret-value')
    assert.equal(await secrets.read(['skills', 'entries', 'other', 'apiKey']), undefined)
  })

  it('names place and reason when it cannot be had, and is tried again at the next call', async () => {
    await using place = await makePlace({ user: MODEL('{command: [/bin/x]}') })
    const { asked, secrets } = await open(place, { type: 'failed', why: 'ended with code 2' })
    const error = {
      code: 'CONFIG_INVALID',
      message: /nexus\.yaml:4:3 model\.apiKey: the command \/bin\/x ended with code 2\./,
    }
    await assert.rejects(secrets.model(), error)
    await assert.rejects(secrets.model(), error)
    assert.equal(asked.length, 2)
    await assert.rejects((await open(place, '\n')).secrets.model(), { message: /gave no secret/ })
  })

  it('belongs to the file that names it: another file replaces it whole', async () => {
    await using place = await makePlace({
      user: 'skills: {entries: {x: {apiKey: {command: [a, b]}}}}',
      local: 'skills: {entries: {x: {apiKey: {command: [c]}}}}',
    })
    const loaded = await place.load({ trusted: true })
    const asked: (readonly string[])[] = []
    const secrets = openSecrets(loaded, {
      environment: readEnvironment({ HOME: place.home }),
      run: async ({ command }) => (asked.push(command), { type: 'done', output: 'secret-value' }),
    })
    await secrets.read(['skills', 'entries', 'x', 'apiKey'])
    assert.deepEqual(asked, [['c']])
  })

  it('is never shown, nor are the arguments of its program', async () => {
    await using place = await makePlace({ user: MODEL('{command: [vault, --token=hidden-argument]}') })
    const loaded = await place.load()
    const { document } = await explainConfig(loaded)
    assert.doesNotMatch(JSON.stringify(document), /hidden-argument/)
    assert.equal((document['model'] as Record<string, unknown>)['apiKey'], '[hidden]')
  })
})

describe("a secret in OpenClaw's form", () => {
  const PROVIDERS = `secrets:
  providers:
    files: {source: file, path: secrets.json}
    single: {source: file, path: single.txt, mode: singleValue}
    vars: {source: env, allowlist: [ALLOWED]}
    vault: {source: exec, command: /opt/vault, args: [read], passEnv: [VAULT_ADDR]}
    plain: {source: exec, command: /opt/plain, jsonOnly: false}
`
  const VARIABLES = { ALLOWED: 'from-allowed', KEY: 'from-key', VAULT_ADDR: 'http://v' }

  const READS: readonly (readonly [reference: string, secret: string])[] = [
    ['{source: env, provider: default, id: KEY}', 'from-key'],
    ['{source: env, id: KEY}', 'from-key'],
    ['{source: env, provider: vars, id: ALLOWED}', 'from-allowed'],
    ['{source: file, provider: files, id: /providers/a~1b/key}', 'from-json'],
    ['{source: file, provider: single, id: value}', 'from-single'],
    ['{source: file, path: single.txt}', 'from-single'],
    ['{source: exec, provider: plain, id: some/id}', 'from-the-command'],
    ['{source: exec, command: /opt/x, args: [a]}', 'from-the-command'],
  ]
  for (const [reference, secret] of READS) {
    it(`is read: ${reference}`, async () => {
      await using place = await makePlace({ user: PROVIDERS + MODEL(reference) })
      const json = JSON.stringify({ providers: { 'a/b': { key: 'from-json' } } })
      await chmod(await place.write('home/.nexus/secrets.json', json), 0o600)
      await chmod(await place.write('home/.nexus/single.txt', 'from-single\n'), 0o600)
      const { loaded, secrets } = await open(place, 'from-the-command\n', VARIABLES)
      assert.deepEqual(loaded.diagnostics, [])
      assert.equal((await secrets.model())?.apiKey, secret)
    })
  }

  it('asks a program with its protocol', async () => {
    await using place = await makePlace({ user: PROVIDERS + MODEL('{source: exec, provider: vault, id: a/b}') })
    const answer = JSON.stringify({ protocolVersion: 1, values: { 'a/b': 'from-vault' } })
    const { asked, secrets } = await open(place, answer, VARIABLES)
    assert.equal((await secrets.model())?.apiKey, 'from-vault')
    assert.deepEqual(asked[0]?.command, ['/opt/vault', 'read'])
    assert.equal(asked[0]?.environment['VAULT_ADDR'], 'http://v')
    assert.deepEqual(JSON.parse(asked[0]?.input ?? ''), { protocolVersion: 1, provider: 'vault', ids: ['a/b'] })
    await assert.rejects((await open(place, '{"values":{}}', VARIABLES)).secrets.model(), { message: /gave no secret/ })
  })

  const WRONG: readonly (readonly [reference: string, words: RegExp])[] = [
    ['{source: env, provider: vrs, id: KEY}', /secrets\.providers does not define\. Did you mean "vars"\?/],
    ['{source: env, provider: vars, id: KEY}', /not in the allowlist/],
    ['{source: file, provider: vault, id: x}', /names source file, but the provider "vault" is exec/],
    ['{source: exec, provider: vault}', /needs id/],
    ['{source: file, id: /a}', /needs path, or a provider/],
    ['{command: pass show key}', /has a command with spaces. There is no shell/],
    ['{command: [./key.sh]}', /relative path/],
    ['{command: [""]}', /string that is not empty/],
    ['{command: []}', /empty command/],
    ['{command: [a], file: b}', /exactly one of env, file, command/],
    ['{}', /exactly one of env, file, command/],
    ['{file: a, args: [b]}', /args, which do not go with file/],
    ['{source: env, id: KEY, path: a}', /path, which does not go with source: env/],
    ['{source: env, provider: vars, id: KEY, file: a}', /file, which does not go with a provider/],
    ['{source: file, path: a, file: b}', /path and file. Keep one/],
  ]
  for (const [reference, words] of WRONG) {
    it(`is refused with its place: ${reference}`, async () => {
      await using place = await makePlace({ user: MODEL(reference) + PROVIDERS })
      const loaded = await place.load({ variables: VARIABLES })
      const [first] = loaded.diagnostics
      assert.match(findings(loaded)[0] ?? '', /^4:\d+ config-wrong-value$/)
      assert.match(`${first?.message} ${first?.fix ?? ''}`, words)
      assert.throws(() => assertValid(loaded), { code: 'CONFIG_INVALID' })
    })
  }

  it('takes its program from the home directory when it says so', async () => {
    await using place = await makePlace({ user: MODEL('{command: [~/bin/key]}') })
    const { asked, secrets } = await open(place, 'secret-value')
    await secrets.model()
    assert.deepEqual(asked[0]?.command, [join(place.home, 'bin/key')])
  })
})
