/** A database as the first schema made it, with rows of every kind, and what must be left of them. */
import assert from 'node:assert/strict'
import { sessionLease, type Store } from '../../src/store/index.ts'
import { migrate, type Schema } from '../../src/store/sql/migrate.ts'
import { migrationsOf } from '../../src/store/sql/migrations.ts'
import type { Connection } from '../../src/store/sql/scope.ts'

const STATES = ['queued', 'running', 'done', 'cancelled', 'dropped', 'interrupted']
const CLOSED = ['done', 'failed', 'denied', 'interrupted', 'not run']
const ANSWERED = ['allowed', 'denied', 'expired', 'not run']
const FAR = 4_000_000_000_000
const ALLOW = `{"type":"allow","rule":"r","chain":[],"limits":{}}`

const call = (id: string): string =>
  `{"id":"${id}","projectId":"default","agentId":"main","sessionId":"s1","origin":"model","tool":"echo","arguments":{}}`

const ROWS: readonly string[] = [
  `insert into leases (project_id, name, owner, acquired_at, expires_at)
    values ('default', :lease, 'old', 1, ${FAR})`,
  `insert into sessions (project_id, id, agent_id, title, scope, created_at, updated_at, snapshot, loaded)
    values ('default', 's1', 'main', '"old"', '"/w"', 1, 2, '{"version":"1"}', '[]')`,
  `insert into session_messages (project_id, session_id, message, at)
    values ('default', 's1', '{"role":"user","content":"hi"}', 3)`,
  ...STATES.map(
    (state, index) => `insert into turns
      (project_id, id, session_id, request_id, message, state, queued_fence, fence, cancel_requested, created_at, result)
      values ('default', 't-${state}', 's1', 'r${index}', '{"role":"user","content":"${index}"}', '${state}', 1, 1, 0, ${index},
        '{"text":"${index}"}')`,
  ),
  `insert into ledger_entries
    (project_id, call_id, agent_id, session_id, turn_id, origin, fence, call, decision, skill, state, outcome, opened_at, started_at)
    values ('default', 'c-started', 'main', 's1', 't-running', 'model', 1, '${call('c-started')}', '${ALLOW}', null, 'started', null, 1, 1)`,
  ...CLOSED.map(
    (state, index) => `insert into ledger_entries
      (project_id, call_id, agent_id, session_id, turn_id, origin, fence, call, decision, skill, state, outcome, opened_at, closed_at)
      values ('default', 'c-${state}', 'main', 's1', 't-done', 'model', 1, '${call(`c-${state}`)}', '${ALLOW}', null, '${state}',
        '{"type":"success","text":"${index}"}', 1, 2)`,
  ),
  ...ANSWERED.map(
    (
      state,
      index,
    ) => `insert into approvals (project_id, id, call_id, session_id, agent_path, tool, command, prefix, scope,
        can_remember, created_at, expires_at, state, answered_by, answered_at)
      values ('default', 'a-${state}', 'c-${CLOSED[index]}', 's1', 'main', 'echo', '"make"', '"make"', '"/w"', 1, 1, ${FAR},
        '${state}', 'ada', 2)`,
  ),
  // The process of this turn died while one question was open and one was answered.
  `insert into leases (project_id, name, owner, acquired_at, expires_at) values ('default', :lease, 'dead', 1, 1)`,
  `insert into sessions (project_id, id, agent_id, title, scope, created_at, updated_at, snapshot, loaded)
    values ('default', 's2', 'main', '"asks"', null, 1, 1, null, '[]')`,
  `insert into turns (project_id, id, session_id, request_id, message, state, queued_fence, fence, cancel_requested, created_at)
    values ('default', 't-asks', 's2', null, '{"role":"user"}', 'running', 2, 2, 0, 9)`,
  ...['asked', 'answered'].map(
    (state) => `insert into ledger_entries
      (project_id, call_id, agent_id, session_id, turn_id, origin, fence, call, decision, skill, state, outcome, opened_at)
      values ('default', 'c-${state}', 'main', 's2', 't-asks', 'model', 2, '${call(`c-${state}`)}', '${ALLOW}', null, '${state}',
        null, 1)`,
  ),
  ...[
    ['asked', 'open', 'null'],
    ['answered', 'allowed', `'ada'`],
  ].map(
    ([
      its,
      state,
      by,
    ]) => `insert into approvals (project_id, id, call_id, session_id, agent_path, tool, command, prefix, scope,
        can_remember, created_at, expires_at, state, answered_by)
      values ('default', 'a-${its}', 'c-${its}', 's2', 'main', 'echo', '"make"', null, '"/w"', 1, 1, ${FAR}, '${state}', ${by})`,
  ),
  `insert into remembered_approvals (project_id, id, agent_path, tool, match, text, scope, created_at, answered_by)
    values ('default', 'm1', 'main', 'echo', 'exact', '"make"', '"/w"', 1, 'ada')`,
  `insert into remembered_approvals (project_id, id, agent_path, tool, match, text, scope, created_at, answered_by)
    values ('default', 'm2', 'main/worker-1', 'echo', 'exact', '"make"', '"/w"', 1, 'ada')`,
  `insert into events (project_id, agent_id, session_id, type, refs, at) values ('default', 'main', 's1', 'turn.done', '{}', 4)`,
  `insert into blob_references (project_id, id, digest, bytes, name, is_cut, call_id, session_id, created_at)
    values ('default', 'b1', '${'0'.repeat(64)}', 5, 'stdout', 0, 'c-done', 's1', 5)`,
]

