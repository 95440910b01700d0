import { type Clock, type JsonObject, newId, NexusError, systemClock } from '../kernel/index.ts'
import { currentOwner, isOwnerAlive, type SessionRecord, type Sessions, type StoredMessage } from '../store/index.ts'
import type { AgentEvent, AgentListener, TurnResult } from './events.ts'
import { repairHistory, toTitle, userMessage } from './history.ts'
import { loadedOf, withLoaded } from './loaded-skills.ts'
import { type AgentLimits, toLimits } from './limits.ts'
import type { ModelChoice } from './model/open-model.ts'
import type { TurnAgent } from './turn-context.ts'
import { skillsOfTurn } from './skills-of-turn.ts'
import { runTurn, toFault } from './turn.ts'

/** A model with tools, skills and a history. */
export interface Agent {
  readonly id: string
  readonly sessionId: string
  /**
   * One turn: resolves when the model answered or the turn ended otherwise; what went wrong on the way is in the result.
   * Rejects before the turn begins with INVALID_ARGUMENT (no content), CONFLICT (the session has a turn on),
   * or STORE_FAILED. One turn at a time: a second `send` is refused, not queued.
   */
  send(content: string, options?: SendOptions): Promise<TurnResult>
}

export interface SendOptions {
  /** Ends the turn: the request to the model is closed, a running command is stopped, open calls are answered "cancelled". */
  readonly signal?: AbortSignal
  readonly onEvent?: AgentListener
}

export interface AgentOptions {
  /** The agent in its session, from `runtime.openAgent({ id, sessionId })`. The session is made when there is none. */
  readonly agent: TurnAgent
  readonly model: ModelChoice
  readonly sessions: Sessions
  /** The first part of the system prompt; the skills follow. */
  readonly instructions?: string
  readonly limits?: Partial<AgentLimits>
  readonly clock?: Clock
  /** Which process runs the turns; default this one. */
  readonly owner?: string
}

/** Tools that bring a skill to the model. */
const LOADERS: readonly string[] = ['load_skill', 'Skill', 'read_skill_file']

const DEFAULT_INSTRUCTIONS =
  'You are an agent that works with tools and skills. Use them when they help, look at their results, and answer the user in plain words. Say so when something failed.'

