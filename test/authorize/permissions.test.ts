import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  applyDelta,
  type Ceiling,
  ceilingLayers,
  decide,
  exceeds,
  grantsLayer,
  type Permissions,
  presetPermissions,
} from '../../src/authorize/index.ts'
import type { Decision, PermissionDelta, PresetInput } from '../../src/kernel/index.ts'
import { ceilingOf, decideFor, preset, WORKSPACE } from './permission-rig.ts'
import { rulesOf, toolNamed } from './sample.ts'

describe('presets', () => {
  it('yolo asks nothing and has every path; only shutdown must be named', () => {
    assert.equal(decideFor(preset('yolo'), 'run_command').type, 'allow')
    assert.deepEqual(decideFor(preset('yolo'), 'run_command').limits.readPaths, ['/'])
    assert.equal(decideFor(preset('yolo'), 'nexus_shutdown').type, 'deny')
    const named = applyDelta(preset('yolo'), { enableTools: ['nexus_shutdown'] })
    assert.equal(decideFor(named, 'nexus_shutdown').type, 'allow')
  })

  it('trusted asks about what destroys, and works in the workspace', () => {
    for (const name of ['run_command', 'write_file', 'edit_file', 'nexus_destroy', 'skills.run_cmd'])
      assert.equal(decideFor(preset('trusted'), name).type, 'ask', name)
    for (const name of ['read_file', 'web_search', 'load_skill', 'nexus_send'])
      assert.equal(decideFor(preset('trusted'), name).type, 'allow', name)
    assert.deepEqual(decideFor(preset('trusted'), 'read_file').limits.readPaths, ['/w'])
  })

  it('sandboxed is confined and not asked: no network, the workspace only', () => {
    const { type, limits } = decideFor(preset('sandboxed'), 'run_command')
    assert.equal(type, 'allow')
    assert.deepEqual([limits.readPaths, limits.writePaths, limits.networkDomains], [['/w'], ['/w'], []])
    for (const name of ['web_fetch', 'web_search', 'nexus_create', 'nexus_send'])
      assert.equal(decideFor(preset('sandboxed'), name).type, 'deny', name)
  })

  it('worker writes nothing, by no tool', () => {
    for (const name of ['write_file', 'edit_file', 'nexus_create'])
      assert.equal(decideFor(preset('worker'), name).type, 'deny', name)
    assert.deepEqual(decideFor(preset('worker'), 'run_command').limits.writePaths, [])
    assert.equal(decideFor(preset('worker'), 'nexus_send').type, 'allow')
  })

  it('worker writes with the file tools that are enabled explicitly, in its paths; its commands still do not', () => {
    const presets: Record<string, PresetInput> = {
      helper: { extends: 'worker' },
      writer: { extends: 'worker', allowedPaths: ['/w/a'], tools: { write_file: { enabled: true } } },
    }
    for (const [base, entry] of [
      ['worker', 'write_file'],
      ['helper', 'group:fs'],
      ['worker', '*'],
    ] as const) {
      const enabled = applyDelta(preset(base, presets), { enableTools: [entry] })
      const { type, limits } = decideFor(enabled, 'write_file')
      assert.deepEqual([type, limits.writePaths], ['allow', ['/w']], `${base} ${entry}`)
      assert.deepEqual(decideFor(enabled, 'run_command').limits.writePaths, [])
    }
    const writer = preset('writer', presets)
    assert.deepEqual(decideFor(writer, 'write_file').limits.writePaths, ['/w/a'])
    assert.equal(decideFor(writer, 'edit_file').type, 'deny')
    assert.equal(decideFor(writer, 'write_file', { ceilings: [ceilingOf(preset('worker'))] }).type, 'deny')
    assert.deepEqual(
      decideFor(preset('sandboxed'), 'write_file', { ceilings: [ceilingOf(writer)] }).limits.writePaths,
      ['/w/a'],
    )
  })

  it('of the configuration extend others, trusted when they name none; null is any path and [] none', () => {
    const presets: Record<string, PresetInput> = {
      narrow: { extends: 'later', allowedPaths: ['/w/a'], disableTools: ['group:fs'] },
      later: { blockedPaths: ['/w/secret'], tools: { read_file: { requiresConfirmation: true } } },
      open: { allowedPaths: null },
      none: { allowedPaths: [] },
    }
    const narrow = preset('narrow', presets)
    assert.deepEqual([narrow.level, narrow.allowedPaths, narrow.blockedPaths], ['trusted', ['/w/a'], ['/w/secret']])
    assert.equal(decideFor(narrow, 'read_file').type, 'deny')
    assert.deepEqual(decideFor(preset('open', presets), 'read_file').limits.readPaths, ['/'])
    for (const name of ['run_command', 'read_file', 'list_directory', 'write_file', 'edit_file'])
      assert.equal(decideFor(preset('none', presets), name).type, 'deny', name)
    assert.equal(decideFor(preset('none', presets), 'load_skill').type, 'allow')
  })

  it('block paths whatever they allow, for the agent and for its children', () => {
    const blocked = applyDelta(preset('yolo'), { addBlockedPaths: ['/w/secret'] })
    assert.deepEqual(decideFor(blocked, 'read_file').limits.blockedPaths, ['/w/secret'])
    const child = decideFor(preset('trusted'), 'read_file', { ceilings: [ceilingOf(blocked)] })
    assert.deepEqual(child.limits.blockedPaths, ['/w/secret'])
  })

  it('that do not exist or extend each other are a problem, never another preset', () => {
    const context = { presets: { a: { extends: 'b' }, b: { extends: 'a' } }, workspace: WORKSPACE }
    assert.deepEqual(presetPermissions('trustde', context), { problem: 'unknown', name: 'trustde' })
    assert.equal('problem' in presetPermissions('a', context), true)
    for (const name of ['__proto__', 'constructor', 'toString'])
      assert.deepEqual(presetPermissions(name, context), { problem: 'unknown', name })
  })
})

