import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type AgentEvent, createAgent } from '../../../src/agents/turns/index.ts'
import { createRuntime } from '../../../src/runtime/index.ts'
import { createFolderSource } from '../../../src/skills/sources/index.ts'
import { createMemoryStore } from '../../../src/store/index.ts'
import { createScriptedSandbox, type Reply, startModelServer } from '../../../src/testing/index.ts'
import { localModel } from './rig.ts'

const LOAD: Reply = { type: 'tool-calls', calls: [{ name: 'load_skill', arguments: { skill_name: 'greet' } }] }
const DONE: Reply = { type: 'text', text: 'Done.' }
const CHANGED = /changed after you loaded them: greet\. Load them again/

/** One session over turns that may each be a process of their own. */
async function open(t: TestContext, script: readonly Reply[]) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-loaded-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  cpSync(join(import.meta.dirname, '../../fixtures/agents/greeting'), root, { recursive: true })
  const server = await startModelServer({ script })
  t.after(() => server[Symbol.asyncDispose]())
  const store = await createMemoryStore({ projectId: 'default' })
  const model = await localModel(server)
  const source = createFolderSource({ id: 'fixture', tier: 'workspace', rank: 0, path: root, trusted: true })
  const process = async () => {
    const sandbox = createScriptedSandbox({})
    const runtime = await createRuntime({ sources: [source], sandbox, workspace: root, store })
    t.after(() => runtime.close())
    const agent = createAgent({ agent: runtime.openAgent({ sessionId: 's1' }), model, store })
    return async (content: string): Promise<{ notices: string; system: string }> => {
      const events: AgentEvent[] = []
      const at = server.requests.length
      assert.equal((await agent.send(content, { onEvent: (event) => events.push(event) })).end, 'done')
      const notices = events.flatMap((event) => (event.type === 'notice' ? [event.text] : [])).join('\n')
      return { notices, system: JSON.stringify(server.requests[at]?.messages[0]) }
    }
  }
  return { process, edit: () => writeFileSync(join(root, 'greet', 'extra.md'), 'Be polite.\n') }
}

test('a skill that changed since the model loaded it is announced until it is loaded again', async (t) => {
  const { process, edit } = await open(t, [LOAD, DONE, DONE, LOAD, DONE, DONE])
  const send = await process()
  assert.doesNotMatch((await send('one')).system, CHANGED)
  edit()
  const two = await send('two')
  assert.match(two.system, CHANGED)
  assert.match(two.notices, /The skill 'greet' changed after the model loaded it/)
  assert.match((await send('three')).system, CHANGED)
  assert.doesNotMatch((await send('four')).system, CHANGED)
})

test('another process that goes on with the session knows what was loaded', async (t) => {
  const { process, edit } = await open(t, [LOAD, DONE, DONE])
  await (
    await process()
  )('one')
  edit()
  assert.match((await (await process())('two')).system, CHANGED)
})
