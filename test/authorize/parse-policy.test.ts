import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decide, parsePolicy, type PolicyInput, toolGroupRule } from '../../src/authorize/index.ts'
import { toolNamed } from './sample.ts'

const knownTools = [toolNamed('load_skill'), toolNamed('run_command', { capabilities: ['network'] }), 'browser']

function codesOf(input: PolicyInput): string[] {
  return parsePolicy({ knownTools, ...input }).diagnostics.map(({ code, severity }) => `${severity} ${code}`)
}

describe('parsePolicy', () => {
  it('gives the profile full when nothing is configured', () => {
    const { rules, diagnostics } = parsePolicy({})
    assert.equal(rules.profile, 'full')
    assert.deepEqual(diagnostics, [])
  })

  it('reports each key that a policy does not have, and gives the profile minimal, so that a misspelt deny never widens', () => {
    const fromJson = JSON.parse('{ "alow": ["browser"], "x": 1, "deny": ["run_command"] }') as PolicyInput
    const { rules, diagnostics } = parsePolicy({ ...fromJson, knownTools })
    assert.equal(rules.profile, 'minimal')
    assert.deepEqual(rules.deny, ['run_command'])
    const keys = 'Keys: profile, allow, ask, deny, groups.'
    assert.deepEqual(diagnostics, [
      {
        ...{ code: 'policy-unknown-key', severity: 'error', path: 'nexus.yaml', fix: "Did you mean 'allow'?" },
        message: `A policy has no key 'alow', so minimal applies. ${keys}`,
      },
      {
        ...{ code: 'policy-unknown-key', severity: 'error', path: 'nexus.yaml', fix: 'Remove it.' },
        message: `A policy has no key 'x', so minimal applies. ${keys}`,
      },
    ])
  })

  it('accepts the configuration of seed 001 with a warning for what does not exist here', () => {
    const { rules, diagnostics } = parsePolicy({
      profile: 'full',
      allow: ['browser', 'group:fs', 'mcp:github'],
      deny: ['sandbox.network', 'nodes.camera'],
      groups: {
        'group:fs': ['read', 'write', 'edit', 'exec'],
        'group:web': ['websearch', 'webfetch'],
        'group:runtime': ['sandbox'],
        'group:messaging': ['send_message'],
      },
      knownTools,
    })
    assert.equal(rules.groups.get('group:runtime')?.join(), 'sandbox')
    assert.deepEqual(
      diagnostics.map(({ message }) => message),
      [`deny[1]: 'nodes.camera' names no tool, group or capability, so the line has no effect. Capabilities: network.`],
    )
  })

  it('reports an unknown name with its place and the nearest match: in deny: an error, because it denies nothing', () => {
    const [found] = parsePolicy({ deny: ['load_skil'], knownTools, path: '/w/nexus.yaml' }).diagnostics
    assert.equal(found?.severity, 'error')
    assert.equal(found?.path, '/w/nexus.yaml')
    assert.match(found?.message ?? '', /^deny\[0\]: 'load_skil'/)
    assert.equal(found?.fix, `Did you mean 'load_skill'?`)
    assert.equal(parsePolicy({ deny: ['group:wbe'] }).diagnostics[0]?.fix, `Did you mean 'group:web'?`)
  })

  it('says of a denied group without tools what the line is good for, as toolGroupRule does', () => {
    const { rules, diagnostics } = parsePolicy({
      ...{ deny: ['group:nosuch', 'group:empty', 'browser'], groups: { empty: [] }, knownTools },
    })
    assert.deepEqual(
      diagnostics.map(({ message, fix }) => [message, fix]),
      [
        [
          `deny[0]: no tool here is in 'group:nosuch', so the line only holds skills that ask for that group.`,
          undefined,
        ],
        [
          `deny[1]: no tool here is in 'group:empty', so the line only holds skills that ask for that group.`,
          undefined,
        ],
      ],
    )
    const may = toolGroupRule(rules)
    assert.deepEqual(
      ['nosuch', 'empty', 'browser'].map((group) => may?.(group)),
      [false, false, true],
    )
    const [allowed] = parsePolicy({ allow: ['group:nosuch'], knownTools }).diagnostics
    assert.match(allowed?.message ?? '', /has no effect/)
  })

  it('finds the name that was meant among tools, their other names, capabilities and groups', () => {
    const meant = {
      ...{ red: 'read', raed: 'read', bahs: 'bash', web_serch: 'web_search', fs: 'group:fs' },
      ...{ 'run_command.netwrok': 'run_command.network', 'exec.netwrk': 'exec.network' },
      'sandbox.netwrok': 'sandbox.network',
    }
    for (const [written, name] of Object.entries(meant)) {
      const [found, ...more] = parsePolicy({ deny: [written], knownTools }).diagnostics
      assert.deepEqual([found?.fix, more.length], [`Did you mean '${name}'?`, 0], written)
    }
    // A tool of somebody's own may be called so.
    assert.deepEqual(parsePolicy({ deny: ['bread', 'fs'] }).diagnostics, [])
  })

  it('calls an item of a list what it is called where it was written', () => {
    const locate = () => ({ path: 'nexus.yaml', line: 3, index: 4 })
    const [found] = parsePolicy({ deny: ['raed'], knownTools, locate }).diagnostics
    assert.match(found?.message ?? '', /^deny\[4\]: 'raed'/)
    assert.deepEqual(found && 'index' in found, false)
  })

  it('reports slips of shipped names, and nothing else, when nobody says which tools exist', () => {
    assert.deepEqual(parsePolicy({ allow: ['my_own_tool_of_today', 'sandbox.network'] }).diagnostics, [])
    assert.equal(parsePolicy({ deny: ['run_comand'] }).diagnostics.length, 1)
  })

  it('calls a cycle of groups an error once and names the way round', () => {
    const groups = {
      'group:a': ['group:b'],
      'group:b': ['group:c', 'group:a'],
      'group:c': ['run_command'],
      'group:self': ['group:self'],
    }
    const { diagnostics } = parsePolicy({ groups, knownTools })
    assert.deepEqual(
      diagnostics.map(({ severity, message }) => `${severity} ${message}`),
      [
        'error Groups contain each other: group:a > group:b > group:a.',
        'error Groups contain each other: group:self > group:self.',
      ],
    )
  })

  it('falls back to the narrowest profile when the name is wrong', () => {
    const { rules, diagnostics } = parsePolicy({ profile: 'codding' })
    assert.equal(rules.profile, 'minimal')
    assert.equal(diagnostics[0]?.severity, 'error')
    assert.equal(diagnostics[0]?.fix, 'Write: profile: coding')
  })

  it('warns when a capability is allowed or asked for', () => {
    assert.deepEqual(codesOf({ allow: ['run_command.network'] }), ['warning policy-capability'])
    assert.deepEqual(codesOf({ ask: ['exec.network'] }), ['warning policy-capability'])
    assert.deepEqual(codesOf({ deny: ['exec.network'] }), [])
    assert.deepEqual(codesOf({ deny: ['run_command.gpu'] }), ['error policy-unknown-name'])
  })

  it('accepts groups without their prefix, as a map, and uses them', () => {
    const { rules } = parsePolicy({
      profile: 'minimal',
      allow: ['group:Team'],
      groups: new Map([['team', ['browser']]]),
      knownTools,
    })
    const call = { tool: 'browser', arguments: {}, agentId: 'main', origin: 'model' as const }
    assert.equal(decide({ call, tool: toolNamed('browser'), policy: rules }).rule, 'allow group:Team')
  })

  it('warns of entries inside the groups of the configuration only', () => {
    assert.deepEqual(codesOf({ groups: { 'group:mine': ['load_skil', 'group:web'] } }), ['warning policy-unknown-name'])
  })
})

