/** making: a new agent, with rights that are looked up here: what a caller says of its parent's rights does not exist. */
import { readRules, saveRules } from '../../authorize/index.ts'
import { isNexusError } from '../../kernel/index.ts'
import type { AgentProfile } from '../../runtime/index.ts'
import { type AgentRecord, isAgentId, isAgentKey, type Store } from '../../store/index.ts'
import { infosOf } from './info.ts'
import { POOL, poolError } from './messages.ts'
import { openModel } from './opened.ts'
import type { Reach } from './reach.ts'
import { newRights, type Origin, rulesOfProfile } from './rights.ts'
import { readSettings, saveSettings } from './settings.ts'
import type { Acting, PoolState } from './pool-state.ts'
import type { Created, CreateRequest, PoolOptions } from './types.ts'

export async function create(state: PoolState, acting: Acting, request: CreateRequest): Promise<Created> {
  const { options } = state
  const { store } = options.runtime
  if (request.id !== undefined && !isAgentId(request.id))
    throw poolError('INVALID_ARGUMENT', POOL.badId(typeof request.id === 'string' ? request.id : typeof request.id))
  const origin = await originOf(options, acting, request)
  const known = await madeBefore(store, origin, request)
  if (known) {
    // A temporary one has the life of the process that goes on with the request.
    await state.own(known)
    return describe(state, { row: known, clipped: [] })
  }
  if (request.model !== undefined) await openModel(options, request.model)
  const parent = origin.row ?? (origin.madeIn === undefined ? undefined : { id: origin.of, sessionId: origin.madeIn })
  if (parent) await state.budgets.checkChild(parent, request.budget)
  const made = await insert(options, origin, request)
  await state.own(made.row)
  state.announce(made.row, 'agent-created')
  return describe(state, made)
}

interface Made {
  readonly row: AgentRecord
  readonly clipped: readonly string[]
}

/** The agent that the same request has made. */
async function madeBefore({ agents }: Store, { parent }: Found, { id, requestId }: CreateRequest) {
  const row = id === undefined || requestId === undefined ? undefined : await agents.find(id)
  return row && row.parent === parent && readSettings(row).request === requestId ? row : undefined
}

async function describe({ options, opened }: PoolState, { row, clipped }: Made): Promise<Created> {
  const { store } = options.runtime
  const { handle } = await opened.open(row)
  const [agent] = await infosOf(store, [row], options)
  if (!agent) throw poolError('AGENT_NOT_FOUND', POOL.notFound(row.id))
  const denied = handle.registry.names.filter((tool) => {
    const { chain } = handle.explain({ tool, arguments: {} }).decision
    const stops = chain.filter(({ type }) => type === 'deny').map(({ layer }) => layer)
    return (
      stops.length > 0 &&
      stops.every((layer) => /^(?:ceiling|policy) of /.test(layer) && !layer.endsWith(` of ${row.path}`))
    )
  })
  return { agent, clipped: [...clipped, ...(denied.length > 0 ? [POOL.clippedTools(denied)] : [])] }
}

/** Its ceiling names its path, so an id is chosen before the row is made; another one that takes it first is a reason to try again. */
async function insert(options: PoolOptions, origin: Found, request: CreateRequest): Promise<Made> {
  const { store } = options.runtime
  const { model, instructions, budget, title = '', requestId } = request
  const { profile, madeIn, parent } = origin
  for (;;) {
    const id = request.id ?? (await firstFree(store))
    const path = parent === undefined ? id : `${origin.of}/${id}`
    const { rules, skills, clipped } = newRights(path, { origin, request }, contextOf(options))
    const settings = saveSettings({ profile, madeIn, model, instructions, budget, skills, request: requestId })
    const { scope } = options.runtime.openAgent()
    try {
      const about = { id, title, scope, settings, parent }
      return { row: await store.agents.create({ ...about, ...saveRules(rules) }), clipped }
    } catch (error) {
      if (request.id !== undefined || !isNexusError(error) || error.code !== 'CONFLICT') throw error
      const isTaken = (await store.agents.find(id)) !== undefined
      if (!isTaken) throw error
    }
  }
}

async function firstFree({ agents }: Store): Promise<string> {
  const used = new Set((await agents.list({ isLiving: true })).map(({ id }) => id))
  let number = 1
  while (used.has(`.${number}`)) number += 1
  return `.${number}`
}

type Found = Origin & {
  readonly profile: string
  readonly parent?: string
  readonly row?: AgentRecord
  readonly madeIn?: string | undefined
}

/** The parent of a new agent: the one that acts, whatever it names; else the named one; else the first of the configuration. */
async function originOf(options: PoolOptions, acting: Acting, { parent: named }: CreateRequest): Promise<Found> {
  const { actor } = acting
  const row = await rowOf(options, acting, named)
  if (row) return fromRow(row)
  const { agents } = options.runtime
  const id = actor?.key ?? named
  const profile = id === undefined ? agents[0] : agents.find((each) => each.id === id)
  if (!profile) throw poolError('AGENT_NOT_FOUND', POOL.noParent(id ?? ''))
  const from = fromProfile(profile, contextOf(options).workspace)
  return { ...from, madeIn: actor?.sessionId, isUsers: !actor, parent: id }
}

/** The row of the parent; undefined for one of the configuration. */
async function rowOf(
  options: PoolOptions,
  { reach, actor }: Acting,
  named: string | undefined,
): Promise<AgentRecord | undefined> {
  if (!actor) return named === undefined ? undefined : rowNamed(reach, options, named)
  if (!isAgentKey(actor.key)) return undefined
  const own = await options.runtime.store.agents.get(actor.key)
  if (own) return own
  throw poolError('AGENT_NOT_FOUND', POOL.noParent(actor.key))
}

function fromRow(row: AgentRecord): Found {
  const rules = readRules(row)
  if (!rules) throw poolError('STORE_FAILED', POOL.unreadable(row.path))
  const { skills, profile } = readSettings(row)
  return { of: row.path, rules, skills, isUsers: false, profile, parent: row.key, row }
}

function fromProfile(profile: AgentProfile, workspace: string): Omit<Found, 'isUsers'> {
  const rules = rulesOfProfile(profile, workspace)
  if (!rules) throw poolError('CALL_DENIED', POOL.parentWithoutRights(profile.id))
  return { of: profile.id, rules, skills: profile.skills, profile: profile.id }
}

async function rowNamed(reach: Reach, { runtime }: PoolOptions, id: string): Promise<AgentRecord | undefined> {
  if (runtime.agents.some((each) => each.id === id)) return undefined
  try {
    return await reach.find(id)
  } catch {
    throw poolError('AGENT_NOT_FOUND', POOL.noParent(id))
  }
}

export async function parentKey(reach: Reach, options: PoolOptions, id: string): Promise<string> {
  return (await rowNamed(reach, options, id))?.key ?? id
}

/** A runtime without a workspace has no tool that works in one. */
function contextOf({ runtime, config }: PoolOptions) {
  return { presets: config?.permissions.presets ?? {}, workspace: runtime.workspace ?? '/dev/null' }
}
