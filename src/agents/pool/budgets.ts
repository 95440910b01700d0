/** budgets: the most that agents and their descendants may use up: checked before each request to a model, and when an agent is made. */
import type { AgentRecord } from '../../store/index.ts'
import type { TurnStop } from '../turns/index.ts'
import { type ConfiguredAgent, type Holder, holdersOf, narrower } from './holders.ts'
import { BUDGETS, poolError } from './messages.ts'
import { type Counted, spentBy } from './spent.ts'
import type { Budget, PoolOptions } from './types.ts'

export interface Budgets {
  /** Why the agent may not ask its model; undefined when it may. */
  check(agent: AgentRecord | ConfiguredAgent): Promise<TurnStop | undefined>
  /** The rest that an agent may use, by its own budget and those of its ancestors. */
  left(agent: AgentRecord | ConfiguredAgent): Promise<Budget>
  /** Throws LIMIT_EXCEEDED for a child, or a budget of one, that its parent has not left. */
  checkChild(parent: AgentRecord | ConfiguredAgent, asked: Budget | undefined): Promise<void>
}

const NAMES = ['maxTokens', 'maxTurns', 'maxTimeMs', 'maxChildren', 'maxCost'] as const satisfies (keyof Counted)[]
/** Reached by working; the others by making agents. */
const WORK = ['maxTokens', 'maxTurns', 'maxTimeMs', 'maxCost'] as const

export function createBudgets(options: Pick<PoolOptions, 'runtime' | 'config'>): Budgets {
  const { store } = options.runtime

  /** Each holder that has a limit, with its use. The parts of the asking agent's own line count as they are. */
  async function used(
    holders: readonly Holder[],
    limits: readonly (keyof Counted)[],
  ): Promise<readonly { readonly holder: Holder; readonly spent: Counted }[]> {
    const asking = new Set(holders.map(({ sessionId }) => sessionId))
    const all = await Promise.all(
      holders.map(async (holder) => {
        const names = limits.filter((name) => holder.budget[name] !== undefined)
        if (names.length === 0) return []
        return [{ holder, spent: await spentBy(holder, { store, now: Date.now(), names, asking }) }]
      }),
    )
    return all.flat()
  }

  async function left(agent: AgentRecord | ConfiguredAgent): Promise<Budget> {
    const holders = await holdersOf(options, agent)
    const rests = (await used(holders, NAMES)).map(({ holder, spent }) => restOf(holder, spent))
    const depth = agentDepth(agent)
    const levels = holders.flatMap((holder) =>
      holder.budget.maxDepth === undefined
        ? []
        : [{ maxDepth: Math.max(0, holder.depth + holder.budget.maxDepth - depth) }],
    )
    return [...rests, ...levels].reduce<Budget>(narrower, {})
  }

  return {
    left,
    async check(agent) {
      for (const { holder, spent } of await used(await holdersOf(options, agent), WORK)) {
        const reached = WORK.find((name) => isReached(name, { budget: holder.budget, spent }))
        if (reached !== undefined)
          return BUDGETS.reached(reached, { holder: holder.name, budget: holder.budget, spent })
      }
      return undefined
    },
    async checkChild(parent, asked = {}) {
      const rest = await left(parent)
      if ((rest.maxChildren ?? 1) < 1) throw poolError('LIMIT_EXCEEDED', BUDGETS.noChild('maxChildren'))
      if ((rest.maxDepth ?? 1) < 1) throw poolError('LIMIT_EXCEEDED', BUDGETS.noChild('maxDepth'))
      const beyond = NAMES.find((name) => (asked[name] ?? 0) > (rest[name] ?? Infinity))
      if (beyond !== undefined)
        throw poolError(
          'LIMIT_EXCEEDED',
          BUDGETS.beyond(beyond, { asked: asked[beyond] ?? 0, left: rest[beyond] ?? 0 }),
        )
    },
  }
}

function agentDepth(agent: AgentRecord | ConfiguredAgent): number {
  return 'depth' in agent ? agent.depth : 0
}

function restOf({ budget }: Holder, spent: Counted): Budget {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const most = budget[name]
      return most === undefined ? [] : [[name, Math.max(0, most - spent[name])]]
    }),
  )
}

/** The turn that asks is counted already. */
function isReached(
  name: (typeof WORK)[number],
  { budget, spent }: { readonly budget: Budget; readonly spent: Counted },
): boolean {
  const most = budget[name]
  if (most === undefined) return false
  return name === 'maxTurns' ? spent[name] > most : spent[name] >= most
}