describe('a delta', () => {
  it('disables, then enables, then sets single tools', () => {
    const changed = applyDelta(preset('trusted'), {
      disableTools: ['group:fs'],
      enableTools: ['read_file'],
      toolOverrides: { list_directory: { enabled: true, timeoutMs: 5, allowedPaths: ['/w/a', '/x'] } },
    })
    assert.equal(decideFor(changed, 'read_file').type, 'allow')
    assert.equal(decideFor(changed, 'write_file').type, 'deny')
    assert.deepEqual(decideFor(changed, 'list_directory').limits, {
      timeoutMs: 5,
      readPaths: ['/w/a'],
      writePaths: ['/w/a'],
    })
  })
})

describe('network', () => {
  const command = (permissions: Permissions, ...ceilings: readonly Ceiling[]) =>
    decideFor(permissions, 'run_command', { ceilings, options: { capabilities: ['network'] } }).limits
  const only = (network: PermissionDelta['network']) => applyDelta(preset('yolo'), { network })

  it('true adds no limit, false closes every host, a list is what commands and web tools may reach', () => {
    assert.equal(command(only(true)).networkDomains, undefined)
    assert.deepEqual(command(only(false)), {
      ...command(only(false)),
      networkDomains: [],
      deniedCapabilities: ['network'],
    })
    assert.deepEqual(command(only(['api.acme.io', '*.acme.org'])).networkDomains, ['*.acme.org', 'api.acme.io'])
    assert.equal(decideFor(only(false), 'web_fetch').type, 'deny')
    assert.deepEqual(decideFor(only(['api.acme.io']), 'web_fetch').limits.networkDomains, ['api.acme.io'])
    assert.deepEqual(command(only([])).networkDomains, [])
  })

  it('of a child is never wider than that of its parents', () => {
    const parent = ceilingOf(only(['api.acme.io', '*.acme.org']))
    for (const [wish, got] of [
      [true, ['*.acme.org', 'api.acme.io']],
      [['a.acme.org', 'evil.io'], ['a.acme.org']],
      [['evil.io'], []],
      [false, []],
    ] as const)
      assert.deepEqual(command(only(wish), parent).networkDomains, got, String(wish))
    assert.deepEqual(command(only(true), parent, ceilingOf(only(false))).networkDomains, [])
  })
})

