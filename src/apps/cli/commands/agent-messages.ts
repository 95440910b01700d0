/** The commands that send messages to agents and go on with what is left of them. */
import type { Pool, PoolEvent, Sent } from '../../../agents/pool/index.ts'
import type { TurnResult } from '../../../agents/turns/index.ts'
import { commandFix, toSafeLine, toSafeText } from '../../../kernel/index.ts'
import type { Local } from '../../../local/index.ts'
import type { Client } from '../../client/index.ts'
import { type Answer, argument, type Invocation, stringFlag } from '../command.ts'
import { errorOf } from '../failure.ts'
import { loadHere, warnUnconfined } from '../open.ts'
import { poolOver, withPool } from '../open-pool.ts'
import { type Agents, answerer, servedAgents } from '../served-agents.ts'
import { eventLine } from '../show/agents.ts'
import { followServed } from '../show/served-turn.ts'
import { useText } from '../show/tokens.ts'
import { createTurnDisplay } from '../show/turn.ts'
import { failureOf, readTask } from '../task.ts'
import { serverOf } from './server.ts'

export const RUNS = { needsTrust: true } as const
export const ID = 'the id of an agent'

export async function sendToAgent(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, ID, ['worker-1', 'Chart data/sales.csv'])
  const message = async (): Promise<Message> => {
    const content = await readTask({ ...invocation, positionals: invocation.positionals.slice(1) })
    const request = stringFlag(invocation, 'request')
    return { id, content, request }
  }
  const client = await serverOf(invocation)
  if (client) return answerOf(await sendServed(client, invocation, await message()), invocation)
  return withPool(invocation, RUNS, async (pool, local) => {
    const content = await message()
    await pool.restore()
    return answerOf(await sendShown({ pool, local }, invocation, content), invocation)
  })
}

interface Opened {
  readonly pool: Pool
  readonly local: Local
}

interface Message {
  readonly id: string
  readonly content: string
  readonly request?: string
}

/** The same, of an agent of a server. Questions are asked here where a person, or `--yes`, answers. */
export async function sendServed(
  client: Client,
  invocation: Invocation,
  { id, content, request }: Message,
): Promise<Sent> {
  const { signal, flags, terminal } = invocation
  await using following = await followServed(client, id, {
    onEvent: eventShower(invocation, id),
    onQuestion: answerer(client, invocation),
  })
  const sent = await servedAgents(client).send(id, content, { signal, requestId: request })
  if (sent.type !== 'answered') return sent
  const { turnId, text } = sent.result
  // Another server on the same store may have run it: its words come only with the answer.
  if (!(await following.shown(turnId)) && text !== '' && flags['json'] !== true) terminal.write(`${toSafeText(text)}\n`)
  return sent
}

/** Sends, and shows the words of the agent and a line for each thing that its descendants do. */
export async function sendShown(
  { pool, local }: Opened,
  invocation: Invocation,
  { id, content, request }: Message,
): Promise<Sent> {
  const { signal } = invocation
  using _showing = showing({ pool, local }, invocation, id)
  // Awaited here, because the events are shown until this returns.
  return await pool.send(id, content, { signal, requestId: request })
}

/** Shows the turns of an agent and its descendants until it is disposed of. */
function showing({ pool, local }: Opened, invocation: Invocation, id: string): Disposable {
  warnUnconfined(local, invocation)
  const stop = pool.listen(eventShower(invocation, id), { id })
  return { [Symbol.dispose]: stop }
}

/** The words of the agent, what it does, and a line for each thing that its descendants do. */
function eventShower(invocation: Invocation, id: string): (event: PoolEvent) => void {
  const { terminal, flags } = invocation
  const display = createTurnDisplay(terminal.besideDocument(), {
    say: flags['json'] === true ? () => undefined : terminal.write,
    note: terminal.note,
    isAnswered: flags['yes'] === true || terminal.isInteractive,
  })
  return (happened) => {
    const { event } = happened
    if (happened.agentId === id && event.type !== 'agent-created' && event.type !== 'agent-ended') return display(event)
    const line = eventLine(happened, terminal.besideDocument())
    if (line !== undefined) terminal.note(line)
  }
}

export function answerOf(sent: Sent, invocation: Invocation, more: object = {}): Answer {
  if (sent.type !== 'answered') return { data: { ...more, ...sent } }
  return { ...toAnswer([sent.result], invocation, { ...more, request: sent.requestId }) }
}

function toAnswer(results: readonly TurnResult[], { terminal }: Invocation, more: object): Answer {
  for (const { sessionId, usage } of results)
    terminal.note(terminal.paintNote('dim', `session ${sessionId} · ${useText(usage)}`))
  const turns = results.map(({ sessionId: session, turnId: turn, end, text, usage }) => ({
    session,
    turn,
    end,
    text,
    usage,
  }))
  const last = results.at(-1)
  const error = last && failureOf(last)
  return { data: { ...more, turns }, ...(error ? { error } : { exit: 0 }) }
}

