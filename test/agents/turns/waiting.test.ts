import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parsePolicy } from '../../../src/authorize/index.ts'
import { type AgentEvent, createAgent } from '../../../src/agents/turns/index.ts'
import { createRuntime, type Parts } from '../../../src/runtime/index.ts'
import { createFolderSource } from '../../../src/skills/sources/index.ts'
import { type Clock, systemClock } from '../../../src/kernel/index.ts'
import { createMemoryStore, openPostgresStore, openSqliteStore, type Store } from '../../../src/store/index.ts'
import { type Reply, startModelServer } from '../../../src/testing/index.ts'
import { defineTool } from '../../../src/tools/index.ts'
import { startPostgres, whyNoPostgres } from '../../store/postgres-server.ts'
import { isWhole, localModel } from './rig.ts'

const SECRET = 'hunter2-hunter2'
const DONE: Reply = { type: 'text', text: 'Done.' }
const calls = (...tokens: readonly string[]): Reply => ({
  type: 'tool-calls',
  calls: tokens.map((token, index) => ({ name: 'pay', arguments: { token }, id: `call_${index}` })),
})

/** How one process differs from the others. */
type Process = Partial<Pick<Parts, 'sources' | 'secrets' | 'approvals'>> & { readonly deny?: readonly string[] }

/** Processes over one store: each `open` is a process, and `die` lets its leases end as after kill -9. */
async function startProcesses(
  script: readonly Reply[],
  openStore: (about: { projectId: string; clock: Clock }) => Promise<Store> = createMemoryStore,
) {
  let ahead = 0
  const clock: Clock = { ...systemClock, now: () => Date.now() + ahead }
  const about = { projectId: 'default', clock }
  const store = await openStore(about)
  const server = await startModelServer({ script: [...script] })
  const paid: string[] = []
  const open = async (over: Store, { deny = [], ...more }: Process = {}) => {
    const runtime = await createRuntime({
      sources: [],
      facts: { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false },
      store: over,
      secrets: [SECRET],
      agents: [{ id: 'main', policy: parsePolicy({ ask: ['pay', 'load_skill'], deny: [...deny] }).rules }],
      waitForAnswers: true,
      ...more,
      registerTools: (registry) => {
        registry.register('pay', () =>
          defineTool({
            name: 'pay',
            description: 'pay',
            parameters: { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] },
            execute: ({ token }) => `paid ${paid.push(String(token))}`,
          }),
        )
      },
    })
    return createAgent({ agent: runtime.openAgent({ sessionId: 's1' }), model: await localModel(server), store: over })
  }
  return {
    store,
    server,
    paid,
    open: (how?: Process) => open(store, how),
    wait: (ms: number) => (ahead += ms),
    /** A turn that asks, whose process then ends: what it writes from now on is refused. Returns its id. */
    async leaveAsking(content = 'Pay.', how: Process = {}): Promise<string> {
      const first = await open(store, how)
      const events: AgentEvent[] = []
      void first.send(content, { onEvent: (event) => events.push(event) }).catch(() => undefined)
      while ((await store.approvals.list({ states: ['open'] })).length === 0) await sleep(5)
      ahead += 60_000
      await store.reclaim()
      const [turn] = await store.turns.list({ states: ['waiting'] })
      assert.ok(turn)
      return turn.id
    },
    async answer(isAllowed: boolean): Promise<void> {
      const [question] = await store.approvals.list({ states: ['open'] })
      assert.ok(question)
      assert.ok((await store.approvals.answer(question.id, { isAllowed, by: 'ada', kind: 'person' })).isApplied)
    },
    history: () => store.sessions.messages('s1'),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await store.close()
    },
  }
}

