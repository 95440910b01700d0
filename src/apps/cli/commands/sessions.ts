import { existsSync } from 'node:fs'
import { commandFix, type LedgerEntry, toSafeLine, toSafeText } from '../../../kernel/index.ts'
import { sandboxOptions } from '../../../local/index.ts'
import { withChangeSets } from '../../../machine/sandbox/index.ts'
import { type RemovedSets, removeSets } from '../../../runtime/index.ts'
import {
  type BlobReference,
  type BlobReferences,
  type Lease,
  sessionLease,
  type StoredEvent,
  type TurnRecord,
} from '../../../store/index.ts'
import { type Answer, argument, choiceFlag, CHOICES, type Invocation, numberFlag, stringFlag } from '../command.ts'
import { errorOf, many } from '../failure.ts'
import { findSession, matchingIds, type Opened, openStored, theOne, TURN } from '../stored.ts'
import { describeMessage, speakerOf } from '../show/messages.ts'
import { formatTrace } from '../show/turn.ts'
import { tokensText, useText } from '../show/agents.ts'
import { formatTable } from '../show/columns.ts'
import { createLineBuffer } from '../show/lines.ts'

/** `nexus sessions list`: those of the workspace; with `--all` those of every one. */
export async function listSessions(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const isAll = invocation.flags['all'] === true
  await using opened = await openStored(invocation)
  const { store, scope } = opened
  await store.reclaim()
  const found = await store.sessions.list({ limit: 100, scope: isAll ? undefined : scope })
  const underWay = await store.turns.list({ states: ['running', 'waiting'] })
  const states = new Map(underWay.map(({ sessionId, state }) => [sessionId, state]))
  const used = await store.turns.use(found.map(({ id }) => id))
  const sessions = found.map(({ snapshot: _, ...session }) => ({
    ...session,
    state: states.get(session.id) ?? 'idle',
    use: used.get(session.id) ?? NO_USE,
  }))
  const hasOthers = !isAll && (await store.sessions.list({ limit: found.length + 1 })).length > found.length
  return {
    data: { sessions },
    show: () => {
      const { line, note, commandLine, shortPath } = terminal
      const rows = sessions.map(({ id, updatedAt, state, messageCount, use, title, scope: place }) => {
        const where = place === undefined ? '(workspace not recorded)' : shortPath(place)
        const counts = [many(messageCount, 'message'), tokensText(use)]
        const cells = [id, minuteOf(updatedAt), state, ...counts, toSafeLine(title)]
        return isAll ? [...cells, where] : cells
      })
      if (rows.length > 0) line(formatTable(rows, terminal))
      else note(`This workspace has no session. Start one: ${commandLine(['run', 'Chart data/sales.csv by region'])}`)
      if (hasOthers) note(`To list the sessions of all workspaces: ${commandLine(['sessions', 'list', '--all'])}`)
    },
  }
}

const NO_USE = { steps: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 }

function minuteOf(at: number): string {
  return new Date(at).toISOString().slice(0, 16)
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
  const waiting = await store.turns.list({ sessionId: session.id, states: ['queued', 'running', 'waiting'] })
  const lease = await store.leases.get(sessionLease(session.id))
  const use = (await store.turns.use([session.id])).get(session.id) ?? NO_USE
  const state = waiting.find((turn) => turn.state !== 'queued')?.state ?? 'idle'
  const owner = state === 'running' && lease ? { owner: lease.owner, until: lease.expiresAt } : {}
  return {
    data: { session: { ...session, state, use, ...owner }, messages, ledger, waiting, events },
    show: () => {
      const cost = useText(use)
      terminal.line(`${terminal.paint('bold', toSafeLine(session.title))}  ${state}  ${session.id}  ${cost}\n`)
      for (const message of messages)
        terminal.line(`${terminal.paint('cyan', speakerOf(message))}: ${describeMessage(message)}\n`)
      if (ledger.length > 0) terminal.line(formatTrace(ledger, terminal))
      if (events.length > 0) terminal.line(`\n${events.map((event) => describeEvent(event)).join('\n')}`)
      for (const turn of waiting) {
        const request = turn.requestId === undefined ? '' : `  request ${toSafeLine(turn.requestId)}`
        terminal.line(`${turn.id}${request}  ${stateText(turn, lease)}`)
        const run = terminal.commandLine(['sessions', 'resume', turn.id])
        const cancel = terminal.commandLine(['sessions', 'cancel', turn.id])
        if (turn.isLeft) terminal.note(`Run it: ${run}   or drop it: ${cancel}`)
        if (turn.state === 'waiting') terminal.note(`Answer its question, then go on: ${run}   or cancel it: ${cancel}`)
      }
    },
  }
}

/** `nexus calls`: what the ledger recorded last, whichever front it came from. */
export async function listCalls(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const origin = choiceFlag(invocation, 'origin', CHOICES.origin)
  const limit = numberFlag(invocation, 'limit', { from: 1, to: 1_000, example: 20 }) ?? 20
  await using opened = await openStored(invocation)
  const { store } = opened
  await store.reclaim()
  const calls = (await store.ledger.list({ origin, agentId: stringFlag(invocation, 'agent'), limit })).toReversed()
  const headOf = ({ openedAt, call }: LedgerEntry): string =>
    [minuteOf(openedAt), call.origin, toSafeLine(call.agentId)].join('  ')
  return {
    data: { calls },
    show: () => {
      if (calls.length === 0) terminal.note('No such call is recorded.')
      else terminal.line(formatTrace(calls, terminal, headOf))
    },
  }
}

