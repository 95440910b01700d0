import { newId } from '../../kernel/index.ts'
import type { AgentRecord, Agents } from '../agents.ts'
import { MESSAGES } from '../messages.ts'
import { checkAgentId, checkName, isAgentKey, MAX_AGENT_DEPTH, storeError, toJson } from '../rules.ts'
import { createJsonReader, defined, filters, type JsonReader, optionalNumber, optionalText } from './columns.ts'
import { type Change, listRows, type Row, type Scope, type Statements } from './scope.ts'
import { insertSession } from './sessions.ts'
import { toUse, USE } from './turn-rows.ts'
import { cancelTurn } from './turns.ts'

const INSERT = `insert into agents (project_id, key, id, parent, path, depth, session_id, is_temporary, permissions, ceiling,
    settings, epoch, created_at)
  values (:projectId, :key, :id, :parent, :path, :depth, :sessionId, :isTemporary, :permissions, :ceiling, :settings, 0, :now)
  on conflict (project_id, id) where ended_at is null do nothing returning *`

const GET = 'select * from agents where project_id = :projectId and key = :key'

const FIND = 'select * from agents where project_id = :projectId and id = :id and ended_at is null'

const TEMPORARY = 'select id from agents where project_id = :projectId and is_temporary = 1 and ended_at is null'

/** The agent and its descendants. A materialised path would not do: ids are used again. */
const SUBTREE = `with recursive subtree(key) as (
    select key from agents where project_id = :projectId and key = :key
    union all select agents.key from agents join "subtree" on agents.parent = "subtree".key where agents.project_id = :projectId
  ) select key from "subtree"`

const CHAIN = `with recursive chain(key, parent) as (
    select key, parent from agents where project_id = :projectId and key = :key
    union all select agents.key, agents.parent from agents join "chain" on agents.key = "chain".parent
      where agents.project_id = :projectId
  ) select * from agents where project_id = :projectId and key in (select key from "chain") order by depth`

const END = `update agents set ended_at = :now
  where project_id = :projectId and ended_at is null and key in (${SUBTREE}) returning *`

const OPEN_TURNS = `select id from turns
  where project_id = :projectId and session_id = :sessionId and state in ('queued', 'running', 'waiting') order by seq`

const FORGET = 'delete from remembered_approvals where project_id = :projectId and agent_id = :key'

const UPDATE = `update agents set permissions = coalesce(:permissions, permissions), ceiling = coalesce(:ceiling, ceiling),
    settings = coalesce(:settings, settings)
  where project_id = :projectId and key = :key and ended_at is null returning *`

const LIST = { table: 'agents', key: 'key' }

const REVOKE = 'update agents set epoch = epoch + 1 where project_id = :projectId and key = :key returning *'

const USED = `select ${USE} from turns where project_id = :projectId and session_id in
  (select session_id from agents where project_id = :projectId and key in (${SUBTREE}))`