it('where more tools may exist, only a name that resembles a known one is reported', () => {
  const lists = { allow: ['weather', 'load_skil'], deny: ['run_command.network', 'weather'] }
  const reported = (hasOtherTools: boolean): string[] =>
    parsePolicy({ ...lists, knownTools, hasOtherTools })
      .diagnostics.filter(({ code }) => code === 'policy-unknown-name')
      .map(({ message }) => /'([^']+)'/.exec(message)?.[1] ?? '')
  assert.deepEqual(reported(true), ['load_skil'])
  assert.deepEqual(reported(false), ['weather', 'load_skil', 'weather'])
})

it('a line of which every tool is denied never decides, and one that a question or a profile repeats does', () => {
  const found = (lists: { allow?: string[]; ask?: string[]; deny?: string[] }): string[] =>
    parsePolicy(lists).diagnostics.map(({ code, message }) => `${code} ${/^\S+\]/.exec(message)?.[0] ?? ''}`)
  assert.deepEqual(found({ allow: ['exec'], ask: ['group:web'], deny: ['run_command', 'web_*'] }), [
    'policy-unreachable allow[0]',
    'policy-unreachable ask[0]',
  ])
  assert.deepEqual(found({ allow: ['run_command'], ask: ['run_command'] }), [])
  assert.deepEqual(found({ allow: ['group:fs', '*_file', 'mcp:github'], deny: ['write_file', 'mcp:github'] }), [])
})
