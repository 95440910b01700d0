import { addAbortSignal } from 'node:stream'
import { createAgent, type ModelChoice, type TurnResult } from '../../../agents/turns/index.ts'
import { commandFix, newId } from '../../../kernel/index.ts'
import { budgetDiagnostics, type Local } from '../../../local/index.ts'
import type { Store } from '../../../store/index.ts'
import { type Answer, argumentMissing, type Invocation, stringFlag } from '../command.ts'
import { errorMember, errorOf, type Failure, many, printFailure, toFailure } from '../failure.ts'
import { chooseModel } from '../model/choose-model.ts'
import { isTerminalAt } from '../output.ts'
import { agentFlag, findings, openFor, printDiagnostics, diagnosticsOf, warnUnconfined } from '../open.ts'
import { findSession, turnNotFound } from '../stored.ts'
import { noteDenials } from '../show/denials.ts'
import { printSkillsAbove } from '../show/other-clients.ts'
import { countsOf } from '../show/skills.ts'
import { pathsOfSkills } from '../show/skill-paths.ts'
import { createTurnDisplay, formatTrace, type TurnDisplay } from '../show/turn.ts'

/** `nexus run "<task>"`: the model's words on stdout, everything about tools on stderr. */
export async function runTask(invocation: Invocation): Promise<Answer> {
  const task = stringFlag(invocation, 'turn') === undefined ? await readTask(invocation) : ''
  const { terminal } = invocation
  await using local = await openFor(invocation, { needsTrust: true })
  const { store } = local
  await store.reclaim()
  const model = await chooseModel(local, invocation)
  warnUnconfined(local, invocation)
  const { ready, held } = countsOf(local.runtime.openAgent({ id: agentFlag(invocation) }).catalog())
  const about = `model ${model.describe} · ${ready} skills ready, ${held} held · sandbox ${local.sandbox.kind}`
  terminal.note(terminal.paintNote('dim', about))
  printSkillsAbove(local, invocation)
  const index = local.runtime.openAgent({ id: agentFlag(invocation) }).index()
  printDiagnostics(budgetDiagnostics(local.loaded, index), terminal)
  const onStderr = terminal.besideDocument()
  const { onEvent } = createTurnDisplay(onStderr, {
    say: invocation.flags['json'] === true ? () => undefined : terminal.write,
    note: terminal.note,
    isAnswered: invocation.flags['yes'] === true || terminal.isInteractive,
    showPaths: pathsOfSkills(local, agentFlag(invocation), terminal),
  })
  const result = await takeTurn(local, model, { invocation, task, onEvent })
  const entries = await store.ledger.list({ turnId: result.turnId })
  if (entries.length > 0) terminal.note(`\n${formatTrace(entries, onStderr)}`)
  await noteDenials(entries, local, invocation)
  return finish(result, local, invocation)
}

/** The words of the command line, or standard input for `-`. Throws INVALID_ARGUMENT when there are none. */
async function readTask({ positionals, rest, signal }: Invocation): Promise<string> {
  const words = [...positionals, ...rest].join(' ').trim()
  if (words === '') throw argumentMissing('run', 'a task', ['Chart data/sales.csv by region'])
  if (words !== '-') return words
  if (isTerminalAt(0)) {
    const message = 'nexus run - reads the task from standard input, which is your terminal.'
    const fix = commandFix('Type the task instead:', 'run', 'Chart data/sales.csv by region')
    throw errorOf('INVALID_ARGUMENT', message, fix)
  }
  const { text } = await import('node:stream/consumers')
  const task = (await text(addAbortSignal(signal, process.stdin))).trim()
  if (task !== '') return task
  const message = 'nexus run - reads the task from standard input, which was empty.'
  throw errorOf('INVALID_ARGUMENT', message, commandFix('Pipe the task into:', 'run', '-'))
}

async function takeTurn(
  local: Local,
  model: ModelChoice,
  turn: { readonly invocation: Invocation; readonly task: string; readonly onEvent: TurnDisplay['onEvent'] },
): Promise<TurnResult> {
  const { invocation, task, onEvent } = turn
  const { store, config } = local
  const agentId = agentFlag(invocation) ?? (config.agents[0]?.id as string)
  const { maxIterations, maxConcurrentTools } = config.limits
  const left = stringFlag(invocation, 'turn')
  const sessionId = await chooseSession(store, stringFlag(invocation, 'session'), left)
  const instructions = config.agents.find((agent) => agent.id === agentId)?.instructions
  const agent = createAgent({
    agent: local.runtime.openAgent({ id: agentId, sessionId }),
    model,
    store,
    limits: { maxIterations, maxConcurrentTools },
    instructions,
  })
  const options = { signal: invocation.signal, onEvent }
  return left === undefined ? agent.send(task, options) : agent.resume(left, options)
}

/** The session that was named, else that of the message that was left, else a new one. */
async function chooseSession(store: Store, wanted: string | undefined, left: string | undefined): Promise<string> {
  if (wanted !== undefined) return (await findSession(store, wanted)).id
  if (left === undefined) return newId()
  const turn = await store.turns.get(left)
  if (turn) return turn.sessionId
  throw turnNotFound(left)
}

/** Prints the summary on stderr. */
function finish(result: TurnResult, local: Local, invocation: Invocation): Answer {
  const { terminal, signal } = invocation
  const { sessionId: session, turnId: turn, end, text, usage } = result
  const cost = `${many(usage.totalTokens, 'token')} in ${many(usage.steps, 'step')}`
  terminal.note(terminal.paintNote('dim', `session ${session} · ${cost}`))
  const failure = failureOf(result, signal)
  const exit = failure ? printFailure(failure, terminal) : 0
  const error = failure && errorMember(failure)
  return { data: { session, turn, end, text, usage }, diagnostics: findings(diagnosticsOf(local)), exit, error }
}

function failureOf({ end, error, usage, sessionId }: TurnResult, signal: AbortSignal): Failure | undefined {
  switch (end) {
    case 'done':
      return undefined
    case 'cancelled':
      return { code: 'CANCELLED', message: 'Cancelled. The session was kept.' }
    case 'max-iterations':
      return {
        code: 'LIMIT_EXCEEDED',
        message: `The turn was stopped after ${usage.steps} steps, the limit limits.maxIterations.`,
        ...commandFix(
          'Raise limits.maxIterations in nexus.yaml, or go on:',
          ...['run', '--session', sessionId.slice(0, 13), 'go on'],
        ),
      }
    case 'failed':
      return toFailure(error ?? errorOf('MODEL_FAILED', 'The turn failed.'), signal)
  }
}