/** The agents of one project that are made while Nexus runs. */
export function createSqlAgents(scope: Scope): Agents {
  const parse = createJsonReader(scope)
  const toAgent = (row: Row): AgentRecord => agentOf(row, parse)
  const get = async (sql: string, values: Parameters<Statements['get']>[1]): Promise<AgentRecord | undefined> => {
    const row = await scope.get(sql, values)
    return row && toAgent(row)
  }
  return {
    async create({ id: given, parent, permissions, ceiling, settings = {}, title = '', scope: started }) {
      if (given !== undefined) checkAgentId(given)
      const texts = toTexts({ permissions, ceiling, settings })
      return scope.change(async (tx) => {
        const above = parent === undefined ? undefined : await parentOf(tx, parent)
        const depth = above ? above.depth + 1 : 0
        if (depth > MAX_AGENT_DEPTH) throw storeError('INVALID_ARGUMENT', MESSAGES.tooDeep({ max: MAX_AGENT_DEPTH }))
        const id = given ?? (await firstFree(tx))
        const path = above ? `${above.path}/${id}` : id
        const [key, sessionId] = [`@${newId()}`, newId()]
        const about = {
          key,
          id,
          parent: parent ?? null,
          path,
          depth,
          sessionId,
          isTemporary: id.startsWith('.') ? 1 : 0,
        }
        const row = await tx.get(INSERT, { ...about, ...texts })
        if (!row) throw storeError('CONFLICT', MESSAGES.agentExists({ id }))
        await insertSession(tx, { id: sessionId, agentId: key, title, scope: started })
        return changed(tx, toAgent(row), 'created')
      })
    },
    get: (key) => get(GET, { key }),
    find: (id) => get(FIND, { id }),
    async list({ id, parent, isLiving, ...page } = {}) {
      const { sql, values } = filters({ id, parent })
      const living = isLiving === undefined ? '' : `and ended_at is ${isLiving ? '' : 'not '}null`
      return (await listRows(scope, LIST, { sql: `${sql} ${living}`, values, ...page })).map(toAgent)
    },
    chain: async (key) => (await scope.all(CHAIN, { key })).map(toAgent),
    end: (key) =>
      scope.change(async (tx) => {
        await mustGet(tx, key)
        const ended = (await tx.all(END, { key })).map(toAgent).toSorted((a, b) => (a.path < b.path ? -1 : 1))
        for (const agent of ended) {
          for (const { id } of await tx.all(OPEN_TURNS, { sessionId: agent.sessionId }))
            await cancelTurn(scope, tx, String(id))
          await tx.run(FORGET, { key: agent.key })
          await changed(tx, agent, 'ended')
        }
        return ended
      }),
    async update(key, change) {
      const texts = toTexts(change)
      return scope.change(async (tx) => {
        const row = await tx.get(UPDATE, { key, ...texts })
        if (row) return changed(tx, toAgent(row), 'updated')
        const { path } = await mustGet(tx, key)
        throw storeError('CONFLICT', MESSAGES.agentEnded({ path: String(path) }))
      })
    },
    revoke: (key) =>
      scope.change(async (tx) => {
        const row = (await tx.get(REVOKE, { key })) ?? (await mustGet(tx, key))
        return changed(tx, toAgent(row), 'revoked')
      }),
    use: async (key) => toUse(await scope.get(USED, { key })),
  }
}

type Facts = Pick<AgentRecord, 'permissions' | 'ceiling' | 'settings'>

function toTexts({ permissions, ceiling, settings }: Partial<Facts>): Record<keyof Facts, string | null> {
  return {
    permissions: permissions ? toJson('permissions', permissions) : null,
    ceiling: ceiling ? toJson('ceiling', ceiling) : null,
    settings: settings ? toJson('settings', settings) : null,
  }
}

async function mustGet(tx: Change, key: string): Promise<Row> {
  const row = await tx.get(GET, { key })
  if (row) return row
  throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchAgent({ key }))
}

/** No call of an agent that ended begins, in whatever process. */
export async function assertLiving(tx: Statements, agentId: string): Promise<void> {
  if (!isAgentKey(agentId)) return
  const row = await tx.get(GET, { key: agentId })
  if (!row || row.ended_at !== null)
    throw storeError('CONFLICT', MESSAGES.agentEnded({ path: String(row?.path ?? agentId) }))
}

/** An agent of the configuration is the root of its path. */
async function parentOf(tx: Change, parent: string): Promise<{ readonly path: string; readonly depth: number }> {
  if (!isAgentKey(parent)) return { path: checkName('parent', parent), depth: 0 }
  const { path, depth } = await mustGet(tx, parent)
  await assertLiving(tx, parent)
  return { path: String(path), depth: Number(depth) }
}

async function firstFree(tx: Change): Promise<string> {
  const used = new Set((await tx.all(TEMPORARY)).map(({ id }) => id))
  let number = 1
  while (used.has(`.${number}`)) number += 1
  return `.${number}`
}

async function changed(tx: Change, agent: AgentRecord, word: string): Promise<AgentRecord> {
  const { key, sessionId, id, parent } = agent
  tx.event({ type: `agent.${word}`, agentId: key, sessionId, references: { agent: id, parent } })
  return agent
}

function agentOf(row: Row, parse: JsonReader): AgentRecord {
  return defined<AgentRecord>({
    key: String(row.key),
    id: String(row.id),
    parent: optionalText(row.parent),
    path: String(row.path),
    depth: Number(row.depth),
    sessionId: String(row.session_id),
    isTemporary: Number(row.is_temporary) === 1,
    permissions: parse<AgentRecord['permissions']>(row.permissions),
    ceiling: parse<AgentRecord['ceiling']>(row.ceiling),
    settings: parse<AgentRecord['settings']>(row.settings),
    epoch: Number(row.epoch),
    createdAt: Number(row.created_at),
    endedAt: optionalNumber(row.ended_at),
  })
}
