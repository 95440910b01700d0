import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { gate, type GateRules } from '../../../src/skills/gate/index.ts'
import type { TargetFacts } from '../../../src/kernel/index.ts'
import { facts, reasonsFor, rules, sketch, type Sketch } from './skills.ts'

function codes(parts: Sketch, config: GateRules = rules(), target: TargetFacts = facts()): string[] {
  return reasonsFor(sketch(parts), target, config).map(({ code }) => code)
}

const GREEDY = {
  metadata: { os: ['darwin'] },
  requires: { bins: ['gh'], anyBins: ['rg'], env: ['TOKEN'], config: ['a.b'] },
}

test('every reason is reported, in the order of the gates', () => {
  const config = rules({ disabledSkills: ['github'], allowList: [], allowsToolGroup: () => false })
  const frontmatter = { metadata: { toolGroups: ['group:web'] } }
  assert.deepEqual(codes({ ...GREEDY, description: ' ', trusted: false, frontmatter }, config), [
    'missing-description',
    'untrusted',
    'disabled',
    'not-allowed',
    'os',
    'bin',
    'any-bins',
    'env',
    'config',
    'tool-group',
  ])
})

test('always lifts bins, anyBins, env and config, but neither OS nor disabled nor the allow-list', () => {
  const always = { ...GREEDY, metadata: { ...GREEDY.metadata, always: true } }
  assert.deepEqual(codes(always), ['os'])
  assert.deepEqual(codes(always, rules(), facts({ os: 'darwin' })), [])
  assert.deepEqual(codes(always, rules({ disabledSkills: ['github'], allowList: [] })), [
    'disabled',
    'not-allowed',
    'os',
  ])
})

test('always of an untrusted copy counts for nothing', () => {
  const always = { ...GREEDY, metadata: { always: true }, trusted: false }
  assert.deepEqual(codes(always), ['untrusted', 'bin', 'any-bins', 'env', 'config'])
})

test('an untrusted copy is held with the command that trusts it', () => {
  const [reason] = reasonsFor(sketch({ trusted: false }), facts(), rules())
  assert.equal(reason?.code, 'untrusted')
  assert.match(reason.fix ?? '', /nexus trust/)
})

test('a skill is disabled by its name, by its key, and by a look-alike of its name', () => {
  const off = (key: string): GateRules =>
    rules({ entries: new Map([[key, { enabled: false, hasApiKey: false, env: new Set<string>() }]]) })
  assert.deepEqual(codes({}, rules({ disabledSkills: ['github'] })), ['disabled'])
  assert.deepEqual(codes({}, off('github')), ['disabled'])
  assert.deepEqual(codes({ metadata: { skillKey: 'gh' } }, off('gh')), ['disabled'])
  assert.deepEqual(codes({ metadata: { skillKey: 'gh' } }, off('github')), ['disabled'])
  assert.deepEqual(codes({ name: 'git\u200bhub' }, off('github')), ['disabled'])
  assert.deepEqual(codes({ name: 'git\u200bhub' }, rules({ disabledSkills: ['github'] })), ['disabled'])
  assert.deepEqual(codes({}, off('gitlab')), [])
  assert.equal(reasonsFor(sketch({}), facts(), off('github'))[0]?.text, 'disabled in config')
})

test('enabled: true does not undo disabled_skills', () => {
  const entries = new Map([['github', { enabled: true, hasApiKey: false, env: new Set<string>() }]])
  assert.deepEqual(codes({}, rules({ entries, disabledSkills: ['github'] })), ['disabled'])
})

test('an entry gives its secrets to trusted copies only, but switches off every copy', () => {
  const needs = { requires: { env: ['TOKEN'] }, metadata: { primaryEnv: 'TOKEN' } }
  const entry = { hasApiKey: true, env: new Set(['TOKEN']) }
  const given = rules({ entries: new Map([['github', entry]]) })
  assert.deepEqual(codes(needs, given), [])
  assert.deepEqual(codes({ ...needs, trusted: false }, given), ['untrusted', 'env'])
  const off = rules({ entries: new Map([['github', { ...entry, enabled: false }]]) })
  assert.deepEqual(codes({ ...needs, trusted: false }, off), ['untrusted', 'disabled', 'env'])
})

