/** Which agent is below which. Parents of an agent never change, so an answer is kept. */
import type { Agents } from '../../store/index.ts'

export interface Family {
  /** Whether the agent is a descendant of the other one; both by key. */
  isBelow(key: string, ancestor: string): Promise<boolean>
  /** The id of an agent by its key. */
  nameOf(key: string | undefined): Promise<string | undefined>
  /** The agent, where it was looked up before. */
  peek(key: string): Known | undefined
}

export interface Known {
  readonly id: string
  readonly ancestors: ReadonlySet<string>
}

const MAX_KNOWN = 10_000

export function openFamily(agents: Agents | undefined): Family {
  const known = new Map<string, Known>()
  async function find(key: string): Promise<Known | undefined> {
    const before = known.get(key)
    if (before) return before
    // Agents of the configuration have no rows.
    if (!agents || !key.startsWith('@')) return undefined
    const chain = await agents.chain(key)
    const own = chain.at(-1)
    if (!own) return undefined
    if (known.size >= MAX_KNOWN) known.clear()
    const found = { id: own.id, ancestors: new Set(chain.slice(0, -1).map((agent) => agent.key)) }
    known.set(key, found)
    return found
  }
  return {
    isBelow: async (key, ancestor) => (await find(key))?.ancestors.has(ancestor) ?? false,
    peek: (key) => known.get(key),
    nameOf: async (key) => (key === undefined ? undefined : (await find(key))?.id),
  }
}