describe('a turn whose process ended while a person was asked', () => {
  it('goes on from the answer: each call of the batch runs once, and tokens count from before', async () => {
    await using rig = await startProcesses([calls('a', 'b'), DONE])
    const turnId = await rig.leaveAsking()
    const before = (await rig.store.turns.get(turnId))?.use
    assert.equal(before?.steps, 1)
    await rig.answer(true)
    const next = await rig.open()
    const going = next.resume(turnId)
    while ((await rig.store.approvals.list({ states: ['open'] })).length === 0) await sleep(5)
    await rig.answer(true)
    const result = await going
    assert.deepEqual([result.end, result.text, result.usage.steps], ['done', 'Done.', 2])
    assert.equal((await rig.store.turns.get(turnId))?.use.totalTokens, result.usage.totalTokens)
    assert.deepEqual(rig.paid, ['a', 'b'])
    assert.ok(isWhole(await rig.history()))
    assert.deepEqual(
      (await rig.store.ledger.list()).map(({ state }) => state),
      ['done', 'done'],
    )
  })

  it('runs nothing after a no, and nothing that is denied by now', async () => {
    for (const { isAllowed, deny } of [
      { isAllowed: false, deny: [] },
      { isAllowed: true, deny: ['pay'] },
    ]) {
      await using rig = await startProcesses([calls('a'), DONE])
      const turnId = await rig.leaveAsking()
      await rig.answer(isAllowed)
      assert.equal((await (await rig.open({ deny })).resume(turnId)).end, 'done')
      assert.deepEqual(rig.paid, [])
      assert.equal((await rig.store.ledger.list())[0]?.state, 'denied')
      assert.ok(isWhole(await rig.history()))
    }
  })

  it('does not run a call whose arguments had a secret, and says so', async () => {
    await using rig = await startProcesses([calls(SECRET), DONE])
    const turnId = await rig.leaveAsking()
    await rig.answer(true)
    assert.equal((await (await rig.open()).resume(turnId)).end, 'done')
    assert.deepEqual(rig.paid, [])
    assert.match(JSON.stringify(await rig.history()), /not run: its arguments had a secret/)
    assert.equal((await rig.store.ledger.list())[0]?.state, 'not run')
  })

  it('runs no call of the rest of its batch whose arguments had a secret', async () => {
    await using rig = await startProcesses([calls('a', SECRET), DONE])
    const turnId = await rig.leaveAsking()
    await rig.answer(true)
    assert.equal((await (await rig.open()).resume(turnId)).end, 'done')
    assert.deepEqual(rig.paid, ['a'])
    assert.match(JSON.stringify((await rig.history()).at(-2)), /not run: its arguments had a secret/)
    assert.ok(isWhole(await rig.history()))
  })

  it('runs no other call than the one that was asked about', async () => {
    await using rig = await startProcesses([calls('a long token'), DONE])
    const turnId = await rig.leaveAsking()
    await rig.answer(true)
    // By now a part of the arguments is a secret.
    const next = await rig.open({ secrets: ['long token'] })
    assert.equal((await next.resume(turnId)).end, 'done')
    assert.deepEqual([rig.paid, (await rig.store.ledger.list())[0]?.state], [[], 'not run'])
    assert.match(JSON.stringify(await rig.history()), /not run: it is another call than the one that was asked about/)
  })

  it('loads no skill that is another revision by now', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'nexus-waiting-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const write = (text: string): void => {
      mkdirSync(join(directory, 'alpha'), { recursive: true })
      writeFileSync(join(directory, 'alpha/SKILL.md'), `---\nname: alpha\ndescription: Does alpha.\n---\n${text}\n`)
    }
    write('One.')
    const source = createFolderSource({ id: 'mine', tier: 'workspace', rank: 0, path: directory, trusted: true })
    const load: Reply = { type: 'tool-calls', calls: [{ name: 'load_skill', arguments: { skill_name: 'alpha' } }] }
    await using rig = await startProcesses([load, DONE])
    const turnId = await rig.leaveAsking('Load it.', { sources: [source] })
    write('Two.')
    await rig.answer(true)
    assert.equal((await (await rig.open({ sources: [source] })).resume(turnId)).end, 'done')
    assert.match(JSON.stringify(await rig.history()), /The skill changed while a person was asked/)
    assert.doesNotMatch(JSON.stringify(await rig.history()), /Two\./)
    assert.equal((await rig.store.ledger.list())[0]?.state, 'denied')
  })

  it('is open for its longer time; without an answer by then, nothing runs', async () => {
    await using rig = await startProcesses([calls('a'), DONE])
    const turnId = await rig.leaveAsking('Pay.', { approvals: { expiresMs: 1_000, waitingExpiresMs: 3_600_000 } })
    rig.wait(3_000_000)
    await rig.store.reclaim()
    assert.equal((await rig.store.approvals.list({ states: ['open'] })).length, 1)
    rig.wait(700_000)
    assert.equal((await (await rig.open()).resume(turnId)).end, 'done')
    assert.deepEqual([rig.paid, (await rig.store.approvals.list())[0]?.state], [[], 'expired'])
    assert.match(JSON.stringify(await rig.history()), /No answer came in time/)
  })

  it('is gone on with by whoever serves the agent, before the messages that were left', async () => {
    await using rig = await startProcesses([calls('a'), DONE, DONE])
    const turnId = await rig.leaveAsking()
    const gone = await rig.store.leases.acquire('process:gone', { owner: 'gone', ttlMs: 60_000 })
    assert.ok(gone.type === 'acquired')
    const left = { role: 'user', content: 'Then this.' }
    await rig.store.turns.enqueue({ sessionId: 's1', message: left, lease: gone.lease })
    await rig.store.leases.release(gone.lease)
    const serving = (await rig.open()).takeOver()
    while ((await rig.store.turns.get(turnId))?.state !== 'running') await sleep(5)
    assert.deepEqual(rig.paid, [])
    await rig.answer(true)
    const results = await serving
    assert.deepEqual(
      results.map(({ end, usage }) => [end, usage.steps]),
      [
        ['done', 2],
        ['done', 1],
      ],
    )
    assert.deepEqual([rig.paid, (await rig.history()).at(-2)], [['a'], left])
  })

  /** How many of 100 looks, one after each 100 ms of 10 s, find another `version` of a database in which a second message waits. */
  async function writesOfWaiting(
    t: TestContext,
    openStore: Parameters<typeof startProcesses>[1],
    version: () => Promise<unknown>,
  ): Promise<number> {
    await using rig = await startProcesses([calls('a'), DONE], openStore)
    const turnId = await rig.leaveAsking()
    t.mock.timers.enable({ apis: ['setInterval'] })
    const waits = Promise.withResolvers<void>()
    const onEvent = ({ type }: AgentEvent) => type === 'notice' && waits.resolve()
    const sent = (await rig.open()).send('Next.', { onEvent })
    await waits.promise
    let [last, writes] = [await version(), 0]
    for (let ms = 0; ms < 10_000; ms += 100) {
      t.mock.timers.tick(100)
      const present = await version()
      if (present !== last) writes += 1
      last = present
    }
    t.mock.timers.reset()
    await rig.store.turns.cancel(turnId)
    assert.equal((await sent).end, 'done')
    return writes
  }

  it('lets another message wait with less than a write a second, heartbeats included', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'nexus-waits-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const path = join(directory, 'nexus.db')
    let database: DatabaseSync | undefined
    const writes = await writesOfWaiting(
      t,
      (about) => openSqliteStore({ ...about, path }),
      async () => {
        for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
        database ??= new DatabaseSync(path, { readOnly: true })
        return database.prepare('pragma data_version').get()?.['data_version']
      },
    )
    database?.close()
    assert.ok(writes > 0 && writes < 10, `${writes} writes in 10 s`)
  })

  it('lets it wait so on Postgres too', { skip: whyNoPostgres() ?? false }, async (t) => {
    const server = await startPostgres(['autovacuum=off'])
    t.after(() => server.close())
    // The server gives a number to each transaction that writes, and none to others.
    const next = 'select pg_snapshot_xmax(pg_current_snapshot())::text as next'
    const writes = await writesOfWaiting(
      t,
      (about) => openPostgresStore({ ...about, url: server.url() }),
      async () => String(((await server.query(next)).rows[0] as { next: string }).next),
    )
    assert.ok(writes > 0 && writes < 10, `${writes} writes in 10 s`)
  })

  it('names its question to the next message, which waits until the turn is cancelled', async () => {
    await using rig = await startProcesses([calls('a'), DONE])
    const turnId = await rig.leaveAsking()
    const [question] = await rig.store.approvals.list({ states: ['open'] })
    const notices: string[] = []
    const sent = (await rig.open()).send('Next.', {
      onEvent: (event) => {
        if (event.type === 'notice') notices.push(event.text)
      },
    })
    while (notices.length < 3) await sleep(5)
    assert.match(
      notices[0] ?? '',
      new RegExp(`waits for an answer about pay: .* nexus approvals answer ${question?.id} --allow`),
    )
    assert.match(notices[1] ?? '', /nexus sessions resume s1/)
    assert.match(notices[2] ?? '', new RegExp(`nexus sessions cancel ${turnId}`))
    await rig.store.turns.cancel(turnId)
    assert.equal((await sent).end, 'done')
    assert.ok(isWhole(await rig.history()))
    assert.deepEqual(rig.paid, [])
  })
})
