/** spent: the use of an agent with its descendants, from the rows of their turns. */
import type { AgentRecord, Store, TurnRecord } from '../../store/index.ts'
import type { Holder } from './holders.ts'
import { readSettings } from './settings.ts'
import type { Budget } from './types.ts'

export type Counted = Required<Omit<Budget, 'maxDepth'>>

/** How the use of a subtree is counted. */
export interface Counting {
  readonly store: Store
  readonly now: number
  /** The limits that are asked for; others are not counted. */
  readonly names: readonly (keyof Counted)[]
  /** Sessions of the agent that the count is for and of its ancestors: their parts are not set aside as a whole. */
  readonly asking: ReadonlySet<string>
}

/** A living child with a budget of its own counts with all of it: it was set aside for it. An ended one gave back the rest. */
export async function spentBy(holder: Pick<Holder, 'sessionId' | 'children'>, counting: Counting): Promise<Counted> {
  return (await count(holder, counting)).total
}

interface Part {
  readonly total: Counted
  readonly turns: readonly TurnRecord[]
  readonly asked: readonly Interval[]
}

async function count(
  { sessionId, children }: Pick<Holder, 'sessionId' | 'children'>,
  counting: Counting,
): Promise<Part> {
  const { store, names } = counting
  const rows = await children()
  const parts = await Promise.all(rows.map((child) => countChild(child, counting)))
  const use = (await store.turns.use([sessionId])).get(sessionId)
  const isTimed = names.includes('maxTimeMs')
  const own = isTimed || names.includes('maxTurns') ? await store.turns.list({ sessionId }) : []
  const turns = [...own, ...parts.flatMap((part) => part.turns)]
  const asked = isTimed ? [...(await askedIn(store, sessionId)), ...parts.flatMap((part) => part.asked)] : []
  const mine: Counted = {
    maxTokens: use?.totalTokens ?? 0,
    maxTurns: own.filter(({ startedAt }) => startedAt !== undefined).length,
    maxTimeMs: 0,
    maxChildren: rows.length,
    maxCost: use?.cost ?? 0,
  }
  const total = parts.reduce((sum, part) => add(sum, part.total), mine)
  const maxTimeMs = isTimed
    ? length(without(union(turns.flatMap((turn) => worked(turn, counting.now))), union(asked)))
    : 0
  return { total: { ...total, maxTimeMs }, turns, asked }
}

async function countChild(row: AgentRecord, counting: Counting): Promise<Part> {
  const { agents } = counting.store
  const part = await count({ sessionId: row.sessionId, children: () => agents.list({ parent: row.key }) }, counting)
  if (row.endedAt !== undefined || counting.asking.has(row.sessionId)) return part
  const { budget = {} } = readSettings(row)
  const aside = (name: keyof Counted): number => Math.max(part.total[name], budget[name] ?? 0)
  // Time is not set aside: agents that work at the same time share it.
  const { maxTimeMs } = part.total
  const [maxTokens, maxTurns, maxChildren, maxCost] = [
    aside('maxTokens'),
    aside('maxTurns'),
    aside('maxChildren'),
    aside('maxCost'),
  ]
  return { ...part, total: { maxTokens, maxTurns, maxTimeMs, maxChildren, maxCost } }
}

function add(one: Counted, other: Counted): Counted {
  return {
    maxTokens: one.maxTokens + other.maxTokens,
    maxTurns: one.maxTurns + other.maxTurns,
    maxTimeMs: 0,
    maxChildren: one.maxChildren + other.maxChildren,
    maxCost: one.maxCost + other.maxCost,
  }
}

/** From and to, in epoch milliseconds. */
type Interval = readonly [from: number, to: number]

/** Without the times in which no process had it. */
function worked({ startedAt, endedAt, away = [] }: TurnRecord, now: number): readonly Interval[] {
  if (startedAt === undefined) return []
  return without([[startedAt, endedAt ?? now]], union(away.map(([from, to = Infinity]) => [from, to])))
}

/** While a person is asked, no time runs. A question that closed without an answer counts as none. */
async function askedIn({ approvals }: Store, sessionId: string): Promise<readonly Interval[]> {
  const questions = await approvals.list({ sessionId })
  return questions.flatMap(({ createdAt, answeredAt, state, expiresAt }): Interval[] => {
    if (state === 'open') return [[createdAt, Infinity]]
    const to = answeredAt ?? (state === 'expired' ? expiresAt : undefined)
    return to === undefined ? [] : [[createdAt, to]]
  })
}

function union(intervals: readonly Interval[]): readonly Interval[] {
  const joined: [number, number][] = []
  for (const [from, to] of intervals.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
}

/** Both are unions. */
function without(intervals: readonly Interval[], holes: readonly Interval[]): readonly Interval[] {
  return holes.reduce<readonly Interval[]>(
    (left, [from, to]) =>
      left.flatMap(([start, end]): Interval[] => {
        const kept: Interval[] = [
          [start, Math.min(end, from)],
          [Math.max(start, to), end],
        ]
        return kept.filter(([first, last]) => last > first)
      }),
    intervals,
  )
}

function length(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, [from, to]) => sum + to - from, 0)
}
