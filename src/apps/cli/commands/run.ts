import type { Agent, ModelChoice, TurnResult } from '../../../agents/turns/index.ts'
import { commandFix, type LedgerEntry, newId, toSafeLine, toSafeText } from '../../../kernel/index.ts'
import { budgetDiagnostics, type Local } from '../../../local/index.ts'
import { type Lease, sessionLease, type Store, type TurnRecord } from '../../../store/index.ts'
import { type Answer, argument, type Invocation, stringFlag } from '../command.ts'
import { errorOf } from '../failure.ts'
import { chooseModel } from '../model/choose-model.ts'
import { agentFlag, agentOf, openFor, printDiagnostics, diagnosticsOf, warnUnconfined } from '../open.ts'
import { noteOthers, poolOver } from '../open-pool.ts'
import { findSession, matchingIds, theOne, TURN } from '../stored.ts'
import { noteSets, type SetInShort, setsOfCalls } from '../show/change-set.ts'
import { noteDenials } from './policy.ts'
import { printSkillsAbove } from '../show/other-clients.ts'
import { countsOf } from '../show/skills.ts'
import { pathsOfSkills } from '../show/skill-paths.ts'
import { displayOf, formatTrace } from '../show/turn.ts'
import { useText } from '../show/agents.ts'
import { canAnswer, failureOf, readTask, waitsForAnswer } from '../task.ts'

/** The turn of a session that is run: a new message, one that an ended process left, or a summary. */
type Work = { readonly sessionId: string; readonly agentId: string | undefined } & (
  | { readonly task: string }
  | { readonly turnId: string }
  | { readonly compacts: true }
)

/** `nexus run "<task>"`: the model's words on stdout, everything about tools on stderr. */
export async function runTask(invocation: Invocation): Promise<Answer> {
  const isContinued = invocation.flags['continue'] === true
  const hasTask = invocation.positionals.length + invocation.rest.length > 0
  const task = hasTask || !isContinued ? await readTask(invocation) : undefined
  const wanted = stringFlag(invocation, 'session')
  const agentId = agentFlag(invocation)
  if (agentId !== undefined && task !== undefined && !isContinued && wanted === undefined) {
    const { taskServed } = await import('./agent-messages.ts')
    const served = await taskServed(agentId, invocation, task)
    if (served) return served
  }
  return takeTurn(invocation, async ({ store, runtime }) => {
    if (!isContinued)
      return {
        agentId,
        task: task ?? '',
        sessionId: wanted === undefined ? newId() : (await findSession(store, wanted)).id,
      }
    const [newest] = await store.sessions.list({ limit: 1, scope: runtime.openAgent().scope })
    if (!newest) {
      const fix = commandFix('Start one:', 'run', 'Chart data/sales.csv by region')
      throw errorOf('FILE_NOT_FOUND', 'This workspace has no session to continue.', fix)
    }
    const { id: sessionId } = newest
    if (task !== undefined) return { sessionId, agentId: agentId ?? newest.agentId, task }
    const turn = await nextTurn(store, sessionId)
    if (turn) return { sessionId, agentId: agentId ?? newest.agentId, turnId: turn.id }
    throw errorOf(
      'INVALID_ARGUMENT',
      `Session ${sessionId} has no turn that waits, and no task was given.`,
      commandFix('Write what to do:', 'run', '--continue', 'Now as a table'),
    )
  })
}

/** `nexus sessions resume <session or turn>`. */
export async function resumeSession(invocation: Invocation): Promise<Answer> {
  const wanted = argument(invocation, 'the id of a session or a turn', ['0196f3'])
  return takeTurn(invocation, async ({ store }) => {
    const open = await store.turns.list({ states: ['waiting', 'queued'] })
    const byId = matchingIds(open, wanted)
    const turn = byId.length === 1 ? byId[0] : await nextTurn(store, (await findSession(store, wanted)).id)
    if (!turn) return theOne([], wanted, TURN)
    const session = await store.sessions.get(turn.sessionId)
    return { sessionId: turn.sessionId, agentId: agentFlag(invocation) ?? session?.agentId, turnId: turn.id }
  })
}

/** `nexus sessions compact <session>`: the summary on stdout. */
export async function compactSession(invocation: Invocation): Promise<Answer> {
  const wanted = argument(invocation, 'the id of a session', ['0196f3'])
  const answer = await takeTurn(invocation, async ({ store }) => {
    const { id: sessionId, agentId } = await findSession(store, wanted)
    return { sessionId, agentId: agentFlag(invocation) ?? agentId, compacts: true }
  })
  const { text = '' } = answer.data as { readonly text?: string }
  return { ...answer, show: () => invocation.terminal.line(toSafeText(text)) }
}

/** The turn of a session that waits for an answer, else the first message that an ended process left. */
async function nextTurn(store: Store, sessionId: string): Promise<TurnRecord | undefined> {
  const [waiting] = await store.turns.list({ sessionId, states: ['waiting'] })
  if (waiting) return waiting
  const [running] = await store.turns.list({ sessionId, states: ['running'] })
  const lease = running && (await store.leases.get(sessionLease(sessionId)))
  if (lease) throw stillRuns(sessionId, lease)
  return (await store.turns.list({ sessionId, states: ['queued'] })).find(({ isLeft }) => isLeft)
}