test('skillKey of an untrusted copy reaches nothing of another skill', () => {
  const thief = {
    name: 'thief',
    trusted: false,
    metadata: { skillKey: 'github', primaryEnv: 'T' },
    requires: { env: ['T'] },
  }
  const given = rules({ entries: new Map([['github', { hasApiKey: true, env: new Set<string>() }]]) })
  assert.deepEqual(codes(thief, given), ['untrusted', 'env'])
})

test('an allow-list is absent for all, a list of names or addresses, or empty for none', () => {
  assert.deepEqual(codes({}), [])
  assert.deepEqual(codes({}, rules({ allowList: ['github'] })), [])
  assert.deepEqual(codes({}, rules({ allowList: ['local/github'] })), [])
  assert.deepEqual(codes({}, rules({ allowList: ['bundled/github'] })), ['not-allowed'])
  assert.deepEqual(codes({}, rules({ allowList: [] })), ['not-allowed'])
})

test('names of the prototype are ordinary names', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    assert.deepEqual(codes({ name }), [], name)
    assert.deepEqual(codes({ name }, rules({ disabledSkills: [name] })), ['disabled'], name)
    assert.deepEqual(codes({ requires: { bins: [name] } }), ['bin'], name)
  }
})

test('a target is asked once for each binary, however many skills need it', () => {
  const asked: string[] = []
  const target = { ...facts(), hasBin: (name: string) => asked.push(name) > 0 }
  const skills = Array.from({ length: 20 }, (_, index) =>
    sketch({ name: `s${index}`, requires: { bins: ['git', 'gh'] } }),
  )
  assert.equal(gate(skills, target, rules()).ready.length, 20)
  assert.deepEqual(asked, ['git', 'gh'])
})

const words = fc.subarray(['a', 'b', 'c', 'd'])
const anySketch = fc.record({
  name: fc.constantFrom('one', 'two', '__proto__'),
  trusted: fc.boolean(),
  description: fc.constantFrom('', 'text'),
  metadata: fc.record({ always: fc.boolean(), os: fc.subarray(['linux', 'macos']) }),
  requires: fc.record({ bins: words, anyBins: words, env: words, config: words }),
})
const world = fc.record({ bins: words, env: words, config: words, disabled: fc.subarray(['one', 'two']) })

test('each skill is in exactly one list, in the order found', () => {
  fc.assert(
    fc.property(fc.array(anySketch, { maxLength: 8 }), world, (sketches, { bins, env, config, disabled }) => {
      const skills = sketches.map(sketch)
      const set = rules({ disabledSkills: disabled, configTruthy: (path) => config.includes(path) })
      const { ready, held } = gate(skills, facts({ bins, env }), set)
      assert.equal(ready.length + held.length, skills.length)
      const heldSkills = new Set(held.map(({ skill }) => skill))
      assert.deepEqual(
        ready,
        skills.filter((skill) => !heldSkills.has(skill)),
      )
      assert.deepEqual(
        held.map(({ skill }) => skill),
        skills.filter((skill) => heldSkills.has(skill)),
      )
      for (const { reasons } of held) assert.notEqual(reasons.length, 0)
    }),
  )
})

test('one more fact never turns a ready skill into a held one', () => {
  fc.assert(
    fc.property(anySketch, world, fc.constantFrom('a', 'b', 'c', 'd'), (parts, { bins, env, config }, extra) => {
      const before = codes(parts, rules({ configTruthy: (path) => config.includes(path) }), facts({ bins, env }))
      const more = rules({ configTruthy: (path) => path === extra || config.includes(path) })
      const after = codes(parts, more, facts({ bins: [...bins, extra], env: [...env, extra] }))
      assert.ok(after.every((code) => before.includes(code)))
      assert.ok(after.length <= before.length)
    }),
  )
})

test('an entry of an allow-list that is an address means no skill that has it for its name', () => {
  const real = sketch({ name: 'github' })
  const pretender = sketch({ name: 'local/github' })
  const listed = rules({ allowList: ['local/github'] })
  assert.deepEqual(gate([pretender, real], facts(), listed).ready, [real])
  assert.deepEqual(gate([pretender], facts(), listed).ready, [pretender], 'without such an address it is a name')
  const own = rules({ allowList: ['local/local/github'] })
  assert.deepEqual(gate([pretender, real], facts(), own).ready, [pretender])
})
