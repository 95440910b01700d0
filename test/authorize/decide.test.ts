import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  applyDelta,
  decide,
  grantsLayer,
  type PolicyRules,
  presetPermissions,
  untrustedWorkspace,
} from '../../src/authorize/index.ts'
import type { Decision, JsonObject, Skill, Tool } from '../../src/kernel/index.ts'
import { rulesOf, skillFrom, toolNamed } from './sample.ts'

function decideOn(
  tool: Tool | string,
  policy: Partial<PolicyRules>,
  more: { skill?: Skill; arguments?: JsonObject } = {},
): Decision {
  const known = typeof tool === 'string' ? toolNamed(tool) : tool
  const call = { tool: known.name, arguments: more.arguments ?? {}, agentId: 'main', origin: 'model' as const }
  return decide({ call, tool: known, policy: rulesOf(policy), ...(more.skill && { skill: more.skill }) })
}

function verdict(tool: Tool | string, policy: Partial<PolicyRules>): string {
  const { type, rule } = decideOn(tool, policy)
  return `${type}: ${rule}`
}

describe('decide', () => {
  it('allows everything under the profile full and says so', () => {
    assert.equal(verdict('anything', {}), 'allow: profile full')
  })

  it('lets deny win over ask, and ask over allow', () => {
    const all = { allow: ['run_command'], ask: ['run_command'], deny: ['run_command'] }
    assert.equal(verdict('run_command', all), 'deny: deny run_command')
    assert.equal(verdict('run_command', { ...all, deny: [] }), 'ask: ask run_command')
    assert.equal(verdict('run_command', { ...all, deny: [], ask: [] }), 'allow: allow run_command')
  })

  it('denies what no line names under a narrow profile', () => {
    const decision = decideOn('write_file', { profile: 'minimal' })
    assert.equal(decision.type, 'deny')
    assert.match(decision.type === 'deny' ? decision.reason : '', /no matching allow rule: profile minimal/)
  })

  const PROFILE_TABLE: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['minimal', ['status'], ['nexus_status', 'read_file', 'run_command', 'load_skill', 'send_message', 'web_search']],
    [
      'messaging',
      ['nexus_send', 'status', 'load_skill', 'Skill', 'skills.load'],
      ['run_command', 'write_file', 'web_fetch'],
    ],
    [
      'coding',
      ['read_file', 'edit_file', 'run_command', 'skills.run_cmd', 'web_search', 'web_fetch', 'read_skill_file'],
      ['nexus_create', 'nexus_send', 'mcp:github.create_issue'],
    ],
  ]
  for (const [profile, allowed, denied] of PROFILE_TABLE) {
    it(`knows what the profile ${profile} holds`, () => {
      const policy = { profile } as Partial<PolicyRules>
      for (const name of allowed) assert.equal(decideOn(name, policy).type, 'allow', name)
      for (const name of denied) assert.equal(decideOn(name, policy).type, 'deny', name)
    })
  }

  it('keeps tools that may start a command out of the profile messaging', () => {
    for (const name of ['skills.task_status', 'skills.task_watch', 'skills.run_service', 'skills.start_job']) {
      assert.equal(decideOn(name, { profile: 'messaging' }).type, 'deny', name)
    }
  })

  it('opens groups, shipped and nested ones, and names the line that spoke', () => {
    assert.equal(verdict('web_fetch', { deny: ['group:web'] }), 'deny: deny group:web')
    const groups = new Map([['group:team', ['group:web', 'send_message']]])
    assert.equal(
      verdict('web_search', { profile: 'minimal', allow: ['group:team'], groups }),
      'allow: allow group:team',
    )
    assert.equal(verdict('web_search', { deny: ['group:team'], groups }), 'deny: deny group:team')
  })

  it('ends on groups that contain each other', () => {
    const groups = new Map([
      ['group:a', ['group:b']],
      ['group:b', ['group:a', 'run_command']],
    ])
    assert.equal(verdict('run_command', { deny: ['group:a'], groups }), 'deny: deny group:a')
    assert.equal(verdict('read_file', { deny: ['group:a'], groups }), 'allow: profile full')
  })

  it('compares names trimmed, in lower case and with compatibility forms folded', () => {
    assert.equal(verdict('Skill', { deny: ['  SKILL '] }), 'deny: deny SKILL')
    assert.equal(decideOn('run_command', { deny: ['ｒｕｎ＿ｃｏｍｍａｎｄ'] }).type, 'deny')
  })

  it('understands the names the documents use, in every list and inside groups', () => {
    for (const alias of ['exec', 'bash', 'shell', 'Sandbox']) {
      assert.equal(decideOn('run_command', { deny: [alias] }).type, 'deny', alias)
    }
    assert.equal(decideOn('read_file', { profile: 'minimal', allow: ['read'] }).type, 'allow')
    const groups = new Map([['group:fs', ['read', 'write', 'edit', 'exec']]])
    assert.equal(decideOn('edit_file', { deny: ['group:fs'], groups }).type, 'deny')
  })

  it('reads send_message as nexus_send, in every list, in groups and for permissions', () => {
    const send = 'nexus_send'
    assert.equal(verdict(send, { deny: ['send_message'] }), 'deny: deny send_message')
    assert.equal(verdict(send, { ask: ['Send_Message'] }), 'ask: ask Send_Message')
    assert.equal(verdict(send, { profile: 'minimal', allow: ['send_message'] }), 'allow: allow send_message')
    assert.equal(verdict(send, { deny: ['group:messaging'] }), 'deny: deny group:messaging')
    const groups = new Map([['group:team', ['send_message']]])
    assert.equal(verdict(send, { deny: ['group:team'], groups }), 'deny: deny group:team')
    assert.equal(decideOn('send_message', { profile: 'minimal', allow: ['nexus_send'] }).type, 'deny')
    const permissions = presetPermissions('yolo', { presets: {}, workspace: '/work' })
    assert.ok(!('problem' in permissions))
    const disabled = grantsLayer(applyDelta(permissions, { disableTools: ['send_message'] }))
    const tool = toolNamed(send)
    const call = { tool: send, arguments: {}, agentId: 'main', origin: 'model' } as const
    assert.equal(decide({ call, tool, policy: rulesOf({}), layers: [disabled] }).type, 'deny')
  })

  it('gives a tool that calls itself by an alias nothing of our own tool', () => {
    assert.equal(decideOn('bash', { profile: 'minimal', allow: ['run_command'] }).type, 'deny')
  })

  it('reads mcp:server as every tool of that server and of no other', () => {
    const policy = { profile: 'minimal', allow: ['mcp:github'] } as const
    assert.equal(decideOn('mcp:github.create_issue', policy).type, 'allow')
    assert.equal(decideOn('mcp:githubx.create_issue', policy).type, 'deny')
    assert.equal(decideOn('mcp:github.delete', { allow: ['mcp:github'], deny: ['mcp:github.delete'] }).type, 'deny')
    assert.equal(decideOn('mcp:x.y', { deny: ['group:mcp'] }).type, 'deny')
  })

  it('understands * and globs', () => {
    assert.equal(decideOn('skills.run_cmd', { deny: ['skills.*'] }).type, 'deny')
    assert.equal(decideOn('read_file', { deny: ['*_file'] }).type, 'deny')
    assert.equal(decideOn('read_file', { profile: 'minimal', allow: ['*'] }).type, 'allow')
    assert.equal(decideOn('list_directory', { deny: ['*_file', '?ist'] }).type, 'allow')
  })

  it('denies calls about a skill from an untrusted workspace before anything else, and names the command to type', () => {
    const decision = decideOn('load_skill', {}, { skill: skillFrom(false) })
    assert.equal(decision.rule, 'trust')
    assert.match(decision.type === 'deny' ? decision.reason : '', /nexus trust/)
    assert.equal(decideOn('load_skill', {}, { skill: skillFrom(true) }).type, 'allow')
  })

  it('lets nothing run or change while the workspace waits for trust, whatever the policy allows', () => {
    const at = (name: string, waits: boolean): string => {
      const call = { tool: name, arguments: {}, agentId: 'main', origin: 'model' as const }
      const layers = [untrustedWorkspace(() => waits)]
      return decide({ call, tool: toolNamed(name), policy: rulesOf({ allow: [name] }), layers }).type
    }
    for (const name of ['run_command', 'write_file', 'edit_file', 'skills.run_cmd']) {
      assert.equal(at(name, true), 'deny', name)
      assert.equal(at(name, false), 'allow', name)
    }
    for (const name of ['read_file', 'list_directory', 'load_skill']) assert.equal(at(name, true), 'allow', name)
  })

  it('denies an unknown tool and offers the nearest, also for a name from another system', () => {
    const ask = (tool: string, knownTools: string[], origin: 'model' | 'mcp' = 'model'): string => {
      const call = { tool, arguments: {}, agentId: 'main', origin }
      const decision = decide({ call, tool: undefined, policy: rulesOf(), knownTools })
      assert.equal(decision.type, 'deny')
      return decision.type === 'deny' ? decision.reason : ''
    }
    assert.match(
      ask('run_comand', ['load_skill', 'run_command']),
      /Unknown tool: 'run_comand'\. Did you mean 'run_command'\?/,
    )
    assert.match(ask('bash', ['load_skill', 'run_command']), /Did you mean 'run_command'/)
    assert.match(ask('frobnicate', ['load_skill'], 'mcp'), /Tools: load_skill/)
    // The turn tells a model which tools it is offered.
    assert.doesNotMatch(ask('frobnicate', ['load_skill']), /Tools:/)
    assert.doesNotMatch(ask('\u001b[2Jx\u202e', []), /[\u001b\u202e]/)
  })

  it('asks for a tool that wants confirmation, even under full, and shows what would run', () => {
    const tool = toolNamed('send_message', { requiresConfirmation: true })
    const decision = decideOn(tool, { allow: ['send_message'] }, { arguments: { to: 'all\u202eteam' } })
    assert.equal(decision.type, 'ask')
    assert.equal(decision.rule, 'confirm send_message')
    assert.equal(decision.type === 'ask' && decision.question, `May 'send_message' run with {"to":"allteam"}?`)
    assert.equal(decideOn(tool, { deny: ['*'] }).type, 'deny')
  })

  it('does not deny a tool when only a capability of it is denied', () => {
    const tool = toolNamed('run_command', { capabilities: ['network'] })
    assert.equal(decideOn(tool, { deny: ['run_command.network', 'sandbox.network'] }).type, 'allow')
  })
})
