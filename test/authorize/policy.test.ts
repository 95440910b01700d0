import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allowsGroup, deniedCapabilities, toolGroupRule } from '../../src/authorize/index.ts'
import { rulesOf, toolNamed } from './sample.ts'

const tool = toolNamed('run_command', { capabilities: ['network', 'camera'] })

describe('deniedCapabilities', () => {
  const table: readonly (readonly [string, readonly string[]])[] = [
    ['run_command.network', ['network']],
    ['exec.network', ['network']],
    ['sandbox.network', ['network']],
    ['SANDBOX.Camera', ['camera']],
    ['*.network', ['network']],
    ['run_command.*', ['network', 'camera']],
    ['other.network', []],
    ['run_command', []],
    ['run_command.gpu', []],
  ]
  for (const [entry, taken] of table) {
    it(`gives [${taken.join(', ')}] for deny ${entry}`, () => {
      assert.deepEqual(deniedCapabilities(rulesOf({ deny: [entry] }), tool), taken)
    })
  }

  it('takes away what is only under ask, since nobody can be asked about a part of a call', () => {
    assert.deepEqual(deniedCapabilities(rulesOf({ ask: ['run_command.network'] }), tool), ['network'])
  })

  it('looks into groups', () => {
    const groups = new Map([['group:quiet', ['sandbox.network']]])
    assert.deepEqual(deniedCapabilities(rulesOf({ deny: ['group:quiet'], groups }), tool), ['network'])
  })
})

describe('allowsGroup', () => {
  it('is true while one tool of the group may still be called', () => {
    assert.equal(allowsGroup(rulesOf(), 'group:web'), true)
    assert.equal(allowsGroup(rulesOf({ deny: ['web_search'] }), 'web'), true)
  })

  it('is false when policy denies the group, each of its tools, or never allows them', () => {
    assert.equal(allowsGroup(rulesOf({ deny: ['group:web'] }), 'web'), false)
    assert.equal(allowsGroup(rulesOf({ deny: ['websearch', 'webfetch'] }), 'group:web'), false)
    assert.equal(allowsGroup(rulesOf({ profile: 'minimal' }), 'group:fs'), false)
  })

  it('is false for a group that does not exist', () => {
    assert.equal(allowsGroup(rulesOf(), 'group:nothing'), false)
  })
})

describe('toolGroupRule', () => {
  it('is absent when the policy keeps no group of tools from the agent', () => {
    for (const rules of [
      rulesOf(),
      rulesOf({ allow: ['group:web'] }),
      rulesOf({ ask: ['group:runtime'] }),
      rulesOf({ deny: ['run_command.network', 'web_search', 'no_such_tool'] }),
      rulesOf({ groups: new Map([['group:empty', []]]) }),
    ]) {
      assert.equal(toolGroupRule(rules), undefined)
    }
  })

  it('says of a group what the policy says of its tools', () => {
    const rule = toolGroupRule(rulesOf({ deny: ['group:web'] }))
    assert.deepEqual(
      ['group:web', 'web', ' Group:Web ', 'group:fs'].map((group) => rule?.(group)),
      [...[false, false, false], true],
    )
    const narrow = toolGroupRule(rulesOf({ profile: 'minimal', allow: ['web_fetch'] }))
    assert.deepEqual(
      ['web', 'fs', 'skills'].map((group) => narrow?.(group)),
      [true, false, false],
    )
    assert.equal(toolGroupRule(rulesOf({ deny: ['*'] }))?.('group:runtime'), false)
  })

  it('keeps a group that does not exist only when deny names it, or the profile is not full', () => {
    assert.equal(toolGroupRule(rulesOf({ deny: ['group:web'] }))?.('group:browser'), true)
    assert.equal(toolGroupRule(rulesOf({ deny: ['group:browser'] }))?.('browser'), false)
    assert.equal(toolGroupRule(rulesOf({ deny: ['group:browser'] }))?.('web'), true)
    assert.equal(toolGroupRule(rulesOf({ profile: 'coding' }))?.('group:browser'), false)
  })
})
