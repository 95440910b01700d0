import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decide, explain, parsePolicy, type PolicyRules, PROFILE_NAMES, withShadow } from '../../src/authorize/index.ts'
import { globMatches } from '../../src/authorize/names.ts'
import type { Decision } from '../../src/kernel/index.ts'
import { rulesOf, skillFrom, toolNamed } from './sample.ts'

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const
const TOOLS = [
  'read_file',
  'run_command',
  'web_search',
  'load_skill',
  'mcp:github.create_issue',
  'skills.load',
  'bash',
  'browser',
]
const GROUP_NAMES = ['group:a', 'group:b', 'group:c', 'group:fs', 'group:mcp']

const entry = fc.oneof(
  fc.constantFrom(
    ...TOOLS,
    ...GROUP_NAMES,
    'exec',
    '*',
    'mcp:github',
    'mcp:*',
    '*_file',
    'run_command.network',
    'sandbox.*',
    ' Browser ',
  ),
  fc.string({ maxLength: 8 }),
)
const entries = fc.array(entry, { maxLength: 4 })
const policy: fc.Arbitrary<PolicyRules> = fc.record({
  profile: fc.constantFrom(...PROFILE_NAMES),
  allow: entries,
  ask: entries,
  deny: entries,
  groups: fc.array(fc.tuple(fc.constantFrom(...GROUP_NAMES), entries), { maxLength: 5 }).map((pairs) => new Map(pairs)),
})
const tool = fc.record({ name: fc.constantFrom(...TOOLS), requiresConfirmation: fc.boolean() })

function decideOn(
  rules: PolicyRules,
  asked: { name: string; requiresConfirmation: boolean },
  isTrusted?: boolean,
): Decision {
  const call = { tool: asked.name, arguments: {}, agentId: 'main', origin: 'model' as const }
  const skill = isTrusted === undefined ? {} : { skill: skillFrom(isTrusted) }
  return decide({ call, tool: toolNamed(asked.name, asked), policy: rules, ...skill })
}

describe('laws of decide', () => {
  it('never becomes less strict by one more deny', () => {
    fc.assert(
      fc.property(policy, tool, entry, (rules, asked, denied) => {
        const before = decideOn(rules, asked)
        const after = decideOn({ ...rules, deny: [...rules.deny, denied] }, asked)
        assert.ok(STRICTNESS[after.type] >= STRICTNESS[before.type])
      }),
    )
  })

  it('changes by one more allow only what was denied because no line names it', () => {
    fc.assert(
      fc.property(policy, tool, entry, (rules, asked, allowed) => {
        const before = decideOn(rules, asked)
        const after = decideOn({ ...rules, allow: [...rules.allow, allowed] }, asked)
        if (before.rule.startsWith('profile') && before.type === 'deny') return
        assert.equal(after.type, before.type)
      }),
    )
  })

  it('denies every tool that a deny entry names literally, whatever else is written', () => {
    fc.assert(
      fc.property(policy, tool, (rules, asked) => {
        assert.equal(decideOn({ ...rules, deny: [...rules.deny, asked.name.toUpperCase()] }, asked).type, 'deny')
      }),
    )
  })

  it('denies every call about an untrusted skill', () => {
    fc.assert(fc.property(policy, tool, (rules, asked) => assert.equal(decideOn(rules, asked, false).type, 'deny')))
  })

  it('gives the same answer for the same input, and explain agrees', () => {
    fc.assert(
      fc.property(policy, tool, (rules, asked) => {
        const call = { tool: asked.name, arguments: {}, agentId: 'main', origin: 'model' as const }
        const input = { call, tool: toolNamed(asked.name, asked), policy: rules }
        assert.deepEqual(decide(input), decide(input))
        assert.deepEqual(explain(input).decision, decide(input))
      }),
    )
  })

  it('is what it is without a shadow, and the shadow says what it would decide itself', () => {
    fc.assert(
      fc.property(fc.tuple(policy, policy), tool, fc.boolean(), ([rules, others], asked, isTrusted) => {
        const call = { tool: asked.name, arguments: {}, agentId: 'main', origin: 'model' as const }
        const input = { call, tool: toolNamed(asked.name, asked), policy: rules, skill: skillFrom(isTrusted) }
        const own = decide(input)
        const { shadow, ...decision } = withShadow(own, input, { agent: 'other', policy: others })
        assert.deepEqual(decision, own)
        const other = decide({ ...input, policy: others })
        if (shadow)
          assert.deepEqual(shadow, { agent: 'other', type: other.type, rule: other.rule, own: own.type, scope: '' })
        else assert.equal(other.type, own.type)
        if (!shadow && own.type !== 'deny') assert.deepEqual(other.limits, own.limits)
      }),
    )
  })

  it('has nothing to record where both deny, whatever else they limit, and its row where one does not', () => {
    const asked = toolNamed('run_command', { capabilities: ['network', 'secrets'] })
    const call = { tool: asked.name, arguments: {}, agentId: 'main', origin: 'model' as const }
    const shadowOf = (own: string[], others: string[]) => {
      const input = { call, tool: asked, policy: rulesOf({ deny: own }) }
      return withShadow(decide(input), input, { agent: 'other', policy: rulesOf({ deny: others }) }).shadow
    }
    assert.equal(shadowOf(['exec'], ['exec', 'sandbox.network', '*.secrets']), undefined)
    assert.equal(shadowOf([], ['sandbox.network'])?.type, 'allow')
    assert.equal(shadowOf(['exec'], ['sandbox.network'])?.type, 'allow')
    assert.equal(shadowOf([], ['exec', 'sandbox.network'])?.type, 'deny')
  })

  it('has nothing to record beside rules that are the same', () => {
    fc.assert(
      fc.property(policy, tool, (rules, asked) => {
        const call = { tool: asked.name, arguments: {}, agentId: 'main', origin: 'model' as const }
        const input = { call, tool: toolNamed(asked.name, asked), policy: rules }
        assert.equal(withShadow(decide(input), input, { agent: 'other', policy: rules }).shadow, undefined)
      }),
    )
  })

  it('ends on any graph of groups, and parsing it never throws', () => {
    const names = fc.constantFrom(...Array.from({ length: 12 }, (_, index) => `group:${index}`))
    const graph = fc.array(fc.tuple(names, fc.array(names, { maxLength: 6 })), { maxLength: 12 })
    fc.assert(
      fc.property(graph, (pairs) => {
        const groups = new Map(pairs)
        const { rules } = parsePolicy({ deny: ['group:0'], groups, knownTools: ['x'] })
        assert.equal(decideOn(rules, { name: 'read_file', requiresConfirmation: false }).type, 'allow')
      }),
    )
  })

  it('matches globs as the plain regular expression does', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), maxLength: 8 })
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 })
    fc.assert(
      fc.property(pattern, text, (glob, name) => {
        const source = glob
          .replaceAll('.', String.raw`\.`)
          .replaceAll('*', '.*')
          .replaceAll('?', '.')
        assert.equal(globMatches(glob, name), new RegExp(`^${source}$`).test(name))
      }),
    )
  })
})
