import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { combine, decide, type Layer } from '../../src/authorize/decide.ts'
import { combineLimits } from '../../src/authorize/limits.ts'
import type { CallLimits, Ruling } from '../../src/kernel/index.ts'
import { rulesOf, toolNamed } from './sample.ts'

const SEED = Number(process.env['NEXUS_TEST_SEED'] ?? Date.now() % 2 ** 31)
const laws = { seed: SEED, numRuns: 300 }
const log = `seed ${SEED} (NEXUS_TEST_SEED)`

const PATHS = ['/', '/w', '/w/a', '/w/a/b', '/w/ab', '/x', '/x/y']
const DOMAINS = ['*', '*.a.com', 'a.com', 'x.a.com', '*.x.a.com', 'b.org']
const some = (items: readonly string[]) => fc.array(fc.constantFrom(...items), { maxLength: 3 })
const limits: fc.Arbitrary<CallLimits> = fc.record(
  {
    timeoutMs: fc.nat(5),
    readPaths: some(PATHS),
    writePaths: some(PATHS),
    blockedPaths: some(PATHS),
    networkDomains: some(DOMAINS),
    secrets: some(['A', 'B', 'C']),
    deniedCapabilities: some(['network', 'secrets']),
    confirmation: fc.constant(true as const),
  },
  { requiredKeys: [] },
)
const ruling: fc.Arbitrary<Ruling> = fc.record(
  { layer: fc.constant('x'), type: fc.constantFrom('allow', 'ask', 'deny'), rule: fc.string(), limits },
  { requiredKeys: ['layer', 'type', 'rule'] },
)

const below = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`)
const reaches = (host: string, pattern: string): boolean =>
  pattern === '*' || pattern === host || (pattern.startsWith('*.') && host.endsWith(pattern.slice(1)))
const HOSTS = ['a.com', 'x.a.com', 'y.x.a.com', 'b.org', 'c.net']

/** What limits let a call do, asked point by point and without the algebra. */
function allowed(part: CallLimits): readonly boolean[] {
  const { readPaths, writePaths, blockedPaths = [], networkDomains, secrets, deniedCapabilities = [] } = part
  const isOpen = (path: string): boolean => !blockedPaths.some((blocked) => below(path, blocked))
  return [
    ...PATHS.map((path) => isOpen(path) && (readPaths?.some((each) => below(path, each)) ?? true)),
    ...PATHS.map((path) => isOpen(path) && (writePaths?.some((each) => below(path, each)) ?? true)),
    ...HOSTS.map((host) => networkDomains?.some((each) => reaches(host, each)) ?? true),
    ...['A', 'B', 'C'].map((name) => secrets?.includes(name) ?? true),
    ...['network', 'secrets'].map((name) => !deniedCapabilities.includes(name)),
    ...[1, 2, 3, 4, 5, 6].map((ms) => !part.timeoutMs || ms <= part.timeoutMs),
    part.confirmation !== true,
  ]
}

describe('limits of several rules', () => {
  it(`do not depend on order, grouping or repetition: ${log}`, () => {
    const one = (part: CallLimits): CallLimits => combineLimits([part])
    fc.assert(
      fc.property(limits, limits, limits, (a, b, c) => {
        assert.deepEqual(combineLimits([a, b]), combineLimits([b, a]))
        assert.deepEqual(combineLimits([combineLimits([a, b]), c]), combineLimits([a, combineLimits([b, c])]))
        assert.deepEqual(combineLimits([a, a]), one(a))
        assert.deepEqual(combineLimits([one(a), {}]), one(a))
      }),
      laws,
    )
  })

  it(`allow exactly what each of them allows: ${log}`, () => {
    fc.assert(
      fc.property(limits, limits, (a, b) => {
        const both = allowed(b)
        assert.deepEqual(
          allowed(combineLimits([a, b])),
          allowed(a).map((isAllowed, index) => isAllowed && both[index]),
        )
      }),
      laws,
    )
  })

  it(`never widen by one more rule, and neither does the verdict: ${log}`, () => {
    const strictness = { allow: 0, ask: 1, deny: 2 }
    fc.assert(
      fc.property(fc.array(ruling, { maxLength: 4 }), ruling, (chain, more) => {
        const before = combine(chain)
        const after = combine([...chain, more])
        const wide = allowed(before.limits)
        assert.ok(allowed(after.limits).every((isAllowed, index) => !isAllowed || wide[index]))
        if (chain.length > 0) assert.ok(strictness[after.strictest.type] >= strictness[before.strictest.type])
      }),
      laws,
    )
  })
})

describe('the limits of a decision', () => {
  const call = { tool: 'run_command', arguments: {}, agentId: 'main', origin: 'model' } as const
  const tool = toolNamed('run_command', { capabilities: ['network', 'secrets'] })

  it('take from a policy what it denies of a tool, and the chain names every rule', () => {
    const decision = decide({ call, tool, policy: rulesOf({ deny: ['run_command.secrets', 'sandbox.network'] }) })
    assert.deepEqual(
      { type: decision.type, limits: decision.limits },
      { type: 'allow', limits: { deniedCapabilities: ['network', 'secrets'], secrets: [], networkDomains: [] } },
    )
    assert.deepEqual(
      decision.chain.map(({ layer, rule }) => [layer, rule]),
      [['policy', 'profile full']],
    )
  })

  it('are those of every layer, whatever the layer is called', () => {
    const layer = (name: string, part: CallLimits, type: Ruling['type'] = 'allow'): Layer => ({
      name,
      decide: () => ({ type, rule: name, limits: part }),
    })
    const layers = [
      layer('grants', { timeoutMs: 5000, writePaths: ['/w'] }),
      layer('ceiling', { writePaths: ['/w/a', '/x'] }, 'ask'),
      layer('skill', { timeoutMs: 1000 }),
    ]
    const decision = decide({ call, tool, policy: rulesOf(), layers })
    assert.deepEqual([decision.type, decision.rule], ['ask', 'ceiling'])
    assert.deepEqual(decision.limits, { timeoutMs: 1000, writePaths: ['/w/a'] })
  })

  it('ask when a rule wants a confirmation, although every verdict is allow', () => {
    const layers: Layer[] = [
      { name: 'grants', decide: () => ({ type: 'allow', rule: 'confirm', limits: { confirmation: true } }) },
    ]
    const decision = decide({ call, tool, policy: rulesOf(), layers })
    assert.deepEqual([decision.type, decision.rule], ['ask', 'confirm'])
  })
})