export async function resumeAgent(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, ID, ['worker-1'])
  const client = await serverOf(invocation)
  if (client) return resumeServed(client, invocation, id)
  return withPool(invocation, RUNS, async (pool, local) => {
    await pool.restore()
    return resume({ pool, local }, invocation, id)
  })
}

/** Throws CONFLICT while a question is open that nobody here can answer. */
async function checkAnswered(agents: Agents, { flags, terminal }: Invocation, id: string): Promise<void> {
  const [question] = (await agents.status(id)).questions
  if (!question || flags['yes'] === true || flags['wait'] === true || terminal.isInteractive) return
  throw errorOf(
    'CONFLICT',
    `The turn did not go on: it waits for an answer about ${toSafeLine(question.agentPath)}: ${toSafeLine(question.tool)} ${toSafeLine(question.command)}`,
    commandFix('Answer it, then try again:', 'approvals', 'answer', question.id, '--allow'),
  )
}

/** A server goes on by itself with what is answered. */
async function resumeServed(client: Client, invocation: Invocation, id: string): Promise<Answer> {
  const agents = servedAgents(client)
  await checkAnswered(agents, invocation, id)
  const answers = answerer(client, invocation)
  for (const question of (await agents.status(id)).questions) await answers(question.id)
  const results = await agents.resume(id)
  if (results.length === 0) invocation.terminal.note('Nothing waits for this agent: the server goes on with it.')
  return toAnswer(results, invocation, { agent: id })
}

async function resume(opened: Opened, invocation: Invocation, id: string): Promise<Answer> {
  const { pool } = opened
  const { signal, terminal } = invocation
  await checkAnswered(pool, invocation, id)
  using _showing = showing(opened, invocation, id)
  const results = await pool.resume(id, { signal })
  if (results.length === 0) terminal.note('Nothing waits for this agent.')
  return toAnswer(results, invocation, { agent: id })
}

/** `nexus agent compact`: the summary on stdout. */
export async function compactAgent(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, ID, ['worker-1'])
  const client = await serverOf(invocation)
  if (client) return compact(servedAgents(client), invocation, id)
  return withPool(invocation, RUNS, async (pool, local) => {
    await pool.restore()
    warnUnconfined(local, invocation)
    return compact(pool, invocation, id)
  })
}

/** Its words are shown once, as the summary. */
async function compact(agents: Pick<Agents, 'compact'>, invocation: Invocation, id: string): Promise<Answer> {
  const result = await agents.compact(id, { signal: invocation.signal })
  return {
    ...toAnswer([result], invocation, { agent: id }),
    show: () => invocation.terminal.line(toSafeText(result.text)),
  }
}

/** A task for an agent that a server of this workspace runs; undefined where none does. Nothing runs here, so nothing is opened. */
export async function taskServed(id: string, invocation: Invocation, task: string): Promise<Answer | undefined> {
  const { config } = await loadHere(invocation)
  if (config.agents.some((agent) => agent.id === id)) return undefined
  const client = await serverOf(invocation)
  return client && asRun(answerOf(await sendServed(client, invocation, { id, content: task }), invocation))
}

/** The data of `nexus run` is one turn. */
function asRun(answer: Answer): Answer {
  const { turns = [] } = answer.data as { readonly turns?: readonly object[] }
  const last = turns.at(-1)
  return { ...answer, data: last === undefined ? null : { ...last, changes: [] } }
}

interface MadeWork {
  readonly invocation: Invocation
  readonly local: Local
  readonly task: string | undefined
  readonly compacts?: boolean
}

/** `nexus run --agent` and `nexus sessions resume` for an agent that another one, or the user, made. */
export async function workOf(id: string, { invocation, local, task, compacts = false }: MadeWork): Promise<Answer> {
  return asRun(await workAnswer(id, { invocation, local, task, compacts }))
}

async function workAnswer(id: string, { invocation, local, task, compacts }: MadeWork): Promise<Answer> {
  const client = await serverOf(invocation)
  if (client) {
    if (task !== undefined) return answerOf(await sendServed(client, invocation, { id, content: task }), invocation)
    return compacts ? compact(servedAgents(client), invocation, id) : resumeServed(client, invocation, id)
  }
  const pool = poolOver(local, invocation)
  const opened = { pool, local }
  try {
    await pool.restore()
    if (task !== undefined) return answerOf(await sendShown(opened, invocation, { id, content: task }), invocation)
    if (!compacts) return await resume(opened, invocation, id)
    warnUnconfined(local, invocation)
    return await compact(pool, invocation, id)
  } finally {
    await pool.close()
  }
}
