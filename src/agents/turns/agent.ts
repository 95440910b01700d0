import { NexusError, systemClock } from '../../kernel/index.ts'
import type { SessionRecord, StoredMessage, TurnRecord } from '../../store/index.ts'
import type { AgentEvent, AgentListener, TurnResult } from './events.ts'
import { agentMessage, authorOf } from './agent-messages.ts'
import type { Agent, AgentOptions, SendOptions } from './api.ts'
import { compactionRequest, isCompactionRequest, runCompaction } from './context/compaction.ts'
import { readContext } from './context/read-context.ts'
import { type LearnedContext, toContextSettings } from './context/settings.ts'
import { type FateOfCalls, repairHistory, toTitle, userMessage } from './history.ts'
import { startTimer, toLimits } from './limits.ts'
import { createLiveTurn, type LiveTurn } from './live-turn.ts'
import type { ModelChoice } from './model/open-model.ts'
import { fateOfCalls, nameLeft, openQuestion, recordedCalls } from './left-work.ts'
import { AGENTS, NOTICES, TURNS } from './messages.ts'
import { skillsOfTurn } from './skills-of-turn.ts'
import { takeOver } from './take-over.ts'
import { resultOf, toStored } from './stored-result.ts'
import { type FinishedTurn, notBegun, toFault } from './endings.ts'
import { type Before, offeredTools, runTurn, withSkills } from './turn.ts'
import type { TurnAgent } from './turn-context.ts'
import { takeQueued, type TakenTurn } from './turn-queue.ts'

/** Tools that bring a skill to the model. */
const LOADERS: readonly string[] = ['load_skill', 'Skill', 'read_skill_file']

const DEFAULT_INSTRUCTIONS =
  'You are an agent that works with tools and skills. Use them when they help, look at their results, and answer the user in plain words. Say so when something failed.'

/** The history with the message of the turn. */
interface OpenedHistory {
  readonly messages: readonly StoredMessage[]
  /** Tools whose call was open, when the turn before was cut off. */
  readonly openCalls: readonly string[] | undefined
  readonly fate: FateOfCalls
}

