import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  applyDelta,
  type Ceiling,
  ceilingLayers,
  decide,
  exceeds,
  explain,
  grantsLayer,
  type PermissionDelta,
  type Permissions,
  presetPermissions,
  type PresetInput,
} from '../../src/authorize/index.ts'
import type { Decision, ToolOptions } from '../../src/kernel/index.ts'
import { rulesOf, toolNamed } from './sample.ts'

const SEED = Number(process.env['NEXUS_TEST_SEED'] ?? Date.now() % 2 ** 31)
const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1)
const WORKSPACE = '/w'
const SHIPPED = ['yolo', 'trusted', 'sandboxed', 'worker'] as const

function preset(name: string, presets: Record<string, PresetInput> = {}): Permissions {
  const found = presetPermissions(name, { presets, workspace: WORKSPACE })
  assert.ok(!('problem' in found), JSON.stringify(found))
  return found
}

/** The decision about one tool for an agent with these permissions and ceilings. */
function decideFor(
  permissions: Permissions,
  name: string,
  { ceilings = [], options = {} }: { ceilings?: readonly Ceiling[]; options?: ToolOptions } = {},
): Decision {
  return decide({
    call: { tool: name, arguments: {}, agentId: 'main', origin: 'model' },
    tool: toolNamed(name, options),
    policy: rulesOf(),
    layers: [grantsLayer(permissions), ...ceilingLayers(ceilings)],
  })
}

const ceilingOf = (permissions: Permissions, of = 'parent'): Ceiling => ({ of, permissions, policy: rulesOf() })

describe('presets', () => {
  it('yolo asks nothing and has every path; only shutdown must be named', () => {
    assert.equal(decideFor(preset('yolo'), 'run_command').type, 'allow')
    assert.equal(decideFor(preset('yolo'), 'run_command').limits.readPaths, undefined)
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
    assert.equal(decideFor(preset('open', presets), 'read_file').limits.readPaths, undefined)
    assert.deepEqual(decideFor(preset('none', presets), 'read_file').limits.readPaths, [])
    assert.equal(decideFor(preset('none', presets), 'run_command').type, 'deny')
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
    } = {},
  ): Decision =>
    decide({
      call: { tool: more.tool ?? 'run_command', arguments: {}, agentId: 'main', origin: 'model' },
      tool: toolNamed(more.tool ?? 'run_command'),
      policy: rulesOf({ ask: more.asks ?? [] }),
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
    assert.deepEqual(beyond('sandboxed', { toolOverrides: { sleep: { timeoutMs: 60_000 } } }), {
      what: 'delta',
      part: 'timeout',
      entry: 'sleep',
    })
  })
})