/** `nexus sessions remove`: the rows first, then the bytes that no row names, and the change sets of its calls. */
export async function removeSession(invocation: Invocation): Promise<Answer> {
  const wanted = argument(invocation, 'the id of a session', ['0196f3'])
  await using opened = await openStored(invocation)
  const { id, scope } = await findSession(opened.store, wanted)
  await opened.store.sessions.remove(id)
  await opened.blobs?.collect()
  const { removed, waiting } = await setsOf(id, scope, opened)
  return {
    data: { session: id, changeSets: { removed, waiting: waiting.map((set) => set.id) } },
    show: () => {
      const { note, commandLine } = invocation.terminal
      const also = removed > 0 ? `, with ${many(removed, 'change set')}: they can no longer be undone` : ''
      note(`Session ${id} was removed${also}.`)
      for (const { id: set, expiresAt } of waiting)
        note(`Change set ${set} holds changes until ${expiresAt.slice(0, 10)}. See it: ${commandLine(['changes', 'show', set])}`) // oxfmt-ignore
    },
  }
}

/** They are of the workspace in which the session began, and of this machine. */
async function setsOf(id: string, scope: string | undefined, { store, loaded }: Opened): Promise<RemovedSets> {
  if (scope === undefined || !existsSync(scope)) return { removed: 0, waiting: [] }
  const options = sandboxOptions(loaded)
  return removeSets(store, async (work) => (await withChangeSets(scope, options, work)) ?? work(), id)
}

/** `nexus sessions cancel <turn>`, or `<session> --request <id>`: a message that waits never runs; a running turn is asked to stop. */
export async function cancelTurn(invocation: Invocation): Promise<Answer> {
  const request = stringFlag(invocation, 'request')
  const wanted = argument(invocation, request === undefined ? 'the id of a message' : 'the id of a session', ['0196f3'])
  await using opened = await openStored(invocation)
  const { store } = opened
  await store.reclaim()
  const name =
    request === undefined
      ? theOne(await store.turns.list({ states: ['queued', 'running', 'waiting'] }), wanted, TURN).id
      : { sessionId: (await findSession(store, wanted)).id, requestId: request }
  const { id, state } = await store.turns.cancel(name)
  const done = state === 'running' ? 'Nexus asked the process of this turn to stop it.' : `The message is ${state}.`
  return { data: { turn: id, state }, show: () => invocation.terminal.note(done) }
}

function stateText({ state, isLeft }: TurnRecord, lease: Lease | undefined): string {
  if (state === 'waiting') return 'waits for an answer: its process is gone'
  if (state !== 'running') return isLeft ? 'waits: the process that queued it is gone' : state
  if (!lease) return state
  const end = new Date(lease.expiresAt).toISOString().slice(11, 19)
  return `running in ${toSafeLine(lease.owner)}. If that process was killed, Nexus ends the turn at ${end} UTC.`
}

function describeEvent({ id, at, type, references }: StoredEvent): string {
  const about = Object.entries(references).map(([name, value]) => `${name}=${String(value)}`)
  return toSafeLine(`${id}  ${new Date(at).toISOString()}  ${type}  ${about.join(' ')}`)
}

/** `nexus sessions show --output <id>`: the bytes as they were kept; a person's terminal gets visible text only. */
export async function showOutput(invocation: Invocation, wanted: string): Promise<Answer> {
  const { terminal } = invocation
  if (invocation.flags['json'] === true) {
    const message = 'A saved output is printed as it is, so --output and --json cannot be used together.'
    throw errorOf('INVALID_ARGUMENT', message, 'Leave out --json.')
  }
  await using opened = await openStored(invocation)
  const { store, blobs } = opened
  const reference = await findOutput(store.blobs, wanted.replace(/^tool-output\//, ''))
  if (!reference || !blobs) {
    const message = `No saved output has the id ${toSafeLine(wanted)}, or it was removed: outputs are kept for 7 days.`
    const lead = 'The outcome of a call names its output. See the sessions:'
    throw errorOf('FILE_NOT_FOUND', message, commandFix(lead, 'sessions', 'list', '--all'))
  }
  // By lines, so that no chunk ends inside of an escape sequence.
  const lines = terminal.isShown ? createLineBuffer((text) => terminal.write(toSafeText(text))) : undefined
  const decoder = new TextDecoder()
  for await (const chunk of blobs.read(reference)) {
    if (lines) lines.add(decoder.decode(chunk, { stream: true }))
    else terminal.write(chunk)
    // The rest stays in the file until a slow reader has taken this.
    await terminal.drained()
    if (terminal.outputFailure) break
  }
  lines?.add(decoder.decode())
  lines?.flush()
  if (reference.isCut) terminal.note(`The command wrote more: only the first ${reference.bytes} bytes were kept.`)
  return {}
}

/** The one with that id, or the only one whose id begins so. */
async function findOutput(blobs: BlobReferences, wanted: string): Promise<BlobReference | undefined> {
  const exact = await blobs.get(wanted)
  if (exact || wanted === '') return exact
  const matching = matchingIds(await blobs.list(), wanted)
  return matching.length === 1 ? matching[0] : undefined
}