function stillRuns(sessionId: string, { owner, expiresAt }: Lease): Error {
  const end = new Date(expiresAt).toISOString().slice(11, 19)
  return errorOf(
    'CONFLICT',
    `The turn of session ${sessionId} still runs in ${toSafeLine(owner)}.`,
    commandFix(`If that process was killed, go on after ${end} UTC:`, 'sessions', 'resume', sessionId),
  )
}

/** Throws CONFLICT while a question of a turn is open and nobody here can answer it. */
async function checkAnswered(store: Store, turnId: string, invocation: Invocation): Promise<void> {
  if (canAnswer(invocation)) return
  const calls = new Set((await store.ledger.list({ turnId, states: ['asked'] })).map(({ call }) => call.id))
  const question = (await store.approvals.list({ states: ['open'] })).find(({ callId }) => calls.has(callId))
  if (question) throw waitsForAnswer(question.id, `${question.tool}: ${question.command}`)
}

/** An agent that was made while Nexus ran, by its id, or by its key in a session of it. */
async function madeAgent({ store, config }: Local, id: string): Promise<string | undefined> {
  if (config.agents.some((agent) => agent.id === id)) return undefined
  return id.startsWith('@') ? (await store.agents.get(id))?.id : (await store.agents.find(id))?.id
}

/** Runs one turn of a session and shows it. */
async function takeTurn(invocation: Invocation, choose: (local: Local) => Promise<Work>): Promise<Answer> {
  const { terminal } = invocation
  await using local = await openFor(invocation, { needsTrust: true })
  const { store } = local
  await store.reclaim()
  const work = await choose(local)
  const made = work.agentId === undefined ? undefined : await madeAgent(local, work.agentId)
  if (made !== undefined) {
    const { workOf } = await import('./agent-messages.ts')
    const bare = 'compacts' in work ? 'compact' : 'resume'
    const doing = 'task' in work ? { content: work.task } : bare
    // Awaited here: the runtime closes with this function.
    return await workOf(made, doing, invocation, local)
  }
  if ('turnId' in work) await checkAnswered(store, work.turnId, invocation)
  const model = await chooseModel(local, invocation)
  warnUnconfined(local, invocation)
  const agent = agentOf(local, invocation)
  const { ready, held } = countsOf(agent.catalog())
  const about = `model ${model.describe} · ${ready} skills ready, ${held} held · sandbox ${local.sandbox.kind}`
  terminal.note(terminal.paintNote('dim', about))
  printSkillsAbove(local, invocation)
  const index = agent.index()
  printDiagnostics(budgetDiagnostics(local.loaded, index), terminal)
  const onEvent = displayOf(invocation, pathsOfSkills(local, agentFlag(invocation), terminal))
  const result = await send(local, { model, invocation }, work, { signal: invocation.signal, onEvent })
  const entries = await store.ledger.list({ turnId: result.turnId })
  if (entries.length > 0) terminal.note(`\n${formatTrace(entries, terminal.besideDocument())}`)
  await noteDenials(entries, local, invocation)
  const changes = await changesOf(entries, local)
  noteSets(changes, terminal)
  const answer = finish({ ...result, changes }, local, invocation)
  const holding = changes.filter(({ held }) => held.length > 0)
  if (holding.length > 0 && terminal.isInteractive && invocation.flags['json'] !== true)
    await (await import('./changes.ts')).offerHeld(holding, invocation)
  return answer
}

/** Tools that change files, and those that may. */
const CHANGING = new Set(['run_command', 'write_file', 'edit_file'])

async function changesOf(entries: readonly LedgerEntry[], { loaded }: Local): Promise<SetInShort[]> {
  const ran = entries.filter(({ call, outcome }) => outcome && CHANGING.has(call.tool)).map(({ call }) => call.id)
  return ran.length === 0 ? [] : ((await setsOfCalls(loaded, new Set(ran))) ?? [])
}

async function send(
  local: Local,
  { model, invocation }: { readonly model: ModelChoice; readonly invocation: Invocation },
  work: Work,
  options: NonNullable<Parameters<Agent['send']>[1]>,
): Promise<TurnResult> {
  const pool = poolOver(local, invocation, model)
  const agent = pool.configured({ id: work.agentId, sessionId: work.sessionId })
  const stop = pool.listen(noteOthers(agent.id, invocation.terminal))
  try {
    if ('compacts' in work) return await agent.compact(options)
    return await ('task' in work ? agent.send(work.task, options) : agent.resume(work.turnId, options))
  } finally {
    stop()
    await pool.close()
  }
}

/** Prints the summary on stderr. */
function finish(
  result: TurnResult & { readonly changes: readonly SetInShort[] },
  local: Local,
  invocation: Invocation,
): Answer {
  const { terminal } = invocation
  const { sessionId: session, turnId: turn, end, text, usage, changes } = result
  terminal.note(terminal.paintNote('dim', `session ${session} · ${useText(usage)}`))
  const error = failureOf(result)
  return {
    data: { session, turn, end, text, usage, changes },
    diagnostics: diagnosticsOf(local),
    error,
    exit: error ? undefined : 0,
  }
}