const TOOLS = ['read_file', 'write_file', 'run_command', 'web_fetch', 'nexus_create', 'nexus_send', 'sleep', 'mcp:a.b']
const PATHS = ['/', '/w', '/w/a', '/w/a/b', '/x']
const entry = fc.constantFrom(...TOOLS, 'group:fs', 'group:web', 'group:nexus', '*', '*_file', 'mcp:a')
const paths = fc.option(fc.array(fc.constantFrom(...PATHS), { maxLength: 2 }), { nil: null })
const toolPermission = fc.record(
  {
    enabled: fc.boolean(),
    allowedPaths: paths,
    timeoutMs: fc.nat(3),
    requiresConfirmation: fc.boolean(),
  },
  { requiredKeys: [] },
)
const delta: fc.Arbitrary<PermissionDelta> = fc.record(
  {
    disableTools: fc.array(entry, { maxLength: 2 }),
    enableTools: fc.array(entry, { maxLength: 2 }),
    allowedPaths: paths,
    addBlockedPaths: fc.array(fc.constantFrom(...PATHS), { maxLength: 1 }),
    toolOverrides: fc.dictionary(entry, toolPermission, { maxKeys: 2 }),
  },
  { requiredKeys: [] },
)
/** A spawn of a child under the agent before it, a delta to it, or a save and restore. */
const step = fc.oneof(
  fc.record({ type: fc.constant('spawn' as const), preset: fc.constantFrom(...SHIPPED), delta }),
  fc.record({ type: fc.constant('delta' as const), delta }),
  fc.constant({ type: 'restore' as const }),
)
const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const
const below = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`)

/** Whether limits let a call write at a path; the same for reading. */
function lets({ readPaths, writePaths, blockedPaths = [] }: Decision['limits'], path: string): [boolean, boolean] {
  const isFree = !blockedPaths.some((blocked) => below(path, blocked))
  return [readPaths, writePaths].map(
    (list) => isFree && (list === undefined || list.some((directory) => below(path, directory))),
  ) as [boolean, boolean]
}

interface Member {
  permissions: Permissions
  readonly ceilings: readonly Ceiling[]
}

describe('laws of permissions', () => {
  it('a child never gets what its parent lacks, after any spawns, deltas, saves and restores', (context) => {
    context.diagnostic(`seed ${SEED} (NEXUS_TEST_SEED)`)
    fc.assert(
      fc.property(fc.constantFrom(...SHIPPED), delta, fc.array(step, { maxLength: 8 }), (first, start, steps) => {
        const root = applyDelta(preset(first), start)
        const line: Member[] = [{ permissions: root, ceilings: [] }]
        for (const each of steps) {
          const last = line.at(-1) as Member
          if (each.type === 'spawn') {
            const ceilings = [...last.ceilings, ceilingOf(last.permissions, `${line.length}`)]
            line.push({ permissions: applyDelta(preset(each.preset), each.delta), ceilings })
          } else if (each.type === 'delta') {
            // A change of an agent is one within its own ceiling, too.
            const own = ceilingOf(last.permissions, 'own')
            line[line.length - 1] = {
              permissions: applyDelta(last.permissions, each.delta),
              ceilings: [...last.ceilings, own],
            }
          } else
            line[line.length - 1] = structuredClone(JSON.parse(JSON.stringify({ ...last, ceilings: [] }))) as Member
          if (each.type === 'restore')
            line[line.length - 1] = { permissions: (line.at(-1) as Member).permissions, ceilings: last.ceilings }
        }
        for (const [index, child] of line.slice(1).entries()) {
          const parent = line[index] as Member
          for (const name of TOOLS) {
            const [has, gets] = [parent, child].map((member) => decideFor(member.permissions, name, member))
            if (!has || !gets) continue
            // The parent's own question is not handed on; everything stricter is.
            const isOwnQuestion =
              has.type === 'ask' && has.chain.every((ruling) => ruling.type !== 'ask' || ruling.isPresetOwn)
            assert.ok(
              STRICTNESS[gets.type] >= (isOwnQuestion ? 0 : STRICTNESS[has.type]),
              `${name}: ${has.rule} ${gets.rule}`,
            )
            if (gets.type === 'deny') continue
            for (const path of PATHS)
              for (const at of [0, 1] as const)
                assert.ok(!lets(gets.limits, path)[at] || lets(has.limits, path)[at], `${name} ${path}`)
            assert.ok((gets.limits.timeoutMs ?? Infinity) <= (has.limits.timeoutMs ?? Infinity))
          }
        }
      }),
      { seed: SEED, numRuns: 400 * ROUNDS },
    )
  })

  it('one more disabled tool is never less strict, and the explanation is the decision', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SHIPPED), delta, entry, fc.constantFrom(...TOOLS), (first, start, off, name) => {
        const before = applyDelta(preset(first), start)
        const after = applyDelta(before, { disableTools: [off] })
        assert.ok(STRICTNESS[decideFor(after, name).type] >= STRICTNESS[decideFor(before, name).type])
        const input = {
          call: { tool: name, arguments: {}, agentId: 'main', origin: 'model' as const },
          tool: toolNamed(name),
          policy: rulesOf(),
          layers: [grantsLayer(after)],
        }
        assert.deepEqual(explain(input).decision, decide(input))
      }),
      { seed: SEED, numRuns: 400 * ROUNDS },
    )
  })

  it('a request that is not refused gives no tool and no path that the parent lacks', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SHIPPED),
        delta,
        fc.constantFrom(...SHIPPED),
        delta,
        (first, start, base, asked) => {
          const parent = applyDelta(preset(first), start)
          const excess = exceeds(parent, { base: preset(base), delta: asked }, new Map())
          if (excess) return
          for (const name of (asked.enableTools ?? []).filter((one) => TOOLS.includes(one)))
            assert.doesNotMatch(JSON.stringify(decideFor(parent, name).chain), /is disabled/)
          for (const path of asked.allowedPaths ?? [])
            assert.ok(parent.allowedPaths === null || parent.allowedPaths.some((directory) => below(path, directory)))
        },
      ),
      { seed: SEED, numRuns: 400 * ROUNDS },
    )
  })
})
