import { isJsonObject, type JsonValue, type LedgerEntry, toSafeLine, toSafeText } from '../../../kernel/index.ts'
import {
  type Lease,
  type SessionRecord,
  sessionLease,
  type StoredEvent,
  type StoredMessage,
} from '../../../store/index.ts'
import { type Answer, argument, choiceFlag, CHOICES, type Invocation, limitFlag, stringFlag } from '../command.ts'
import { errorOf, many, MESSAGES, NOTES } from '../messages/index.ts'
import { findSession, openStored } from '../stored.ts'
import { showOutput } from './saved-output.ts'
import { formatTrace } from '../show/turn.ts'
import { formatTable, shorten } from '../show/columns.ts'
import type { Terminal } from '../terminal.ts'

/** `nexus sessions list`: those of the workspace; with `--all` those of every one. */
export async function listSessions(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const isAll = invocation.flags['all'] === true
  await using opened = await openStored(invocation)
  const { store, scope } = opened
  await store.reclaim()
  const found = await store.sessions.list({ limit: 100, ...(!isAll && { scope }) })
  const running = new Set((await store.turns.list({ states: ['running'] })).map(({ sessionId }) => sessionId))
  const sessions = found.map(({ snapshot: _, ...session }) => ({
    ...session,
    state: running.has(session.id) ? 'running' : 'idle',
  }))
  const hasOthers = !isAll && (await store.sessions.list({ limit: found.length + 1 })).length > found.length
  return {
    data: { sessions },
    show: () => {
      const rows = sessions.map((session) => [...cellsOf(session), ...(isAll ? [whereOf(session, terminal)] : [])])
      if (rows.length > 0) terminal.line(formatTable(rows, terminal))
      else terminal.note(NOTES.noSession(terminal.commandLine(['run', 'Chart data/sales.csv by region'])))
      if (hasOthers) terminal.note(NOTES.otherSessions(terminal.commandLine(['sessions', 'list', '--all'])))
    },
  }
}

function cellsOf({
  id,
  updatedAt,
  messageCount,
  title,
  state,
}: SessionRecord & { readonly state: string }): readonly string[] {
  return [id, minuteOf(updatedAt), state, many(messageCount, 'message'), toSafeLine(title)]
}

function minuteOf(at: number): string {
  return new Date(at).toISOString().slice(0, 16)
}

function whereOf({ scope }: SessionRecord, terminal: Terminal): string {
  return scope === undefined ? '(workspace not recorded)' : toSafeLine(terminal.shortPath(scope))
}

/** `nexus sessions show <id>`; a unique beginning of the id is enough. */
export async function showSession(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const output = stringFlag(invocation, 'output')
  if (output !== undefined) return showOutput(invocation, output)
  const wanted = argument(invocation, 'the id of a session', ['0196f3'])
  await using opened = await openStored(invocation)
  const { store } = opened
  await store.reclaim()
  const session = await findSession(store, wanted)
  const messages = await store.sessions.messages(session.id)
  const ledger = await store.ledger.list({ sessionId: session.id })
  const events = await store.events.after(0, { sessionId: session.id })
  const waiting = await store.turns.list({ sessionId: session.id, states: ['queued', 'running'] })
  const lease = await store.leases.get(sessionLease(session.id))
  const state = waiting.some((turn) => turn.state === 'running') ? 'running' : 'idle'
  return {
    data: {
      session: { ...session, state, ...(state === 'running' && ownerOf(lease)) },
      messages,
      ledger,
      waiting,
      events,
    },
    show: () => {
      terminal.line(`${terminal.paint('bold', toSafeLine(session.title))}  ${state}  ${session.id}\n`)
      for (const message of messages)
        terminal.line(`${terminal.paint('cyan', message.role)}: ${describeMessage(message)}\n`)
      if (ledger.length > 0) terminal.line(formatTrace(ledger, terminal))
      if (events.length > 0) terminal.line(`\n${events.map((event) => describeEvent(event)).join('\n')}`)
      for (const { id, state, isLeft } of waiting) {
        terminal.line(state === 'running' ? runningLine(id, lease) : NOTES.turnWaiting(id, state, isLeft))
        const run = terminal.commandLine(['run', '--session', session.id, '--turn', id])
        if (isLeft) terminal.note(NOTES.leftHint(run, terminal.commandLine(['sessions', 'cancel', id])))
      }
    },
  }
}

