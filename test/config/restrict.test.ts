import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CONFIG_SCHEMA } from '../../src/config/schema/schema.ts'
import { makePlace } from './place.ts'

/** The parts of a valibot schema from which a value that fits can be made. */
interface Node {
  readonly type: string
  readonly entries?: Readonly<Record<string, Node>>
  readonly options?: readonly (Node | string)[]
  readonly item?: Node
  readonly value?: Node
  readonly wrapped?: Node
  readonly literal?: unknown
  readonly pipe?: readonly Node[]
  readonly requirement?: unknown
}

interface Sample {
  readonly path: string
  readonly document: unknown
}

/** All that an untrusted file may say; a new key is not in it and must be refused. Kept here a second time on purpose. */
const MAY_TIGHTEN = [
  'skills.disabled_skills',
  'skills.entries.*.enabled',
  'agents.*.skills',
  'agents.*.tools.ask',
  'agents.*.tools.deny',
  'agents.*.tools.profile',
  'execution.sandbox',
  'execution.timeoutMs',
  'execution.maxOutputBytes',
  'execution.workspace.protected',
  'execution.network.deniedDomains',
  'limits.maxIterations',
  'limits.toolTimeoutMs',
  'limits.maxConcurrentTools',
  'limits.maxRunning',
]
/** What only names the agent that is meant. */
const NAMES = ['agents.*.id']

/** For every setting that the schema knows, a document that holds little else. */
function samples(node: Node, path: string, wrap: (value: unknown) => unknown): Sample[] {
  if (node.wrapped) return samples(node.wrapped, path, wrap)
  const options = (node.options ?? []).filter((option): option is Node => typeof option === 'object')
  if (options.length > 0) return options.flatMap((option) => samples(option, path, wrap))
  const below = (key: string): string => (path === '' ? key : `${path}.${key}`)
  if (node.entries) {
    const needed = Object.entries(node.entries).filter(([, member]) => member.type !== 'optional')
    const base = Object.fromEntries(needed.map(([key, member]) => [key, path === 'agents.*' ? 'main' : leaf(member)]))
    return Object.entries(node.entries)
      .filter(fitsSomething)
      .flatMap(([key, member]) =>
        samples(member, below(key), (value) =>
          wrap({ ...base, [key]: key === 'id' && path === 'agents.*' ? 'main' : value }),
        ),
      )
  }
  if (node.item?.entries || node.item?.options) return samples(node.item, below('*'), (value) => wrap([value]))
  if (node.type === 'record' && node.value) {
    const key = path === 'tools.groups' ? 'group:x' : 'X'
    return samples(node.value, below('*'), (value) => wrap({ [key]: value }))
  }
  return [{ path, document: wrap(leaf(node)) }]
}

/** False for what is an error in every file. */
function fitsSomething([, { type, wrapped }]: [string, Node]): boolean {
  return (wrapped?.type ?? type) !== 'never'
}

/** Some value that the schema accepts. */
function leaf(node: Node): unknown {
  const requirement = (type: string): unknown => stepsOf(node).find((step) => step.type === type)?.requirement
  switch (node.type) {
    case 'optional':
    case 'nullable':
      return leaf(node.wrapped as Node)
    case 'literal':
      return node.literal
    case 'boolean':
      return true
    case 'number':
      return requirement('max_value') ?? 1
    case 'picklist':
      return node.options?.at(-1)
    case 'array':
      return [leaf(node.item as Node)]
    case 'union':
    case 'variant':
      return leaf(node.options?.[0] as Node)
    case 'string':
      return text(requirement('regex') as RegExp | undefined)
    default:
      return 'anything'
  }
}

/** The checks of a value, those of a value that was given a description among them. */
function stepsOf({ pipe = [] }: Node): Node[] {
  return pipe.flatMap((step) => [...stepsOf(step), ...(step.requirement === undefined ? [] : [step])])
}

function text(form: RegExp | undefined): string {
  const candidates = ['local', 'https://evil.example', '24h', 'openai/evil', 'group:x', 'evil.example', 'A']
  return candidates.find((candidate) => form === undefined || form.test(candidate)) ?? 'local'
}

