/** The commands that send messages to agents and go on with what is left of them. */
import type { Pool, PoolEvent, Sent } from '../../../agents/pool/index.ts'
import type { TurnResult } from '../../../agents/turns/index.ts'
import { toSafeText } from '../../../kernel/index.ts'
import type { Local } from '../../../local/index.ts'
import type { Client } from '../../client/index.ts'
import { type Answer, argument, type Invocation, stringFlag } from '../command.ts'
import { loadHere, warnUnconfined } from '../open.ts'
import { poolOver, withPool } from '../open-pool.ts'
import { type Agents, answerer, servedAgents } from '../served-agents.ts'
import { followServed } from '../show/served-turn.ts'
import { eventLine, useText } from '../show/agents.ts'
import { displayOf } from '../show/turn.ts'
import { canAnswer, failureOf, readTask, waitsForAnswer } from '../task.ts'
import { serverOf } from './server.ts'

export const RUNS = { needsTrust: true } as const
export const ID = 'the id of an agent'

interface Message {
  readonly content: string
  readonly requestId?: string
}

export type Doing = Message | 'resume' | 'compact'

/** One agent of a server, or of the pool here: what it does is shown. */
export interface Worker {
  readonly agents: Pick<Agents, 'status' | 'compact'>
  send(message: Message): Promise<Sent>
  resume(): Promise<readonly TurnResult[]>
  readonly nothingWaits: string
}

/** Questions are asked here where a person, or `--yes`, answers. */
export function servedWorker(client: Client, id: string, invocation: Invocation): Worker {
  const { signal, flags, terminal } = invocation
  const agents = servedAgents(client)
  const answers = answerer(client, invocation)
  return {
    agents,
    async send({ content, requestId }) {
      const show = { onEvent: eventShower(invocation, id), onQuestion: answers }
      await using following = await followServed(client, id, show)
      const sent = await agents.send(id, content, { signal, requestId })
      if (sent.type !== 'answered') return sent
      const { turnId, text } = sent.result
      // Another server on the same store may have run it: its words come only with the answer.
      if (!(await following.shown(turnId)) && text !== '' && flags['json'] !== true)
        terminal.write(`${toSafeText(text)}\n`)
      return sent
    },
    async resume() {
      for (const question of (await agents.status(id)).questions) await answers(question.id)
      return agents.resume(id)
    },
    nothingWaits: 'Nothing waits for this agent: the server goes on with it.',
  }
}

export function poolWorker(pool: Pool, local: Local, id: string, invocation: Invocation): Worker {
  const { signal } = invocation
  async function shown<T>(work: () => Promise<T>): Promise<T> {
    warnUnconfined(local, invocation)
    const stop = pool.listen(eventShower(invocation, id), { id })
    try {
      return await work()
    } finally {
      stop()
    }
  }
  return {
    agents: {
      status: pool.status,
      compact: (own, options) => {
        warnUnconfined(local, invocation)
        return pool.compact(own, options)
      },
    },
    send: ({ content, requestId }) => shown(() => pool.send(id, content, { signal, requestId })),
    resume: () => shown(() => pool.resume(id, { signal })),
    nothingWaits: 'Nothing waits for this agent.',
  }
}

/** The words of the agent, what it does, and a line for each thing that its descendants do. */
function eventShower(invocation: Invocation, id: string): (event: PoolEvent) => void {
  const { terminal } = invocation
  const display = displayOf(invocation)
  return (happened) => {
    const { event } = happened
    if (happened.agentId === id && event.type !== 'agent-created' && event.type !== 'agent-ended') return display(event)
    const line = eventLine(happened, terminal.besideDocument())
    if (line !== undefined) terminal.note(line)
  }
}

async function perform(worker: Worker, id: string, doing: Doing, invocation: Invocation): Promise<Answer> {
  const { signal, terminal } = invocation
  if (typeof doing === 'object') return answerOf(await worker.send(doing), invocation)
  if (doing === 'compact') {
    const result = await worker.agents.compact(id, { signal })
    const show = (): void => terminal.line(toSafeText(result.text))
    return { ...toAnswer([result], invocation, { agent: id }), show }
  }
  const [question] = (await worker.agents.status(id)).questions
  if (question && !canAnswer(invocation)) {
    const { agentPath, tool, command } = question
    throw waitsForAnswer(question.id, `${agentPath}: ${tool} ${command}`)
  }
  const results = await worker.resume()
  if (results.length === 0) terminal.note(worker.nothingWaits)
  return toAnswer(results, invocation, { agent: id })
}

/** In the server of this workspace, else here: over the runtime that is open, or one of its own. */
async function work(id: string, doing: Doing, invocation: Invocation, opened?: Local): Promise<Answer> {
  const client = await serverOf(invocation)
  if (client) return perform(servedWorker(client, id, invocation), id, doing, invocation)
  const here = async (pool: Pool, local: Local): Promise<Answer> => {
    await pool.restore()
    return perform(poolWorker(pool, local, id, invocation), id, doing, invocation)
  }
  if (!opened) return withPool(invocation, RUNS, here)
  const pool = poolOver(opened, invocation)
  try {
    return await here(pool, opened)
  } finally {
    await pool.close()
  }
}

export function answerOf(sent: Sent, invocation: Invocation, more: object = {}): Answer {
  if (sent.type !== 'answered') return { data: { ...more, ...sent } }
  return toAnswer([sent.result], invocation, { ...more, request: sent.requestId })
}

function toAnswer(results: readonly TurnResult[], { terminal }: Invocation, more: object): Answer {
  for (const { sessionId, usage } of results)
    terminal.note(terminal.paintNote('dim', `session ${sessionId} · ${useText(usage)}`))
  const turns = results.map(({ sessionId: session, turnId: turn, end, text, usage }) => {
    return { session, turn, end, text, usage }
  })
  const last = results.at(-1)
  const error = last && failureOf(last)
  return { data: { ...more, turns }, error, exit: error ? undefined : 0 }
}

export async function sendToAgent(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, ID, ['worker-1', 'Chart data/sales.csv'])
  const content = await readTask(invocation, id)
  return work(id, { content, requestId: stringFlag(invocation, 'request') }, invocation)
}

export async function resumeAgent(invocation: Invocation): Promise<Answer> {
  return work(argument(invocation, ID, ['worker-1']), 'resume', invocation)
}

/** `nexus agent compact`: the summary on stdout. */
export async function compactAgent(invocation: Invocation): Promise<Answer> {
  return work(argument(invocation, ID, ['worker-1']), 'compact', invocation)
}

/** A task for an agent that a server of this workspace runs; undefined where none does. Nothing runs here, so nothing is opened. */
export async function taskServed(id: string, invocation: Invocation, content: string): Promise<Answer | undefined> {
  const { config } = await loadHere(invocation)
  if (config.agents.some((agent) => agent.id === id)) return undefined
  const client = await serverOf(invocation)
  return client && asRun(await perform(servedWorker(client, id, invocation), id, { content }, invocation))
}

/** The data of `nexus run` is one turn. */
function asRun(answer: Answer): Answer {
  const { turns = [] } = answer.data as { readonly turns?: readonly object[] }
  const last = turns.at(-1)
  return { ...answer, data: last === undefined ? null : { ...last, changes: [] } }
}

/** `nexus run --agent` and `nexus sessions resume` for an agent that another one, or the user, made. */
export async function workOf(id: string, doing: Doing, invocation: Invocation, local: Local): Promise<Answer> {
  return asRun(await work(id, doing, invocation, local))
}
