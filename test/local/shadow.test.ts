/** Rules of another agent beside those of an agent, through the library, with the store that is kept. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Layer } from '../../src/authorize/index.ts'
import { readEnvironment } from '../../src/config/index.ts'
import type { Call } from '../../src/kernel/index.ts'
import { openLocal } from '../../src/local/open-local.ts'
import { createRuntime } from '../../src/runtime/index.ts'

const CALL = { tool: 'write_file', arguments: { path: 'a.txt', content: 'a' }, origin: 'model' } as const

/** An open runtime over SQLite, and a way to open it again. */
async function open(context: TestContext, agents: string, approve?: (call: Call) => Promise<boolean>) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-shadow-')))
  context.after(() => rmSync(directory, { recursive: true, force: true }))
  const [cwd, nexusHome] = [join(directory, 'work'), join(directory, 'home')]
  for (const path of [cwd, nexusHome]) mkdirSync(path)
  writeFileSync(join(nexusHome, 'nexus.yaml'), `agents: [${agents}]\n`)
  const environment = readEnvironment({ HOME: directory, NEXUS_HOME: nexusHome, PATH: process.env['PATH'] ?? '' })
  const again = () => openLocal({ cwd, environment, sandbox: 'none', ...(approve && { approve }) })
  return { local: await again(), again }
}

describe('an agent with a shadow', () => {
  it('keeps its own decision, and its row says where the shadow differs after the store was opened again', async (context) => {
    const { local, again } = await open(
      context,
      '{ id: main, preset: sandboxed, shadow: strict }, { id: strict, preset: worker }',
    )
    const { entry, outcome, decision } = await local.runtime.openAgent().call(CALL)
    assert.deepEqual([decision.type, outcome.type], ['allow', 'success'])
    await local.close()
    const reopened = await again()
    context.after(() => reopened.close())
    const row = await reopened.runtime.store.ledger.get(entry.call.id)
    const { scope, ...said } = row?.decision.shadow ?? assert.fail('no shadow')
    assert.deepEqual(said, { agent: 'strict', type: 'deny', rule: 'preset worker', own: 'allow' })
    assert.match(scope, /\/work$/)
  })

  it('stays refused where the shadow would allow', async (context) => {
    const { local } = await open(context, '{ id: main, preset: worker, shadow: open }, { id: open, preset: yolo }')
    context.after(() => local.close())
    const { entry, outcome } = await local.runtime.openAgent().call(CALL)
    assert.deepEqual([outcome.type, entry.state], ['failed', 'denied'])
    const { scope: _, ...said } = entry.decision.shadow ?? assert.fail('no shadow')
    assert.deepEqual(said, { agent: 'open', type: 'allow', rule: 'profile full', own: 'deny' })
    assert.doesNotMatch(JSON.stringify(outcome), /open|profile full/)
  })

  it('records nothing where both decide the same', async (context) => {
    const { local } = await open(context, '{ id: main, preset: worker, shadow: two }, { id: two, preset: worker }')
    context.after(() => local.close())
    for (const call of [CALL, { tool: 'list_directory', arguments: { path: '.' } }]) {
      const { entry } = await local.runtime.openAgent().call(call)
      assert.ok(!('shadow' in entry.decision))
    }
  })

  it('records other limits of the same answer', async (context) => {
    const { local } = await open(
      context,
      '{ id: main, preset: sandboxed, shadow: open }, { id: open, preset: sandboxed, permissions: { allowedPaths: null } }',
    )
    context.after(() => local.close())
    const { entry } = await local.runtime.openAgent().call(CALL)
    assert.deepEqual([entry.decision.shadow?.own, entry.decision.shadow?.type], ['allow', 'allow'])
  })

  it('is compared before a person answers, and the answer keeps the difference', async (context) => {
    const asked: string[] = []
    const { local } = await open(
      context,
      '{ id: main, preset: trusted, shadow: strict }, { id: strict, preset: worker }',
      (call) => {
        asked.push(call.tool)
        return Promise.resolve(asked.length === 1)
      },
    )
    context.after(() => local.close())
    const agent = local.runtime.openAgent()
    const allowed = await agent.call(CALL)
    const refused = await agent.call(CALL)
    assert.deepEqual([allowed.outcome.type, refused.outcome.type], ['success', 'failed'])
    for (const { entry } of [allowed, refused]) assert.equal(entry.decision.shadow?.own, 'ask')
    assert.deepEqual(asked, ['write_file', 'write_file'])
  })
})

describe('a shadow that fails', () => {
  it('fails no call; the row says that it could not be compared, without secrets', async (context) => {
    const policy = { profile: 'full', allow: [], ask: [], deny: [], groups: new Map() } as const
    const broken: Layer = {
      name: 'broken',
      decide: () => {
        throw new Error('no rules for hunter2secret')
      },
    }
    const runtime = await createRuntime({
      sources: [],
      facts: { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false },
      agents: [{ id: 'main', policy, shadow: { agent: 'other', policy, layers: [broken] } }],
      secrets: ['hunter2secret'],
    })
    context.after(() => runtime.close())
    const { entry, outcome } = await runtime.openAgent().call({ tool: 'status', arguments: {} })
    assert.equal(outcome.type, 'success')
    const { shadow } = entry.decision
    assert.deepEqual([shadow?.agent, shadow?.type, shadow?.own], ['other', 'failed', 'allow'])
    assert.match(shadow?.rule ?? '', /^Error: no rules for /)
    assert.doesNotMatch(JSON.stringify(entry), /hunter2/)
  })
})
