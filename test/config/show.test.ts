import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { configTruthy, explainConfig } from '../../src/config/index.ts'
import { makePlace } from './place.ts'

describe('what is asked of a config', () => {
  it('finds true values by dotted path and own keys only', async () => {
    await using place = await makePlace({
      user: 'tools: {a: {yes: true, no: false, text: x, blank: " ", zero: 0, none: ~}}',
    })
    const { config } = await place.load()
    const truthy = (path: string): boolean => configTruthy(config, path)
    assert.deepEqual(['tools.a.yes', 'tools.a.text', 'tools.a', 'tools'].map(truthy), [true, true, true, true])
    const untrue = ['tools.a.no', 'tools.a.blank', 'tools.a.zero', 'tools.a.none', 'tools.b', '', 'tools.a.yes.more']
    assert.deepEqual(
      [...untrue, 'tools.a.constructor', 'toString', '__proto__', 'tools.a.text.length'].map(truthy),
      Array(11).fill(false),
    )
  })
})

describe('the effective settings', () => {
  it('name the file, line and column of every value, and what is a default', async () => {
    await using place = await makePlace({
      user: `limits: {maxIterations: 5}
skills:
  disabled_skills: [a]
  entries: {x: {enabled: true}}
agents:
  - {id: base, tools: {deny: [d1]}}
  - {id: leaf, extends: base}`,
      local:
        'skills: {disabled_skills: [b], mode: local}\nexecution: {sandbox: local}\nagents: [{id: base, tools: {deny: [d2]}}]',
    })
    const overrides = { limits: { toolTimeoutMs: 1 } }
    const loaded = await place.load({ trusted: true, overrides, variables: { SKILLS_PROMPT_CHAR_BUDGET: '70' } })
    const { document, originOf } = await explainConfig(loaded)
    const user = join(place.nexusHome, 'nexus.yaml')
    const local = join(place.workspace, 'nexus.yaml')
    const expected: readonly (readonly [keys: (string | number)[], origin: string])[] = [
      [['limits', 'maxIterations'], `${user}:1:10`],
      [['limits', 'toolTimeoutMs'], 'command line'],
      [['limits', 'maxConcurrentTools'], 'default'],
      [['skills', 'prompt', 'budgetChars'], 'environment'],
      [['skills', 'prompt', 'style'], 'default'],
      [['skills', 'disabled_skills', 0], `${user}:3:21`],
      [['skills', 'disabled_skills', 1], `${local}:1:28`],
      [['execution', 'sandbox'], `${local}:2:13`],
      [['agents', 0, 'tools', 'deny', 1], `${local}:3:36`],
      [['agents', 1, 'id'], `${user}:7:6`],
      [['agents', 1, 'tools', 'deny', 0], `${user}:6:31`],
      [['agents', 1, 'tools', 'deny', 1], `${local}:3:36`],
      [['agents', 1, 'tools', 'profile'], 'default'],
    ]
    for (const [keys, origin] of expected) {
      const { path = 'default', line, column } = originOf(keys) ?? {}
      assert.equal(line === undefined ? path : `${path}:${line}:${column}`, origin, keys.join('.'))
    }
    assert.deepEqual((document['agents'] as { tools: unknown }[])[1]?.tools, { profile: 'full', deny: ['d1', 'd2'] })
  })

  it('have the defaults that the rest of Nexus acts on', async () => {
    await using place = await makePlace()
    const loaded = await place.load()
    const { config } = loaded
    const { document } = await explainConfig(loaded)
    assert.deepEqual(document, {
      skills: {
        load: { watch: config.skills.load.watch, watchDebounceMs: config.skills.load.watchDebounceMs },
        surface: config.skills.surface,
        prompt: config.skills.prompt,
        refreshOnCall: config.skills.refreshOnCall,
      },
      agents: [{ id: config.agents[0]?.id, tools: { profile: config.agents[0]?.tools.profile } }],
      execution: {
        sandbox: config.execution.sandbox,
        timeoutMs: config.execution.timeoutMs,
        maxOutputBytes: config.execution.maxOutputBytes,
        changes: config.execution.changes,
      },
      approvals: config.approvals,
      limits: config.limits,
      search: { maxResults: config.search.maxResults },
      server: Object.fromEntries(Object.entries(config.server).filter(([, value]) => !Array.isArray(value))),
      telemetry: { ...config.telemetry },
      store: { type: config.store.type, synchronous: 'full', events: config.store.events },
    })
  })
})
