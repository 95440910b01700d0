/** info: agents as people and programs see them in lists, trees and their status. */
import { readRules } from '../../authorize/index.ts'
import { type AgentRecord, isAgentKey, type Store, type TurnRecord } from '../../store/index.ts'
import { readSettings } from './settings.ts'
import type { AgentInfo, AgentState, AgentTree, PoolOptions } from './types.ts'

/** Facts that several rows need are read once. */
export async function infosOf(
  { agents, sessions, turns }: Store,
  rows: readonly AgentRecord[],
  { model: usual }: Pick<PoolOptions, 'model'>,
): Promise<readonly AgentInfo[]> {
  const all = rows.length > 1 ? await agents.list() : undefined
  const living = all?.filter(({ endedAt }) => endedAt === undefined)
  const open = await turns.list({ states: ['queued', 'running', 'waiting'] })
  const parents = all ?? (await Promise.all(rows.map(({ parent }) => byKey(agents, parent)))).flat()
  const childrenOf = async ({ key }: AgentRecord): Promise<number> =>
    (living?.filter(({ parent }) => parent === key) ?? (await agents.list({ parent: key, isLiving: true }))).length
  return Promise.all(
    rows.map(async (row) => {
      const session = await sessions.get(row.sessionId)
      const { model } = readSettings(row)
      const parent = row.parent && (parents.find(({ key }) => key === row.parent)?.id ?? row.parent)
      return {
        ...factsOf(row),
        ...(parent !== undefined && { parent }),
        model: model ?? (typeof usual === 'function' ? 'pool' : usual.describe),
        state: stateOf(row, open),
        messageCount: session?.messageCount ?? 0,
        childCount: await childrenOf(row),
        lastActionAt: session?.updatedAt ?? row.createdAt,
      }
    }),
  )
}

async function byKey(agents: Store['agents'], key: string | undefined): Promise<readonly AgentRecord[]> {
  const row = key !== undefined && isAgentKey(key) ? await agents.get(key) : undefined
  return row ? [row] : []
}

function factsOf(row: AgentRecord) {
  const { id, key, path, depth, sessionId, isTemporary, createdAt, endedAt } = row
  const { preset, level } = readRules(row)?.permissions ?? { preset: 'unreadable', level: 'unreadable' }
  return {
    id,
    key,
    path,
    depth,
    sessionId,
    isTemporary,
    preset,
    level,
    createdAt,
    ...(endedAt !== undefined && { endedAt }),
  }
}

function stateOf({ endedAt, sessionId }: AgentRecord, open: readonly TurnRecord[]): AgentState {
  if (endedAt !== undefined) return 'ended'
  const states = open.filter((turn) => turn.sessionId === sessionId).map(({ state }) => state)
  if (states.includes('running')) return 'running'
  if (states.includes('waiting')) return 'waiting'
  return states.length > 0 ? 'queued' : 'idle'
}

/** Rows whose parent is not among them are the roots. */
export function treesOf(infos: readonly AgentInfo[], rows: readonly AgentRecord[]): readonly AgentTree[] {
  const parents = new Map(rows.map(({ key, parent }) => [key, parent]))
  const below = (parent: string): readonly AgentTree[] =>
    infos.filter(({ key }) => parents.get(key) === parent).map((info) => ({ ...info, children: below(info.key) }))
  return infos
    .filter(({ key }) => {
      const parent = parents.get(key)
      return parent === undefined || !parents.has(parent)
    })
    .map((info) => ({ ...info, children: below(info.key) }))
}