describe('a ceiling', () => {
  it('carries the capabilities that the policy of a parent denies', () => {
    const parent = ceilingOf(preset('yolo'), rulesOf({ deny: ['sandbox.network', 'run_command.secrets'] }))
    const capabilities = ['network', 'secrets']
    const child = (name: string) => decideFor(preset('yolo'), name, { ceilings: [parent], options: { capabilities } })
    const { networkDomains, secrets, deniedCapabilities } = child('run_command').limits
    assert.deepEqual([networkDomains, secrets, deniedCapabilities], [[], [], capabilities])
    assert.deepEqual([child('web_fetch').type, child('web_fetch').rule], ['deny', 'network'])
  })
})

describe('confirmation', () => {
  it('that is required asks under every preset; false silences the own question of the preset only', () => {
    const asking = applyDelta(preset('yolo'), { toolOverrides: { read_file: { requiresConfirmation: true } } })
    assert.equal(decideFor(asking, 'read_file').type, 'ask')
    const silent = applyDelta(preset('trusted'), { toolOverrides: { run_command: { requiresConfirmation: false } } })
    assert.equal(decideFor(silent, 'run_command').type, 'allow')
    assert.equal(
      decideFor(silent, 'run_command', {
        ceilings: [
          ceilingOf(
            applyDelta(preset('trusted'), {
              toolOverrides: { run_command: { requiresConfirmation: true } },
            }),
          ),
        ],
      }).type,
      'ask',
    )
    // The preset's own question is no part of a ceiling.
    assert.equal(
      decideFor(preset('sandboxed'), 'run_command', { ceilings: [ceilingOf(preset('trusted'))] }).type,
      'allow',
    )
  })
})

describe('a skill in use', () => {
  const ask = (
    skill: { isTrusted?: boolean; allowedTools?: string[]; restricts?: boolean },
    more: {
      permissions?: Permissions
      asks?: string[]
      tool?: string
      ceilings?: readonly Ceiling[]
      groups?: ReadonlyMap<string, readonly string[]>
    } = {},
  ): Decision =>
    decide({
      call: { tool: more.tool ?? 'run_command', arguments: {}, agentId: 'main', origin: 'model' },
      tool: toolNamed(more.tool ?? 'run_command'),
      policy: { ...rulesOf({ ask: more.asks ?? [] }), groups: more.groups ?? new Map() },
      layers: [grantsLayer(more.permissions ?? preset('trusted')), ...ceilingLayers(more.ceilings ?? [])],
      skillsInUse: [{ name: 'x', isTrusted: true, allowedTools: ['Bash'], restricts: false, ...skill }],
    })

  it('answers the own question of a preset when it is trusted, and nothing stricter', () => {
    assert.equal(ask({}).type, 'allow')
    assert.equal(ask({}).chain.at(-1)?.rule, 'allowed-tools of x')
    assert.equal(ask({ isTrusted: false }).type, 'ask')
    assert.equal(ask({ allowedTools: ['read_file'] }).type, 'ask')
    assert.equal(ask({}, { asks: ['run_command'] }).type, 'ask')
    const confirmed = applyDelta(preset('trusted'), { toolOverrides: { run_command: { requiresConfirmation: true } } })
    assert.equal(ask({}, { permissions: confirmed }).type, 'ask')
    assert.equal(ask({}, { ceilings: [ceilingOf(confirmed)] }).type, 'ask')
    const off = applyDelta(preset('trusted'), { disableTools: ['run_command'] })
    assert.equal(ask({}, { permissions: off }).type, 'deny')
  })

  it('means the shipped group by its name, also where a policy replaces that group', () => {
    const groups = new Map([['group:web', ['run_command']]])
    assert.equal(ask({ allowedTools: ['group:web'] }, { groups }).type, 'ask')
  })

  it('that restricts leaves its own tools and those of skills, from any source', () => {
    const restricting = { restricts: true, isTrusted: false, allowedTools: ['read_file'] }
    assert.equal(ask(restricting).type, 'deny')
    assert.equal(ask(restricting, { tool: 'read_file' }).type, 'allow')
    assert.equal(ask(restricting, { tool: 'load_skill' }).type, 'allow')
    assert.equal(ask({ restricts: true, isTrusted: false, allowedTools: [] }, { tool: 'read_file' }).type, 'deny')
  })
})

