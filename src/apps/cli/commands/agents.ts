/** The commands `nexus agent …`. */
import { resolve } from 'node:path'
import type { AgentInfo, Budget, Created, CreateRequest } from '../../../agents/pool/index.ts'
import { type PermissionDelta, toSafeLine } from '../../../kernel/index.ts'
import { type Answer, argument, type Invocation, listFlag, moneyFlag, numberFlag, stringFlag } from '../command.ts'
import { withPool } from '../open-pool.ts'
import { type Agents, createServed, servedAgents } from '../served-agents.ts'
import { agentCells, statusLines, treeLines } from '../show/agents.ts'
import { formatTable } from '../show/columns.ts'
import { describeMessage, speakerOf } from '../show/messages.ts'
import { answerOf, ID, poolWorker, RUNS, servedWorker, type Worker } from './agent-messages.ts'
import { serverOf } from './server.ts'

export async function createAgentCommand(invocation: Invocation): Promise<Answer> {
  const message = stringFlag(invocation, 'message')
  const client = await serverOf(invocation, { starts: true })
  // Rows are made in the store, which a server reads; one at a port may have another store.
  if (client && stringFlag(invocation, 'port') !== undefined) {
    const created = await createServed(client, toRequest(invocation))
    return made(created, invocation, (id) => servedWorker(client, id, invocation))
  }
  const isHere = message !== undefined && !client
  return withPool(invocation, isHere ? RUNS : {}, async (pool, local) => {
    await pool.restore()
    const created = await pool.create(toRequest(invocation))
    if (invocation.flags['max-cost'] !== undefined && !local.config.model?.price)
      invocation.terminal.note(
        'No price of the model is known, so --max-cost limits nothing: write model.price in nexus.yaml.',
      )
    return made(created, invocation, (id) =>
      client ? servedWorker(client, id, invocation) : poolWorker(pool, local, id, invocation),
    )
  })
}

/** Shows the agent, and the answer to its first message where there is one. */
async function made(
  { agent, clipped }: Created,
  invocation: Invocation,
  workerOf: (id: string) => Worker,
): Promise<Answer> {
  const { terminal } = invocation
  for (const line of clipped) terminal.note(toSafeLine(line))
  const content = stringFlag(invocation, 'message')
  if (content !== undefined) return answerOf(await workerOf(agent.id).send({ content }), invocation, { agent, clipped })
  const { path, preset, sessionId } = agent
  const line = `${toSafeLine(path)}  preset ${preset}  session ${sessionId}`
  return { data: { agent, clipped }, show: () => terminal.line(line) }
}

function toRequest(invocation: Invocation): CreateRequest {
  const [id] = invocation.positionals
  const given = (name: string): readonly string[] | undefined => {
    const words = listFlag(invocation, name)
    return words.length === 0 ? undefined : words
  }
  const permissions: PermissionDelta = {
    disableTools: given('disable'),
    allowedPaths: given('path')?.map((path) => resolve(invocation.cwd, path)),
  }
  const seconds = count(invocation, 'max-seconds')
  const budget: Budget = {
    maxTokens: count(invocation, 'max-tokens'),
    maxTurns: count(invocation, 'max-turns'),
    maxTimeMs: seconds === undefined ? undefined : seconds * 1000,
    maxChildren: count(invocation, 'max-children'),
    maxCost: moneyFlag(invocation, 'max-cost'),
  }
  return {
    id,
    parent: stringFlag(invocation, 'parent'),
    preset: stringFlag(invocation, 'preset'),
    model: stringFlag(invocation, 'model'),
    instructions: stringFlag(invocation, 'instructions'),
    skills: given('skill'),
    permissions,
    budget,
  }
}

const MOST = 1_000_000_000

function count(invocation: Invocation, name: string): number | undefined {
  return numberFlag(invocation, name, { from: 1, to: MOST, example: 10 })
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
  return look(
    invocation,
    async (pool) => {
      const agents = await pool.list({ isLiving: invocation.flags['ended'] !== true })
      return { data: { agents }, show: () => showRows(agents, invocation) }
    },
    { starts: true },
  )
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
    const part = await pool.messages(id, { offset, limit })
    const { terminal } = invocation
    const show = (): void => {
      for (const message of part.messages)
        terminal.line(`${terminal.paint('cyan', toSafeLine(speakerOf(message)))}: ${describeMessage(message)}\n`)
    }
    return { data: part, show }
  })
}

/** Nothing of the workspace runs, so it need not be trusted. Ended agents, and those that are named by key, are in the store only. */
async function look(
  invocation: Invocation,
  work: (agents: Agents) => Promise<Answer>,
  { starts = false }: { readonly starts?: boolean } = {},
): Promise<Answer> {
  const isByKey = invocation.positionals[0]?.startsWith('@') === true && stringFlag(invocation, 'port') === undefined
  const client = isByKey ? undefined : await serverOf(invocation, { starts })
  return client ? work(servedAgents(client)) : withPool(invocation, {}, work)
}
