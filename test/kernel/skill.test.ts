import assert from 'node:assert/strict'
import test from 'node:test'
import { configKey } from '../../src/kernel/index.ts'

test('a skill from an untrusted source cannot choose the key under which it is configured', () => {
  const metadata = {
    os: [],
    requires: { bins: [], anyBins: [], env: [], config: [], network: [] },
    install: [],
    always: false,
    skillKey: 'github',
  }
  const origin = { source: 'workspace', tier: 'workspace', rank: 0 } as const
  assert.equal(configKey({ name: 'evil', metadata, origin: { ...origin, trusted: false } }), 'evil')
  assert.equal(configKey({ name: 'gh', metadata, origin: { ...origin, trusted: true } }), 'github')
})