describe('a child that asks for more than its parent has', () => {
  const beyond = (name: string, delta: PermissionDelta = {}, parent = preset('sandboxed')): unknown =>
    exceeds(parent, { base: preset(name), delta }, new Map())

  it('is refused a higher preset and every explicit part beyond the parent, and not what a preset brings along', () => {
    assert.deepEqual(beyond('trusted'), { what: 'preset', preset: 'trusted' })
    assert.equal(beyond('worker'), undefined)
    assert.deepEqual(beyond('sandboxed', { allowedPaths: null }), { what: 'delta', part: 'paths', entry: '/' })
    assert.deepEqual(beyond('sandboxed', { allowedPaths: ['/w/a', '/x'] }), {
      what: 'delta',
      part: 'paths',
      entry: '/x',
    })
    assert.equal(beyond('sandboxed', { allowedPaths: ['/w/a'] }), undefined)
    for (const entry of ['nexus_create', 'group:nexus', 'nexus_*', '*'])
      assert.deepEqual(beyond('sandboxed', { enableTools: [entry] }), { what: 'delta', part: 'tool', entry })
  })

  it('is refused more time than the tool has, and 0 is without an end', () => {
    const refused = { what: 'delta', part: 'timeout', entry: 'sleep' }
    for (const timeoutMs of [60_000, 0])
      assert.deepEqual(beyond('sandboxed', { toolOverrides: { sleep: { timeoutMs } } }), refused, `${timeoutMs}`)
    assert.equal(beyond('sandboxed', { toolOverrides: { sleep: { timeoutMs: 30_000 } } }), undefined)
    const unlimited = applyDelta(preset('sandboxed'), { toolOverrides: { sleep: { timeoutMs: 0 } } })
    assert.equal(beyond('sandboxed', { toolOverrides: { sleep: { timeoutMs: 0 } } }, unlimited), undefined)
  })

  it('is refused paths of a tool that are outside of the paths of the tool or of its agent, by any name of it', () => {
    const parent = applyDelta(preset('sandboxed'), {
      allowedPaths: ['/w/a'],
      toolOverrides: { read_file: { allowedPaths: ['/w', '/x'] }, write_file: { allowedPaths: ['/w/a/b'] } },
    })
    const paths = (entry: string, ...allowedPaths: string[]): unknown =>
      beyond('sandboxed', { toolOverrides: { [entry]: { allowedPaths } } }, parent)
    for (const path of ['/w', '/x', '/'])
      assert.deepEqual(paths('read_file', path), { what: 'delta', part: 'paths', entry: path })
    assert.equal(paths('read_file', '/w/a', '/w/a/b'), undefined)
    for (const entry of ['write', 'group:fs', '*_file', '*'])
      assert.deepEqual(paths(entry, '/w/a'), { what: 'delta', part: 'paths', entry: '/w/a' }, entry)
    // A tool without paths of its own has those of its agent.
    assert.equal(beyond('sandboxed', { toolOverrides: { read_file: { allowedPaths: null } } }, parent), undefined)
  })
})