export async function makeFirstSchema(connection: Connection, schema: Schema): Promise<void> {
  await migrate(connection, schema, migrationsOf(schema.dialect).slice(0, 1))
  const inSchema = schema.dialect.isSqlite ? ROWS : ROWS.map((row) => row.replace('insert into ', 'insert into nexus.'))
  for (const row of inSchema)
    await connection.run(
      row,
      row.includes(':lease') ? { lease: sessionLease(row.includes("'dead'") ? 's2' : 's1') } : {},
    )
}

/** Everything is there, reads as before, and goes on. */
export async function inspectMigrated(store: Store): Promise<void> {
  const session = await store.sessions.get('s1')
  assert.deepEqual([session?.title, session?.scope, session?.messageCount], ['old', '/w', 1])
  assert.deepEqual(await store.sessions.messages('s1'), [{ role: 'user', content: 'hi' }])
  const turns = await store.turns.list()
  assert.deepEqual(
    turns.map(({ id, state, requestId, result, use: { steps } }) => [id, state, requestId, result, steps]),
    [
      ...STATES.map((state, index) => [`t-${state}`, state, `r${index}`, { text: String(index) }, 0]),
      ['t-asks', 'running', undefined, undefined, 0],
    ],
  )
  const calls = (await store.ledger.list()).map(({ call: { id }, state }) => `${id} ${state}`)
  assert.deepEqual(
    calls,
    ['started', ...CLOSED, 'asked', 'answered'].map((state) => `c-${state} ${state}`),
  )
  const approvals = await store.approvals.list()
  assert.deepEqual(
    approvals.map(({ id, state }) => `${id} ${state}`),
    [...ANSWERED.map((state) => `a-${state} ${state}`), 'a-asked open', 'a-answered allowed'],
  )
  const [approval] = approvals
  const kept = {
    id: 'a-allowed',
    command: 'make',
    state: 'allowed',
    answeredBy: 'ada',
    agentId: 'main',
    agentPath: 'main',
  }
  assert.partialDeepStrictEqual(approval, kept)
  assert.deepEqual(
    (await store.approvals.remembered({ agentId: 'main', tool: 'echo', scope: '/w' })).map(({ id, text }) => [
      id,
      text,
    ]),
    [['m1', 'make']],
  )
  // An answer for a path that no agent of the configuration has is kept, and applies to none.
  assert.equal((await store.approvals.remembered()).length, 2)
  assert.deepEqual(
    (await store.events.after(0)).map(({ type }) => type),
    ['turn.done'],
  )
  assert.equal((await store.blobs.get('b1'))?.name, 'stdout')
  const lease = await store.leases.get(sessionLease('s1'))
  assert.equal(lease?.owner, 'old')
  const added = await store.turns.enqueue({ sessionId: 's1', message: { role: 'user', content: 'new' }, lease })
  assert.equal((await store.turns.list()).at(-1)?.id, added.id, 'its number is greater than those of before')
  const agent = await store.agents.create({ parent: 'main', permissions: {}, ceiling: {} })
  assert.deepEqual([agent.path, (await store.sessions.get(agent.sessionId))?.agentId], ['main/.1', agent.key])
  assert.equal((await store.turns.finish('t-running', lease, { state: 'done' })).state, 'done')
  await store.reclaim()
  assert.equal((await store.turns.get('t-asks'))?.state, 'waiting', 'it goes on from the answers')
  const allow = { isAllowed: true, by: 'ada', kind: 'person' } as const
  assert.ok((await store.approvals.answer('a-asked', allow)).isApplied)
  const acquired = await store.leases.acquire(sessionLease('s2'), { owner: 'new', ttlMs: 60_000 })
  assert.ok(acquired.type === 'acquired')
  assert.equal((await store.turns.take('s2', acquired.lease, { id: 't-asks' }))?.state, 'running')
  const decision = { type: 'allow', rule: 'r', chain: [], limits: {} } as const
  for (const id of ['c-asked', 'c-answered'])
    assert.equal((await store.ledger.start(id, decision, acquired.lease)).state, 'started')
}
