/** The commands `nexus agent …`. */
import { resolve } from 'node:path'
import type { AgentInfo, Budget, CreateRequest, Pool, Sent } from '../../../agents/pool/index.ts'
import type { TurnResult } from '../../../agents/turns/index.ts'
import { commandFix, type PermissionDelta, toSafeLine, toSafeText } from '../../../kernel/index.ts'
import type { Local } from '../../../local/index.ts'
import { type Answer, argument, type Invocation, listFlag, numberFlag, stringFlag } from '../command.ts'
import { errorOf, many } from '../failure.ts'
import { warnUnconfined } from '../open.ts'
import { poolOver, withPool } from '../open-pool.ts'
import { agentCells, eventLine, statusLines, treeLines } from '../show/agents.ts'
import { formatTable } from '../show/columns.ts'
import { describeMessage, speakerOf } from '../show/messages.ts'
import { createTurnDisplay } from '../show/turn.ts'
import { failureOf, readTask } from '../task.ts'

const RUNS = { needsTrust: true } as const
const ID = 'the id of an agent'

export function createAgentCommand(invocation: Invocation): Promise<Answer> {
  const message = stringFlag(invocation, 'message')
  return withPool(invocation, message === undefined ? {} : RUNS, async (pool, local) => {
    await pool.restore()
    const { agent, clipped } = await pool.create(toRequest(invocation))
    const { terminal } = invocation
    for (const line of clipped) terminal.note(toSafeLine(line))
    if (message === undefined) {
      const show = (): void =>
        terminal.line(`${toSafeLine(agent.path)}  preset ${agent.preset}  session ${agent.sessionId}`)
      return { data: { agent, clipped }, show }
    }
    return answerOf(await sendShown({ pool, local }, invocation, { id: agent.id, content: message }), invocation, {
      agent,
      clipped,
    })
  })
}

function toRequest(invocation: Invocation): CreateRequest {
  const [id] = invocation.positionals
  const [disableTools, paths, skills] = ['disable', 'path', 'skill'].map((name) => listFlag(invocation, name))
  const permissions: PermissionDelta = {
    ...(disableTools?.length && { disableTools }),
    ...(paths?.length && { allowedPaths: paths.map((path) => resolve(invocation.cwd, path)) }),
  }
  const seconds = count(invocation, 'max-seconds')
  const limits: { [name in keyof Budget]?: number | undefined } = {
    maxTokens: count(invocation, 'max-tokens'),
    maxTurns: count(invocation, 'max-turns'),
    maxTimeMs: seconds === undefined ? undefined : seconds * 1000,
    maxChildren: count(invocation, 'max-children'),
  }
  const budget = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)) as Budget
  return {
    ...(id !== undefined && { id }),
    parent: stringFlag(invocation, 'parent'),
    preset: stringFlag(invocation, 'preset'),
    model: stringFlag(invocation, 'model'),
    instructions: stringFlag(invocation, 'instructions'),
    ...(skills?.length && { skills }),
    ...(Object.keys(permissions).length > 0 && { permissions }),
    ...(Object.keys(budget).length > 0 && { budget }),
  }
}

const MOST = 1_000_000_000

function count(invocation: Invocation, name: string): number | undefined {
  return numberFlag(invocation, name, { from: 1, to: MOST, example: 10 })
}

export async function sendToAgent(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, ID, ['worker-1', 'Chart data/sales.csv'])
  return withPool(invocation, RUNS, async (pool, local) => {
    const content = await readTask({ ...invocation, positionals: invocation.positionals.slice(1) })
    await pool.restore()
    const request = stringFlag(invocation, 'request')
    const sent = await sendShown({ pool, local }, invocation, {
      id,
      content,
      ...(request !== undefined && { request }),
    })
    return answerOf(sent, invocation)
  })
}

interface Opened {
  readonly pool: Pool
  readonly local: Local
}

/** Sends, and shows the words of the agent and a line for each thing that its descendants do. */
async function sendShown(
  { pool, local }: Opened,
  invocation: Invocation,
  { id, content, request }: { readonly id: string; readonly content: string; readonly request?: string },
): Promise<Sent> {
  const { signal } = invocation
  using _showing = showing({ pool, local }, invocation, id)
  // Awaited here, because the events are shown until this returns.
  return await pool.send(id, content, { signal, ...(request !== undefined && { requestId: request }) })
}

/** Shows the turns of an agent and its descendants until it is disposed of. */
function showing({ pool, local }: Opened, invocation: Invocation, id: string): Disposable {
  const { terminal, flags } = invocation
  warnUnconfined(local, invocation)
  const display = createTurnDisplay(terminal.besideDocument(), {
    say: flags['json'] === true ? () => undefined : terminal.write,
    note: terminal.note,
    isAnswered: flags['yes'] === true || terminal.isInteractive,
  })
  const stop = pool.listen(
    (happened) => {
      const { event } = happened
      if (happened.agentId === id && event.type !== 'agent-created' && event.type !== 'agent-ended')
        return display(event)
      const line = eventLine(happened, terminal.besideDocument())
      if (line !== undefined) terminal.note(line)
    },
    { id },
  )
  return { [Symbol.dispose]: stop }
}

function answerOf(sent: Sent, invocation: Invocation, more: object = {}): Answer {
  if (sent.type !== 'answered') return { data: { ...more, ...sent } }
  return { ...toAnswer([sent.result], invocation, { ...more, request: sent.requestId }) }
}