/** Makes an agent. Nothing happens before the first `send`. Throws INVALID_ARGUMENT for a limit that cannot be used, and for an agent without a session. */
export function createAgent(options: AgentOptions): Agent {
  const { agent, store, hooks = {}, clock = systemClock, onEvent: heard } = options
  const { sessions, turns } = store
  const { id, key } = agent
  const sessionId = sessionOf(agent)
  const place = { store, sessionId }
  const limits = toLimits(options.limits)
  const instructions = options.instructions ?? DEFAULT_INSTRUCTIONS
  const context = toContextSettings(options.context)
  const learned: LearnedContext = { factor: 1 }
  let live: LiveTurn | undefined

  const chosenModel = async (): Promise<ModelChoice> =>
    typeof options.model === 'function' ? options.model() : options.model

  /** Another message to the same new session may be first. */
  async function createSession(content: string): Promise<SessionRecord> {
    try {
      const title = agent.redact(toTitle(content))
      return await sessions.create({ id: sessionId, agentId: key, title, scope: agent.scope })
    } catch (error) {
      const known = await sessions.get(sessionId)
      if (known) return known
      throw error
    }
  }

  function checkOwner({ agentId }: SessionRecord): void {
    if (agentId === key) return
    const { message, fix } = AGENTS.otherAgent({ sessionId, owner: agentId, id })
    throw new NexusError('CONFLICT', message, { fix })
  }

  async function checkSession(): Promise<void> {
    const session = await sessions.get(sessionId)
    if (session) checkOwner(session)
  }

  /** Waits for the turn, then runs it to its end. Undefined when `leaves`, and its signal aborted before. */
  function run(queued: TurnRecord, options: SendOptions): Promise<TurnResult>
  function run(queued: TurnRecord, options: SendOptions, leaves: true): Promise<TurnResult | undefined>
  async function run(
    queued: TurnRecord,
    { signal = never(), onEvent }: SendOptions,
    leaves = false,
  ): Promise<TurnResult | undefined> {
    const turnId = queued.id
    const emit: AgentListener = (event) => {
      for (const listener of [heard, onEvent]) tell(listener, event)
    }
    emit({ type: 'turn-queued', turnId, sessionId })
    await nameLeft(place, turnId, emit)
    const question = await openQuestion(place, turnId)
    const onWait = ({ state }: TurnRecord): void => {
      if (question) {
        for (const words of TURNS.waitsForAnswer(question)) emit({ type: 'notice', code: 'turn-waits', ...words })
        return
      }
      const words = state === 'running' ? TURNS.runsAlready({ turnId }) : TURNS.waits({ turnId, sessionId })
      emit({ type: 'notice', code: 'turn-waits', ...words })
    }
    let opened: OpenedHistory = { messages: [], openCalls: undefined, fate: 'unknown' }
    const opening = async (): Promise<readonly StoredMessage[]> => {
      const history = await sessions.messages(sessionId)
      const { openCalls } = repairHistory(history)
      const fate = openCalls.length > 0 ? await fateOfCalls(store.ledger, sessionId) : 'unknown'
      const { messages } = repairHistory(history, fate)
      const added = isCompactionRequest(queued.message) ? messages : [...messages, queued.message]
      opened = { messages: [...history, ...added], openCalls: messages.length > 0 ? openCalls : undefined, fate }
      return added
    }
    const taken = await takeQueued(store, queued, { signal, leaves, onWait, opening, agent })
    if (taken.type === 'left') return undefined
    const result = taken.type === 'ended' ? resultOf(taken.turn) : await runTaken(taken, { signal, emit, opened })
    emit({ type: 'turn-end', result })
    return result
  }

  async function runTaken(
    taken: TakenTurn,
    { signal: caller, emit, opened }: { signal: AbortSignal; emit: AgentListener; opened: OpenedHistory },
  ): Promise<TurnResult> {
    const { turn, lease, stopped, goesOn } = taken
    const turnId = turn.id
    const signal = AbortSignal.any([caller, stopped])
    const running = createLiveTurn(startTimer(clock, limits.turnTimeoutMs), (message) =>
      sessions.append(sessionId, [message], lease),
    )
    let ended: FinishedTurn
    try {
      const model = await chosenModel()
      const about = { agent, sessionId, turnId, sessions, turns, lease, limits, clock, signal, emit, hooks, context }
      const base = { ...about, model, learned }
      emit({ type: 'turn-start', turnId, sessionId, model: model.describe })
      const { openCalls, fate } = opened
      if (openCalls) emit({ type: 'notice', code: 'interrupted-turn', text: NOTICES.repaired({ openCalls, fate }) })
      const told = [instructions, await begin(taken, { signal, emit })].filter((text) => text !== '').join('\n\n')
      const messages = goesOn ? await sessions.messages(sessionId) : opened.messages
      const { use, hiddenCalls } = turn
      const before: Before | undefined = goesOn
        ? { hidden: new Set(hiddenCalls), recorded: await recordedCalls(place, turnId) }
        : undefined
      live = running
      const parts = { ...base, use, messages, instructions: told, before, live }
      ended = await (isCompactionRequest(turn.message) ? runCompaction(parts) : runTurn(parts))
    } catch (error) {
      ended = notBegun(turn, error, signal.aborted)
    } finally {
      live = undefined
      running.timer.stop()
      agent.endTurn()
    }
    return finish(taken, ended)
  }

  /** Picks up the skills as they are now; returns what the model is to know about them. */
  async function begin(
    { turn: { message }, lease }: TakenTurn,
    { signal, emit }: { signal: AbortSignal; emit: AgentListener },
  ): Promise<string> {
    const before = await sessions.get(sessionId)
    await agent.beginTurn({ lease, signal })
    agent.recallSkills(before?.loaded ?? [])
    const snapshot = agent.snapshot()
    const about = skillsOfTurn(authorOf(message) === undefined ? String(message.content) : '', {
      catalog: agent.catalog(),
      before: before?.snapshot,
      now: snapshot,
      canLoad: agent.definitions().some(({ name }) => LOADERS.includes(name)),
      outdated: await agent.outdatedSkills(signal),
    })
    for (const notice of about.notices) emit({ type: 'notice', ...notice })
    if (before?.snapshot?.['version'] !== snapshot['version']) await sessions.update(sessionId, { snapshot }, lease)
    return about.instructions
  }

  /** The end of a turn is durable before it is reported. A process that lost the session cannot write it. */
  async function finish(taken: TakenTurn, { result, ...end }: FinishedTurn): Promise<TurnResult> {
    try {
      const state = result.end === 'cancelled' ? 'cancelled' : 'done'
      await taken.finish({ state, result: agent.redact(toStored(result)), ...end })
      return result
    } catch (cause) {
      await taken.giveUp().catch(() => undefined)
      return { ...result, end: 'failed', error: result.error ?? toFault(cause) }
    }
  }

  return {
    id,
    sessionId,
    async send(content, sendOptions = {}) {
      if (content.trim() === '') throw invalid(AGENTS.emptyMessage())
      checkOwner((await sessions.get(sessionId)) ?? (await createSession(content)))
      const { from, requestId } = sendOptions
      const message = agent.redact(from ? agentMessage(content, from) : userMessage(content))
      const turn = await agent.writeAsProcess((lease) => turns.enqueue({ sessionId, message, lease, requestId }))
      return run(turn, sendOptions)
    },
    async takeOver(takeOptions = {}) {
      await checkSession()
      const { signal = never() } = takeOptions
      return takeOver({ store, sessionId, agent, signal }, (turn) => run(turn, takeOptions, true))
    },
    async cancel(requestId) {
      await checkSession()
      const turn = await turns.get({ sessionId, requestId })
      if (!turn || turn.endedAt !== undefined) return false
      const { state, isCancelRequested } = await turns.cancel(turn.id)
      return state === 'cancelled' || (state === 'running' && isCancelRequested)
    },
    async deliver(content, from) {
      if (content.trim() === '') throw invalid(AGENTS.emptyMessage())
      return (await live?.deliver(agent.redact(agentMessage(content, from)))) ?? false
    },
    async compact(compactOptions = {}) {
      await checkSession()
      const { requestId } = compactOptions
      const message = compactionRequest()
      const turn = await agent.writeAsProcess((lease) => turns.enqueue({ sessionId, message, lease, requestId }))
      return run(turn, compactOptions)
    },
    async context() {
      await checkSession()
      const messages = (await sessions.get(sessionId)) ? await sessions.messages(sessionId) : []
      const prompt = { instructions: withSkills(instructions, agent), tools: offeredTools(agent, limits) }
      return readContext(prompt, messages, { context, model: await chosenModel(), learned })
    },
    pauseClock() {
      const timer = live?.timer
      timer?.pause()
      return () => timer?.resume()
    },
    async resume(turnId, resumeOptions = {}) {
      await checkSession()
      const turn = await turns.get(turnId)
      if (turn?.sessionId === sessionId && (turn.state === 'queued' || turn.state === 'waiting'))
        return run(turn, resumeOptions)
      throw invalid(AGENTS.notWaiting({ turnId, sessionId }))
    },
  }
}

function never(): AbortSignal {
  return new AbortController().signal
}

function sessionOf({ id, sessionId }: TurnAgent): string {
  if (sessionId !== undefined) return sessionId
  throw invalid(AGENTS.noSession(id))
}

function invalid({ message, ...fix }: { readonly message: string; readonly fix?: string }): NexusError {
  return new NexusError('INVALID_ARGUMENT', message, fix)
}

/** A listener is for display: when it throws, the turn goes on, so that no call stays without its answer. */
function tell(listener: AgentListener | undefined, event: AgentEvent): void {
  try {
    listener?.(event)
  } catch (error) {
    process.emitWarning(AGENTS.listenerThrew(error), 'NexusWarning')
  }
}
