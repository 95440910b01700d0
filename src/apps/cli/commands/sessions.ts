import { isJsonObject, type JsonValue, toSafeLine, toSafeText } from '../../../kernel/index.ts'
import {
  type Lease,
  type SessionRecord,
  sessionLease,
  type Store,
  type StoredEvent,
  type StoredMessage,
} from '../../../store/index.ts'
import { choiceFlag, CHOICES, type Invocation, limitFlag, stringFlag } from '../command.ts'
import { envelope } from '../envelope.ts'
import { errorOf, many, MESSAGES, NOTES } from '../messages/index.ts'
import { findSession } from '../sessions/find-session.ts'
import { openConfiguredStore } from '../../../local/index.ts'
import { showOutput } from './saved-output.ts'
import { formatTrace } from '../show/turn.ts'
import { formatTable, shorten } from '../show/columns.ts'
import type { Terminal } from '../terminal.ts'

/** `nexus sessions list`: those of the workspace; with `--all` those of every one. */
export async function listSessions(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation
  return withStore(invocation, async (store, scope) => {
    const isAll = flags['all'] === true
    const sessions = await store.sessions.list({ limit: 100, ...(!isAll && { scope }) })
    const running = new Set((await store.turns.list({ states: ['running'] })).map(({ sessionId }) => sessionId))
    const stateOf = (id: string): 'running' | 'idle' => (running.has(id) ? 'running' : 'idle')
    if (flags['json'] === true) {
      terminal.json(
        envelope('sessions list', {
          sessions: sessions.map(({ snapshot: _snapshot, ...session }) => ({ ...session, state: stateOf(session.id) })),
        }),
      )
      return 0
    }
    if (sessions.length > 0)
      terminal.line(
        formatTable(
          sessions.map((session) => [
            ...cellsOf(session, stateOf(session.id)),
            ...(isAll ? [whereOf(session, terminal)] : []),
          ]),
          terminal,
        ),
      )
    else terminal.note(NOTES.noSession(terminal.commandLine(['run', 'Chart data/sales.csv by region'])))
    if (!isAll && (await store.sessions.list({ limit: sessions.length + 1 })).length > sessions.length)
      terminal.note(NOTES.otherSessions(terminal.commandLine(['sessions', 'list', '--all'])))
    return 0
  })
}

function cellsOf({ id, updatedAt, messageCount, title }: SessionRecord, state: string): readonly string[] {
  return [id, minuteOf(updatedAt), state, many(messageCount, 'message'), toSafeLine(title)]
}

function minuteOf(at: number): string {
  return new Date(at).toISOString().slice(0, 16)
}

function whereOf({ scope }: SessionRecord, terminal: Terminal): string {
  return scope === undefined ? '(workspace not recorded)' : toSafeLine(terminal.shortPath(scope))
}

/** `nexus sessions show <id>`; a unique beginning of the id is enough. */
export async function showSession(invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  const output = stringFlag(invocation, 'output')
  if (output !== undefined) return showOutput(invocation, output)
  const wanted = invocation.positionals[0]
  if (wanted === undefined)
    throw errorOf('INVALID_ARGUMENT', MESSAGES.argumentMissing('sessions show', 'the id of a session', ['0196f3']))
  return withStore(invocation, async (store) => {
    const session = await findSession(store, wanted)
    const messages = await store.sessions.messages(session.id)
    const entries = await store.ledger.list({ sessionId: session.id })
    const events = await store.events.after(0, { sessionId: session.id })
    const waiting = await store.turns.list({ sessionId: session.id, states: ['queued', 'running'] })
    const lease = await store.leases.get(sessionLease(session.id))
    const state = waiting.some((turn) => turn.state === 'running') ? 'running' : 'idle'
    if (invocation.flags['json'] === true) {
      terminal.json(
        envelope('sessions show', {
          session: { ...session, state, ...(state === 'running' && ownerOf(lease)) },
          messages: [...messages],
          ledger: entries as unknown as JsonValue,
          waiting: waiting.map((turn) => ({ ...turn })),
          events: events as unknown as JsonValue,
        }),
      )
      return 0
    }
    terminal.line(`${terminal.paint('bold', toSafeLine(session.title))}  ${state}  ${session.id}\n`)
    for (const message of messages)
      terminal.line(`${terminal.paint('cyan', message.role)}: ${describeMessage(message)}\n`)
    if (entries.length > 0) terminal.line(formatTrace(entries, terminal))
    if (events.length > 0) terminal.line(`\n${events.map((event) => describeEvent(event)).join('\n')}`)
    for (const { id, state, isLeft } of waiting) {
      terminal.line(state === 'running' ? runningLine(id, lease) : NOTES.turnWaiting(id, state, isLeft))
      const run = terminal.commandLine(['run', '--session', session.id, '--turn', id])
      if (isLeft) terminal.note(NOTES.leftHint(run, terminal.commandLine(['sessions', 'cancel', id])))
    }
    return 0
  })
}

/** `nexus calls`: what the ledger recorded last, whichever front it came from. */
export async function listCalls(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation
  const origin = choiceFlag(invocation, 'origin', CHOICES.origin)
  const limit = limitFlag(invocation, { usual: 20, most: 1_000 })
  return withStore(invocation, async ({ ledger }) => {
    const entries = (await ledger.list({ origin, agentId: stringFlag(invocation, 'agent'), limit })).toReversed()
    if (flags['json'] === true) terminal.json(envelope('calls', { calls: entries as unknown as JsonValue }))
    else if (entries.length === 0) terminal.note(NOTES.noCall())
    else
      terminal.line(
        formatTrace(entries, terminal, ({ openedAt, call }) =>
          [minuteOf(openedAt), call.origin, toSafeLine(call.agentId)].join('  '),
        ),
      )
    return 0
  })
}

/** `nexus sessions cancel <turn>`: a message that waits never runs; a running turn is asked to stop. */
export async function cancelTurn(invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  const wanted = invocation.positionals[0]
  if (wanted === undefined)
    throw errorOf('INVALID_ARGUMENT', MESSAGES.argumentMissing('sessions cancel', 'the id of a message', ['0196f3']))
  return withStore(invocation, async ({ turns }) => {
    const open = await turns.list({ states: ['queued', 'running'] })
    const matching = open.filter(({ id }) => id === wanted || (wanted !== '' && id.startsWith(wanted)))
    const [turn] = matching
    if (!turn || matching.length > 1)
      throw errorOf('FILE_NOT_FOUND', MESSAGES.turnNotFound(toSafeLine(wanted), matching.length))
    const { id, state } = await turns.cancel(turn.id)
    if (invocation.flags['json'] === true) terminal.json(envelope('sessions cancel', { turn: id, state }))
    else terminal.note(NOTES.turnCancelled(state))
    return 0
  })
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

async function withStore(
  invocation: Invocation,
  use: (store: Store, scope: string) => Promise<number>,
): Promise<number> {
  const { store, scope } = await openConfiguredStore(invocation)
  try {
    await store.reclaim()
    return await use(store, scope)
  } finally {
    await store.close()
  }
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