function toAnswer(results: readonly TurnResult[], { terminal }: Invocation, more: object): Answer {
  for (const { sessionId, usage } of results)
    terminal.note(
      terminal.paintNote(
        'dim',
        `session ${sessionId} · ${many(usage.totalTokens, 'token')} in ${many(usage.steps, 'step')}`,
      ),
    )
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

export function resumeAgent(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, ID, ['worker-1'])
  return withPool(invocation, RUNS, async (pool, local) => {
    await pool.restore()
    return resume({ pool, local }, invocation, id)
  })
}

async function resume(opened: Opened, invocation: Invocation, id: string): Promise<Answer> {
  const { pool } = opened
  const { signal, flags, terminal } = invocation
  const [question] = (await pool.status(id)).questions
  const canAnswer = flags['yes'] === true || flags['wait'] === true || terminal.isInteractive
  if (question && !canAnswer)
    throw errorOf(
      'CONFLICT',
      `The turn did not go on: it waits for an answer about ${toSafeLine(question.agentPath)}: ${toSafeLine(question.tool)} ${toSafeLine(question.command)}`,
      commandFix('Answer it, then try again:', 'approvals', 'answer', question.id, '--allow'),
    )
  using _showing = showing(opened, invocation, id)
  const results = await pool.resume(id, { signal })
  if (results.length === 0) terminal.note('Nothing waits for this agent.')
  return toAnswer(results, invocation, { agent: id })
}

/** `nexus agent compact`: the summary on stdout. */
export function compactAgent(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, ID, ['worker-1'])
  return withPool(invocation, RUNS, async (pool, local) => {
    await pool.restore()
    return compact({ pool, local }, invocation, id)
  })
}

/** Its words are shown once, as the summary. */
async function compact({ pool, local }: Opened, invocation: Invocation, id: string): Promise<Answer> {
  warnUnconfined(local, invocation)
  const result = await pool.compact(id, { signal: invocation.signal })
  return {
    ...toAnswer([result], invocation, { agent: id }),
    show: () => invocation.terminal.line(toSafeText(result.text)),
  }
}

/** `nexus run --agent` and `nexus sessions resume` for an agent that another one, or the user, made. */
export async function workOf(
  id: string,
  {
    invocation,
    local,
    task,
    compacts = false,
  }: {
    readonly invocation: Invocation
    readonly local: Local
    readonly task: string | undefined
    readonly compacts?: boolean
  },
): Promise<Answer> {
  const pool = poolOver(local, invocation)
  try {
    await pool.restore()
    const opened = { pool, local }
    const send = async (content: string): Promise<Answer> =>
      answerOf(await sendShown(opened, invocation, { id, content }), invocation)
    const goOn = compacts ? compact : resume
    const answer = await (task === undefined ? goOn(opened, invocation, id) : send(task))
    // The data of these commands is one turn.
    const { turns = [] } = answer.data as { readonly turns?: readonly object[] }
    const last = turns.at(-1)
    return { ...answer, data: last === undefined ? null : { ...last, changes: [] } }
  } finally {
    await pool.close()
  }
}

export function agentStatus(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, ID, ['worker-1'])
  return look(invocation, async (pool) => {
    const status = await pool.status(id)
    return { data: { status }, show: () => invocation.terminal.line(statusLines(status).join('\n')) }
  })
}

export function cancelMessage(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, ID, ['worker-1', 'req-7'])
  const request = argument(invocation, 'the id of the message', ['worker-1', 'req-7'], 1)
  return look(invocation, async (pool) => {
    const cancelled = await pool.cancel(id, request)
    const text = cancelled ? 'Cancelled.' : 'No message of that id waits or runs.'
    return { data: { cancelled, request }, show: () => invocation.terminal.line(text) }
  })
}

export function destroyAgent(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, ID, ['worker-1'])
  return look(invocation, async (pool) => {
    const ended = await pool.destroy(id)
    return { data: { ended }, show: () => invocation.terminal.line(`Ended: ${ended.map(toSafeLine).join(', ')}`) }
  })
}

export function listAgents(invocation: Invocation): Promise<Answer> {
  return look(invocation, async (pool) => {
    const agents = await pool.list({ isLiving: invocation.flags['ended'] !== true })
    return { data: { agents }, show: () => showRows(agents, invocation) }
  })
}

function showRows(agents: readonly AgentInfo[], { terminal }: Invocation): void {
  if (agents.length > 0) terminal.line(formatTable(agents.map(agentCells), terminal))
  else terminal.note(`There is no agent. Make one: ${terminal.commandLine(['agent', 'create', 'worker-1'])}`)
}

export function agentTree(invocation: Invocation): Promise<Answer> {
  const [id] = invocation.positionals
  return look(invocation, async (pool) => {
    const tree = await pool.tree(id)
    return { data: { tree }, show: () => invocation.terminal.line(treeLines(tree).join('\n') || 'There is no agent.') }
  })
}

export function agentMessages(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, ID, ['worker-1'])
  const offset = numberFlag(invocation, 'offset', { from: 0, to: MOST, example: 20 })
  const limit = numberFlag(invocation, 'limit', { from: 1, to: MOST, example: 50 })
  return look(invocation, async (pool) => {
    const part = await pool.messages(id, {
      ...(offset !== undefined && { offset }),
      ...(limit !== undefined && { limit }),
    })
    const { terminal } = invocation
    const show = (): void => {
      for (const message of part.messages)
        terminal.line(`${terminal.paint('cyan', toSafeLine(speakerOf(message)))}: ${describeMessage(message)}\n`)
    }
    return { data: part, show }
  })
}

/** Nothing of the workspace runs, so it need not be trusted. */
function look(invocation: Invocation, work: (pool: Pool) => Promise<Answer>): Promise<Answer> {
  return withPool(invocation, {}, work)
}