/** Makes an agent. Nothing happens before the first `send`. Throws INVALID_ARGUMENT for a limit that cannot be used, and for an agent without a session. */
export function createAgent(options: AgentOptions): Agent {
  const { agent, model, sessions, clock = systemClock, owner = currentOwner() } = options
  const { id } = agent
  const sessionId = sessionOf(agent)
  const limits = toLimits(options.limits)
  const instructions = options.instructions ?? DEFAULT_INSTRUCTIONS
  let isBusy = false
  /** True while the session says `running` because of us: after a failed release it is still ours to take. */
  let isHeld = false

  async function take(title: string): Promise<SessionRecord> {
    const found = (await sessions.get(sessionId)) ?? (await sessions.create({ id: sessionId, agentId: id, title }))
    if (found.agentId !== id) {
      throw new NexusError(
        'CONFLICT',
        `Session ${sessionId} belongs to the agent '${found.agentId}', not to '${id}'.`,
        {
          fix: 'Leave out the session to start a new one.',
        },
      )
    }
    if (found.state === 'running' && !isHeld) await free(found)
    return sessions.update(sessionId, { state: 'running', owner, ...(!isHeld && { expectedState: 'idle' }) })
  }

  /** A session whose owner died in a turn may be taken over; one whose owner lives may not. */
  async function free(session: SessionRecord): Promise<void> {
    if (session.owner !== undefined && isOwnerAlive(session.owner)) {
      throw new NexusError('CONFLICT', `Session ${sessionId} has a turn on.`, {
        fix: 'Wait until it ends, or cancel it.',
      })
    }
    await sessions.update(sessionId, { state: 'idle', owner: null, expectedState: 'running' })
  }

  async function begin(
    content: string,
    context: { signal: AbortSignal; emit: AgentListener; before: JsonObject | undefined },
  ): Promise<{ messages: StoredMessage[]; instructions: string; snapshot: JsonObject }> {
    const history = await sessions.messages(sessionId)
    const repair = repairHistory(history)
    if (repair.messages.length > 0)
      context.emit({ type: 'notice', code: 'interrupted-turn', text: describeRepair(repair.openCalls) })
    await agent.beginTurn(context.signal)
    agent.recallSkills(loadedOf(context.before))
    const snapshot = agent.snapshot()
    const canLoad = agent.definitions().some(({ name }) => LOADERS.includes(name))
    const about = skillsOfTurn(content, {
      catalog: agent.catalog(),
      before: context.before,
      now: snapshot,
      canLoad,
      outdated: await agent.outdatedSkills(context.signal),
    })
    for (const notice of about.notices) context.emit({ type: 'notice', ...notice })
    await sessions.update(sessionId, { snapshot: withLoaded(snapshot, agent.loadedSkills()) })
    const added = [...repair.messages, agent.redact(userMessage(content))]
    await sessions.append(sessionId, added)
    return { messages: [...history, ...added], instructions: about.instructions, snapshot }
  }

  async function takeTurn(
    content: string,
    { signal = new AbortController().signal, onEvent }: SendOptions,
  ): Promise<TurnResult> {
    const turnId = newId(clock.now())
    const emit = guard(onEvent)
    const { snapshot: before } = await take(agent.redact(toTitle(content)))
    isHeld = true
    emit({ type: 'turn-start', turnId, sessionId, model: model.describe })
    const base = { agent, sessionId, turnId, model, sessions, limits, clock, signal, emit }
    let result: TurnResult
    let snapshot: JsonObject | undefined
    try {
      const begun = await begin(content, { signal, emit, before })
      snapshot = begun.snapshot
      const told = [instructions, begun.instructions].filter((text) => text !== '').join('\n\n')
      result = await runTurn({ ...base, messages: begun.messages, instructions: told })
    } catch (error) {
      result = notBegun({ turnId, sessionId, error, isCancelled: signal.aborted })
    } finally {
      agent.endTurn()
    }
    result = await release(result, snapshot)
    emit({ type: 'turn-end', result })
    return result
  }

  /** `snapshot` is what the model was told; what it loaded since is kept beside it. */
  async function release(result: TurnResult, snapshot: JsonObject | undefined): Promise<TurnResult> {
    try {
      const loaded = agent.loadedSkills()
      const changes = snapshot && loaded.length > 0 ? { snapshot: withLoaded(snapshot, loaded) } : {}
      await sessions.update(sessionId, { state: 'idle', owner: null, ...changes })
      isHeld = false
      return result
    } catch (error) {
      return { ...result, end: 'failed', error: result.error ?? toFault(error) }
    }
  }

  return {
    id,
    sessionId,
    async send(content, sendOptions = {}) {
      if (content.trim() === '') {
        throw new NexusError('INVALID_ARGUMENT', 'The message to the agent is empty.', { fix: 'Say what it is to do.' })
      }
      if (isBusy) {
        throw new NexusError('CONFLICT', `The agent '${id}' has a turn on.`, {
          fix: 'Wait until it ends, or cancel it.',
        })
      }
      isBusy = true
      try {
        return await takeTurn(content, sendOptions)
      } finally {
        isBusy = false
      }
    },
  }
}

function sessionOf({ id, sessionId }: TurnAgent): string {
  if (sessionId !== undefined) return sessionId
  throw new NexusError('INVALID_ARGUMENT', `The agent '${id}' was opened without a session, so it has no history.`, {
    fix: 'Open it with one: runtime.openAgent({ sessionId: crypto.randomUUID() })',
  })
}

/** The model was not asked: the store or the search for skills failed, or the caller cancelled first. */
function notBegun(about: { turnId: string; sessionId: string; error: unknown; isCancelled: boolean }): TurnResult {
  const { turnId, sessionId, error, isCancelled } = about
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, steps: 0 }
  const result = { turnId, sessionId, text: '', usage }
  return isCancelled ? { ...result, end: 'cancelled' } : { ...result, end: 'failed', error: toFault(error) }
}

function describeRepair(openCalls: readonly string[]): string {
  if (openCalls.length === 0) return 'The turn before this one was cut off.'
  return `The turn before this one was cut off in ${openCalls.join(', ')}: outcome unknown. It is not run again by itself.`
}

/** A listener is for display: when it throws, the turn goes on, so that no call stays without its answer. */
function guard(listener: AgentListener | undefined): AgentListener {
  return (event: AgentEvent) => {
    try {
      listener?.(event)
    } catch (error) {
      process.emitWarning(`A listener of agent events threw: ${String(error)}`, 'NexusWarning')
    }
  }
}