const SAMPLES = samples(CONFIG_SCHEMA as unknown as Node, '', (value) => value).filter(
  ({ path }) => !NAMES.includes(path),
)

describe('the nexus.yaml of an untrusted workspace', () => {
  it('is tried with every setting that the schema knows', () => {
    assert.ok(SAMPLES.length > 150, `${SAMPLES.length} settings`)
    const tried = new Set(SAMPLES.map(({ path }) => path))
    for (const path of MAY_TIGHTEN) assert.ok(tried.has(path), path)
    for (const path of ['server.host', 'mcp.servers.*.command', 'skills.custom', 'agents.*.preset', 'store.url'])
      assert.ok(tried.has(path), path)
  })

  it('changes nothing by any setting that is not in the list, and each is reported', async () => {
    await using place = await makePlace({ user: 'skills: {entries: {X: {config: {a: 1}}}}', local: '' })
    const before = (await place.load()).config
    for (const { path, document } of SAMPLES.filter((sample) => !MAY_TIGHTEN.includes(sample.path))) {
      const written = JSON.stringify(document)
      await place.write('workspace/nexus.yaml', written)
      const { config, diagnostics, secrets } = await place.load()
      const codes = new Set(diagnostics.map(({ code }) => code))
      assert.deepEqual(codes, new Set(['config-untrusted']), `${path}: ${written} ${JSON.stringify(diagnostics)}`)
      // An agent that is only named adds nothing.
      const { agents: _, ...values } = config.values
      assert.deepEqual({ ...config, values: Object.assign(Object.create(null), values) }, before, path)
      assert.deepEqual(secrets, [])
    }
  })

  it('narrows the profile of an agent and never changes it to one with other tools', async () => {
    await using place = await makePlace({ user: '', local: '' })
    const profiles = ['minimal', 'messaging', 'coding', 'full'] as const
    const narrower = ['full minimal', 'full messaging', 'full coding', 'messaging minimal']
    for (const has of profiles)
      for (const asked of profiles) {
        await place.write('home/.nexus/nexus.yaml', `agents: [{id: main, tools: {profile: ${has}}}]`)
        await place.write('workspace/nexus.yaml', `agents: [{id: main, tools: {profile: ${asked}}}]`)
        const { config, diagnostics } = await place.load()
        const isTaken = has === asked || narrower.includes(`${has} ${asked}`)
        const codes = diagnostics.map(({ code }) => code)
        assert.equal(config.agents[0]?.tools.profile, isTaken ? asked : has, `${has} ${asked}`)
        assert.deepEqual(codes, isTaken ? [] : ['config-untrusted'], `${has} ${asked}`)
      }
  })
})

describe('an untrusted workspace and an agent that extends another', () => {
  const user = `agents:
  - { id: base, skills: [pdf], tools: { profile: minimal, deny: [run_command] } }
  - { id: main, extends: base }
  - { id: free }
`
  const ATTACKS = [
    'agents: [{id: main}]',
    'agents: [{id: main, tools: {}}]',
    'agents: [{id: main, tools: {deny: [write_file]}}]',
    'agents: [{id: main, tools: {profile: full}}]',
    'agents: [{id: main, tools: {profile: coding}}]',
    'agents: [{id: main, tools: {deny: [], allow: [run_command]}}]',
    'agents: [{id: main, skills: [pdf, gh]}]',
    'agents: [{id: main, extends: free}]',
    'agents: [{id: base, extends: free, tools: {profile: full}}]',
    'agents: [{id: base, skills: [gh, pdf], tools: {deny: []}}]',
  ]
  for (const local of ATTACKS) {
    it(`do not widen what it inherits, also not by a default: ${local}`, async () => {
      await using place = await makePlace({ user, local })
      const { config } = await place.load()
      const main = config.agents.find(({ id }) => id === 'main')
      assert.equal(main?.tools.profile, 'minimal')
      assert.ok(main.tools.deny.includes('run_command'))
      assert.deepEqual(main.skills, ['pdf'])
      assert.deepEqual(main.tools.allow, [])
    })
  }
})
