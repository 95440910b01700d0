import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type DecideInput, decide, explain, explanationLines, type PolicyRules } from '../../src/authorize/index.ts'
import { rulesOf, skillFrom, toolNamed } from './sample.ts'

function inputOf(policy: Partial<PolicyRules>, more: Partial<DecideInput> = {}): DecideInput {
  const tool = toolNamed('run_command', { capabilities: ['network'] })
  const call = { tool: 'run_command', arguments: {}, agentId: 'main', origin: 'model' as const }
  return { call, tool, policy: rulesOf(policy), ...more }
}

describe('explain', () => {
  it('ends in the decision of decide and shows every line that covers the tool', () => {
    const input = inputOf({ profile: 'coding', deny: ['group:runtime'], allow: ['exec'] })
    const explanation = explain(input)
    assert.deepEqual(explanation.decision, decide(input))
    assert.deepEqual(
      explanation.matches.map(({ list, path }) => `${list} ${path.join(' > ')}`),
      ['deny group:runtime > run_command', 'allow exec', 'profile coding > group:fs > exec'],
    )
  })

  it('shows each layer in order, the silent ones too', () => {
    const { steps } = explain(inputOf({}, { skill: skillFrom(false) }))
    assert.deepEqual(
      steps.map(({ layer, says }) => `${layer} ${says}`),
      ['trust deny', 'tool silent', 'confirmation silent', 'policy allow', 'skill silent'],
    )
  })

  it('reads as lines, the decision last', () => {
    const lines = explanationLines(explain(inputOf({ deny: ['sandbox.network'] })))
    assert.deepEqual(lines, [
      'policy: allow by profile full',
      'line: profile full > *',
      'without: network',
      'decision: allow (profile full)',
    ])
  })
})
