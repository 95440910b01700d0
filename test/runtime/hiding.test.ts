/** Which tools a model is offered, for each surface and front; and that hiding decides nothing. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Call } from '../../src/kernel/index.ts'
import { LOADERS } from '../../src/config/schema/skills.ts'
import { listTools } from '../../src/apps/mcp/tools.ts'
import { type AgentHandle, parsePolicy, type Parts } from '../../src/public/index.ts'
import { defineTool } from '../../src/tools/index.ts'
import { callOf, codeOf, workshop } from './rig.ts'

const SURFACES = LOADERS.reduce<readonly (readonly string[])[]>(
  (sets, loader) => [...sets, ...sets.map((set) => [...set, loader])],
  [[]],
)
const ORIGINS: readonly Call['origin'][] = ['model', 'library', 'cli', 'mcp', 'rpc']
const ARGUMENTS = {
  load_skill: { skill_name: 'one' },
  read_skill_file: { skill_name: 'one', file_path: 'SKILL.md' },
  Skill: { name: 'one' },
}

const CONFIG = { tools: { groups: new Map() }, agents: [], mcp: { tools: [] as readonly string[] } }

const offeredBy = (agent: AgentHandle): readonly string[] => agent.definitions().map(({ name }) => name)
/** What an MCP client is offered. */
const listedBy = (agent: AgentHandle): readonly string[] =>
  listTools({ agent, local: { config: CONFIG } } as unknown as Parameters<typeof listTools>[0]).tools.map(
    ({ name }) => name,
  )

function partsWith(policy: Parameters<typeof parsePolicy>[0], surface: readonly string[]): Partial<Parts> {
  const add = defineTool({ name: 'add', description: 'Adds.', parameters: { type: 'object' }, execute: () => '1' })
  return {
    surface,
    agents: [{ id: 'main', policy: parsePolicy(policy).rules }],
    registerTools: (registry) => registry.register('add', () => add),
  }
}

describe('a tool is offered', () => {
  for (const surface of SURFACES)
    it(`with skills.surface [${surface.join(', ')}] as it says, to a model and to MCP clients alike`, async (t) => {
      const shop = workshop(t)
      shop.write('one')
      for (const denied of [undefined, ...LOADERS]) {
        const deny = denied === undefined ? [] : [denied]
        const runtime = await shop.open(partsWith({ profile: 'full', deny }, surface))
        const agent = runtime.openAgent()
        const expected = [...surface.filter((name) => name !== denied)].toSorted()
        const loaders: readonly string[] = LOADERS
        assert.deepEqual(
          offeredBy(agent)
            .filter((name) => loaders.includes(name))
            .toSorted(),
          expected,
        )
        assert.deepEqual(
          listedBy(agent)
            .filter((name) => loaders.includes(name))
            .toSorted(),
          expected,
        )
        assert.ok(offeredBy(agent).includes('add'))
      }
    })

  it('unless every call of it would be denied; the call is decided again, for each front', async (t) => {
    const shop = workshop(t)
    shop.write('one')
    for (const [policy, answer] of [
      [{ profile: 'full', deny: ['add'] }, 'deny'],
      [{ profile: 'minimal' }, 'deny'],
      [{ profile: 'full', ask: ['add'] }, 'ask'],
      [{ profile: 'full' }, 'allow'],
    ] as const) {
      const runtime = await shop.open(partsWith(policy, []))
      const agent = runtime.openAgent()
      assert.equal(offeredBy(agent).includes('add'), answer !== 'deny')
      assert.equal(listedBy(agent).includes('add'), answer !== 'deny')
      for (const origin of ORIGINS)
        assert.equal(agent.explain({ tool: 'add', arguments: {}, origin }).decision.type, answer, origin)
      const { outcome } = await callOf(runtime, { tool: 'add', arguments: {} })
      assert.equal(codeOf(outcome), answer === 'allow' ? 'success' : 'PERMISSION_DENIED')
    }
  })

  it('by the surface only: a loader that is hidden there still works for whoever calls it', async (t) => {
    const shop = workshop(t)
    shop.write('one')
    const runtime = await shop.open(partsWith({ profile: 'full' }, []))
    for (const tool of LOADERS)
      for (const origin of ORIGINS) {
        const { outcome } = await callOf(runtime, { tool, arguments: ARGUMENTS[tool], origin })
        assert.equal(codeOf(outcome), 'success', `${tool} ${origin}`)
      }
  })
})
