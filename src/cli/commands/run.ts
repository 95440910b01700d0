import {
  createAgent,
  processOwner,
  isOwnerAlive,
  resolveModel,
  type ModelChoice,
  type TurnResult,
} from '../../agents/index.ts'
import { CODES, type JsonValue, NexusError, newId } from '../../kernel/index.ts'
import type { Local } from '../../local.ts'
import type { Store } from '../../store/index.ts'
import { agentFlag, openFor } from '../open.ts'
import { type Invocation, stringFlag } from '../command.ts'
import { createTurnDisplay, formatTrace, type TurnDisplay } from '../show-turn.ts'

/** `nexus run "<task>"`: the model's words on stdout, everything about tools on stderr. */
export async function runTask(invocation: Invocation): Promise<number> {
  const task = [...invocation.positionals, ...invocation.rest].join(' ').trim()
  if (task === '') {
    throw new NexusError('INVALID_ARGUMENT', 'nexus run: the task is missing.', {
      fix: 'nexus run "Chart data/sales.csv by region"',
    })
  }
  const { terminal } = invocation
  const local = await openFor(invocation, { needsTrust: true })
  try {
    const store = local.store as Store
    await store.recover(isOwnerAlive)
    const model = await chooseModel(local, invocation)
    warnUnconfined(local, invocation)
    terminal.note(
      terminal.paintNote(
        'dim',
        `model ${model.describe} · ${describeSkills(local, invocation)} · sandbox ${local.sandbox.kind}`,
      ),
    )
    const json = invocation.flags['json'] === true
    const display = createTurnDisplay(
      { ...terminal, paint: terminal.paintNote },
      { say: json ? () => undefined : terminal.write, note: terminal.note },
    )
    const result = await takeTurn(local, model, { invocation, task, onEvent: display.onEvent })
    const entries = await store.ledger.list({ turnId: result.turnId })
    if (entries.length > 0) terminal.note(`\n${formatTrace(entries, { ...terminal, paint: terminal.paintNote })}`)
    if (json) terminal.json(toJson(result))
    return finish(result, invocation)
  } finally {
    await local.close()
  }
}

async function takeTurn(
  local: Local,
  model: ModelChoice,
  turn: { readonly invocation: Invocation; readonly task: string; readonly onEvent: TurnDisplay['onEvent'] },
): Promise<TurnResult> {
  const { invocation, task, onEvent } = turn
  const agentId = agentFlag(invocation) ?? (local.config.agents[0]?.id as string)
  const sessionId = stringFlag(invocation, 'session') ?? newId()
  const sessions = (local.store as Store).sessions
  if (invocation.flags['session'] !== undefined && !(await sessions.get(sessionId))) {
    throw new NexusError('FILE_NOT_FOUND', `There is no session '${sessionId}'.`, { fix: 'nexus sessions list' })
  }
  const instructions = local.config.agents.find((agent) => agent.id === agentId)?.instructions
  const agent = createAgent({
    id: agentId,
    runtime: local.runtime,
    model,
    sessions,
    sessionId,
    owner: processOwner(),
    limits: {
      maxIterations: local.config.limits.maxIterations,
      maxConcurrentTools: local.config.limits.maxConcurrentTools,
    },
    ...(instructions !== undefined && { instructions }),
  })
  return agent.send(task, { signal: invocation.signal, onEvent })
}

/** The model that flags, configuration or key variables name; throws MODEL_NOT_CONFIGURED when none does. */
export async function chooseModel(
  local: Pick<Local, 'config' | 'secrets'>,
  invocation: Invocation,
): Promise<ModelChoice> {
  const chosen = await findModel(local, invocation)
  if (chosen) return chosen
  throw new NexusError('MODEL_NOT_CONFIGURED', 'No model is named, and no key variable is set.', {
    fix: 'Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or add model: to nexus.yaml, or use --model openai-compatible/NAME --base-url URL. To only look: nexus demo',
  })
}

/** As `chooseModel`, but undefined when nothing names a model. */
export async function findModel(
  local: Pick<Local, 'config' | 'secrets'>,
  invocation: Invocation,
): Promise<ModelChoice | undefined> {
  const { environment } = invocation
  const spec = stringFlag(invocation, 'model')
  const baseUrl = stringFlag(invocation, 'base-url')
  // A key that a command gives is asked for only when it will be used.
  const isUsed = spec === undefined || spec.startsWith(`${local.config.model?.provider}/`)
  const configured = isUsed ? await local.secrets.model(invocation.signal) : undefined
  return resolveModel({
    environment,
    ...(configured && { configured }),
    ...(spec !== undefined && { spec }),
    ...(baseUrl !== undefined && { baseUrl }),
  })
}

/** `none` is never silent. */
export function warnUnconfined(local: Local, { terminal }: Invocation): void {
  if (local.sandbox.kind !== 'none') return
  terminal.note(
    terminal.paintNote(
      'red',
      'WARNING: sandbox none. Commands run as you, with your files and your network. Use it only for skills you wrote.',
    ),
  )
}

function describeSkills(local: Local, invocation: Invocation): string {
  const catalog = local.runtime.catalog(agentFlag(invocation))
  return `${catalog.skills.length} skills ready, ${catalog.held.length} held`
}

function finish(result: TurnResult, { terminal }: Invocation): number {
  terminal.note(
    terminal.paintNote(
      'dim',
      `session ${result.sessionId} · ${result.usage.totalTokens} tokens in ${result.usage.steps} steps`,
    ),
  )
  switch (result.end) {
    case 'done':
      return 0
    case 'cancelled':
      terminal.note('Cancelled; the session was kept.')
      return CODES.CANCELLED.exit
    case 'max-iterations':
      terminal.note(`Stopped after ${result.usage.steps} steps (limits.maxIterations).`)
      return 1
    case 'failed':
      throw result.error ?? new NexusError('MODEL_FAILED', 'The turn failed.')
  }
}

function toJson(result: TurnResult): JsonValue {
  return {
    nexus: 1,
    command: 'run',
    data: {
      session: result.sessionId,
      turn: result.turnId,
      end: result.end,
      text: result.text,
      usage: { ...result.usage },
    },
  }
}
