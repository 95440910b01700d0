import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { build } from 'esbuild'
import { createAgent } from '../../../src/public/agents.ts'
import { createFolderSource, createMemoryStore, createRuntime } from '../../../src/public/index.ts'
import {
  createScriptedSandbox,
  type ModelServer,
  type Reply,
  type ScriptedSandboxOptions,
  startModelServer,
} from '../../../src/testing/index.ts'
import { isWhole, localModel } from './rig.ts'

const SKILLS = join(import.meta.dirname, '../../fixtures/agents/greeting')
const call = (name: string, args: { readonly [key: string]: string }): Reply => ({
  type: 'tool-calls',
  calls: [{ name, arguments: args }],
})
const RUN = call('run_command', { command: 'greet.sh Ada' })

/** An agent on the real runtime: folders, gate, catalog, policy, tools and ledger; only commands are scripted. */
async function open(
  script: readonly Reply[],
  sandboxOptions: ScriptedSandboxOptions,
  { skills = SKILLS, secrets = [] }: { skills?: string; secrets?: string[] } = {},
) {
  const stack = new AsyncDisposableStack()
  const workspace = await mkdtemp(join(tmpdir(), 'nexus-agent-'))
  stack.defer(() => rm(workspace, { recursive: true, force: true }))
  const server = stack.use(await startModelServer({ script }))
  const store = await createMemoryStore({ projectId: 'default' })
  const sandbox = createScriptedSandbox(sandboxOptions)
  const source = createFolderSource({ id: 'fixture', tier: 'workspace', rank: 0, path: skills, trusted: true })
  const runtime = await createRuntime({ sources: [source], sandbox, workspace, store, secrets })
  stack.defer(() => runtime.close())
  const agent = createAgent({
    agent: runtime.openAgent({ sessionId: 's1' }),
    model: await localModel(server),
    store,
  })
  return { server, store, sandbox, agent, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** The last message of a request. */
function lastWords(server: ModelServer, request: number): string {
  return server.requests[request]?.messages.at(-1)?.text ?? ''
}

describe('an agent on the whole pipeline', () => {
  it('finds a skill in its prompt, loads it, reads its file and runs its command', async () => {
    const script: Reply[] = [
      call('load_skill', { skill_name: 'greet' }),
      call('read_skill_file', { skill_name: 'greet', file_path: 'references/styles.md' }),
      RUN,
      { type: 'text', text: 'HELLO ADA' },
    ]
    await using opened = await open(script, { script: () => ({ stdout: 'HELLO ADA\n' }) })
    const { agent, server, store, sandbox } = opened
    const result = await agent.send('Greet Ada')
    assert.deepEqual([result.end, result.text], ['done', 'HELLO ADA'])
    assert.match(server.requests[0]?.messages[0]?.text ?? '', /greet.*Greets a person by name/s)
    assert.match(lastWords(server, 1), /scripts\/greet\.sh NAME/)
    assert.match(lastWords(server, 2), /Always shout\./)
    assert.match(lastWords(server, 3), /HELLO ADA/)
    assert.deepEqual(
      sandbox.requests.map(({ command }) => command),
      ['greet.sh Ada'],
    )
    const entries = await store.ledger.list({ turnId: result.turnId })
    assert.deepEqual(
      entries.map(({ call: { tool }, state, outcome }) => [tool, state, outcome?.type]),
      [
        ['load_skill', 'done', 'success'],
        ['read_skill_file', 'done', 'success'],
        ['run_command', 'done', 'success'],
      ],
    )
  })

  it('is told to load the skill that the message names as $skill-name', async () => {
    await using opened = await open([{ type: 'text', text: 'ok' }], {})
    await opened.agent.send('Use $greet for Ada, not $HOME')
    assert.match(
      opened.server.requests[0]?.messages[0]?.text ?? '',
      /The user named these skills; load them first: greet\./,
    )
  })

  it('says between turns which skills came or went', async () => {
    const skills = await mkdtemp(join(tmpdir(), 'nexus-skills-'))
    try {
      await cp(join(SKILLS, 'greet'), join(skills, 'greet'), { recursive: true })
      await using opened = await open(
        [
          { type: 'text', text: 'ok' },
          { type: 'text', text: 'ok' },
        ],
        {},
        { skills },
      )
      await opened.agent.send('hello')
      await rename(join(skills, 'greet'), join(skills, 'wave'))
      const text = await readFile(join(skills, 'wave/SKILL.md'), 'utf8')
      await writeFile(join(skills, 'wave/SKILL.md'), text.replace('name: greet', 'name: wave'))
      const notices: string[] = []
      await opened.agent.send('again', { onEvent: (event) => event.type === 'notice' && notices.push(event.text) })
      assert.deepEqual(notices, ['Skills changed: added wave; removed greet.'])
    } finally {
      await rm(skills, { recursive: true, force: true })
    }
  })

  it('stores and shows no secret, whoever said it', async () => {
    const script: Reply[] = [call('run_command', { command: 'echo hunter2-hunter2' }), { type: 'text', text: 'ok' }]
    await using opened = await open(
      script,
      { script: () => ({ stdout: 'hunter2-hunter2\n' }) },
      { secrets: ['hunter2-hunter2'] },
    )
    const { agent, store, server } = opened
    const events: unknown[] = []
    await agent.send('use hunter2-hunter2', { onEvent: (event) => events.push(event) })
    const kept = [
      await store.sessions.messages(agent.sessionId),
      await store.sessions.get(agent.sessionId),
      await store.ledger.list(),
    ]
    assert.doesNotMatch(JSON.stringify([kept, events, server.requests]), /hunter2/)
  })

  it('stops the running command when the turn is cancelled', async () => {
    const stop = new AbortController()
    await using opened = await open([RUN], {
      script: () => {
        setImmediate(() => stop.abort())
        return { hang: true }
      },
    })
    const { agent, store } = opened
    const result = await agent.send('Greet Ada', { signal: stop.signal })
    assert.equal(result.end, 'cancelled')
    const [entry] = await store.ledger.list({ turnId: result.turnId })
    assert.deepEqual([entry?.state, entry?.outcome?.type === 'failed' && entry.outcome.code], ['failed', 'CANCELLED'])
    assert.ok(isWhole(await store.sessions.messages(agent.sessionId)))
  })
})

describe('the entry of agents', () => {
  it('loads no library for models before the first turn', async () => {
    const { metafile } = await build({
      entryPoints: [join(import.meta.dirname, '../../../src/agents/turns/index.ts')],
      outdir: 'unused',
      bundle: true,
      splitting: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'silent',
    })
    const entry = Object.values(metafile.outputs).find((output) => output.entryPoint?.endsWith('agents/turns/index.ts'))
    const loaded =
      entry?.imports.filter((item) => item.external && item.kind === 'import-statement').map(({ path }) => path) ?? []
    assert.ok(entry && entry.imports.some(({ path }) => path === 'ai'), 'the entry reaches the turn')
    assert.deepEqual(
      loaded.filter((path) => /^(ai|zod|@ai-sdk\/.*|node:(http|sqlite|child_process))$/.test(path)),
      [],
    )
  })
})
