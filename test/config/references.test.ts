import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { makePlace } from './place.ts'

describe('a reference that leads nowhere', () => {
  it('is called empty when its variable is set to nothing', async () => {
    await using place = await makePlace({
      user: 'skills: {entries: {x: {apiKey: {env: NONE}, env: {A: "${NONE}", B: "${EMPTY}"}, config: {c: "${EMPTY}"}}}}',
    })
    const { diagnostics } = await place.load({ variables: { EMPTY: '' } })
    assert.deepEqual(
      diagnostics.map(({ message, fix }) => `${message} ${fix}`),
      [
        'skills.entries.x.apiKey is not applied. It refers to NONE, which is not set. Set NONE, or remove the line.',
        'skills.entries.x.env.A is not applied. It refers to NONE, which is not set. Set NONE, or remove the line.',
        'skills.entries.x.env.B is not applied. It refers to EMPTY, which is empty. Give EMPTY a value, or remove the line.',
        'skills.entries.x.config.c is not applied. It refers to EMPTY, which is empty. Give EMPTY a value, or remove the line.',
      ],
    )
  })

  it('is one of the entry also inside a list, until another file writes the list anew', async () => {
    const user = 'skills: {entries: {x: {config: {list: ["${NONE}", b]}}}}'
    const parts = async (local: string) => {
      await using place = await makePlace({ user, local })
      const { config, broken } = await place.load({ trusted: true })
      const entry = config.skills.entries.get('x')
      return [entry?.config['list'], entry?.broken.map(({ at }) => at), broken.map(({ at }) => at)]
    }
    const whole = 'skills.entries.x.config.list.0'
    assert.deepEqual(await parts(''), [['b'], ['config.list.0'], [whole]])
    assert.deepEqual(await parts('skills: {entries: {x: {config: {other: 1}}}}'), [['b'], ['config.list.0'], [whole]])
    assert.deepEqual(await parts('skills: {entries: {x: {config: {list: [c]}}}}'), [['c'], [], []])
  })

  it('is told of with its place in the configuration, wherever it stands and nothing else supplies the value', async () => {
    await using place = await makePlace({
      user: 'tools: {gh: {token: "${NONE}", other: "${NONE}"}}\nmodel: {provider: openai, name: "${NONE}"}',
      local: 'tools: {gh: {other: here}}',
    })
    const { broken } = await place.load({ trusted: true })
    assert.deepEqual(
      broken.map(({ at, problem }) => `${at} ${problem}`),
      ['tools.gh.token', 'model'].map((at) => `${at} refers to NONE, which is not set`),
    )
  })
})