/** `nexus calls`: what the ledger recorded last, whichever front it came from. */
export async function listCalls(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const origin = choiceFlag(invocation, 'origin', CHOICES.origin)
  const limit = limitFlag(invocation, { usual: 20, most: 1_000 })
  await using opened = await openStored(invocation)
  const { store } = opened
  await store.reclaim()
  const calls = (await store.ledger.list({ origin, agentId: stringFlag(invocation, 'agent'), limit })).toReversed()
  const headOf = ({ openedAt, call }: LedgerEntry): string =>
    [minuteOf(openedAt), call.origin, toSafeLine(call.agentId)].join('  ')
  return {
    data: { calls },
    show: () => {
      if (calls.length === 0) terminal.note(NOTES.noCall())
      else terminal.line(formatTrace(calls, terminal, headOf))
    },
  }
}

/** `nexus sessions cancel <turn>`: a message that waits never runs; a running turn is asked to stop. */
export async function cancelTurn(invocation: Invocation): Promise<Answer> {
  const wanted = argument(invocation, 'the id of a message', ['0196f3'])
  await using opened = await openStored(invocation)
  const { store } = opened
  await store.reclaim()
  const open = await store.turns.list({ states: ['queued', 'running'] })
  const matching = open.filter(({ id }) => id.startsWith(wanted))
  const [turn] = matching
  if (!turn || matching.length > 1)
    throw errorOf('FILE_NOT_FOUND', MESSAGES.turnNotFound(toSafeLine(wanted), matching.length))
  const { id, state } = await store.turns.cancel(turn.id)
  return { data: { turn: id, state }, show: () => invocation.terminal.note(NOTES.turnCancelled(state)) }
}

function ownerOf(lease: Lease | undefined): { readonly owner: string; readonly until: number } | undefined {
  return lease && { owner: lease.owner, until: lease.expiresAt }
}

function runningLine(id: string, lease: Lease | undefined): string {
  return lease ? NOTES.turnRuns(id, toSafeLine(lease.owner), timeOf(lease)) : NOTES.turnWaiting(id, 'running', false)
}

/** When the lease ends without another sign of life. */
function timeOf({ expiresAt }: Lease): string {
  return `${new Date(expiresAt).toISOString().slice(11, 19)} UTC`
}

function describeEvent({ id, at, type, references }: StoredEvent): string {
  const about = Object.entries(references).map(([name, value]) => `${name}=${String(value)}`)
  return toSafeLine(`${id}  ${new Date(at).toISOString()}  ${type}  ${about.join(' ')}`)
}

/** A message in one short paragraph: its text, and its tool calls and results by name. */
function describeMessage(message: StoredMessage): string {
  const { content } = message as { content?: JsonValue }
  if (typeof content === 'string') return toSafeText(content)
  if (!Array.isArray(content)) return ''
  return content.map((part: JsonValue) => describePart(part)).join('\n  ')
}

function describePart(part: JsonValue): string {
  if (!isJsonObject(part)) return ''
  if (part['type'] === 'text') return toSafeText(String(part['text']))
  const head = `[${toSafeLine(String(part['type']))} ${toSafeLine(String(part['toolName'] ?? ''))}]`
  const { output } = part
  // What a tool answered is text with lines of its own.
  if (isJsonObject(output) && typeof output['value'] === 'string')
    return `${head}\n${shorten(toSafeText(output['value']), MOST_SHOWN).replace(/^/gm, '    ')}`
  return `${head} ${shorten(toSafeLine(JSON.stringify(part['input'] ?? output ?? '')), MOST_SHOWN)}`
}

/** Cells of one call or answer; `--json` has the whole. */
const MOST_SHOWN = 400
