import { constants } from 'node:os'
import type { AgentEvent } from '../../../agents/turns/index.ts'
import {
  type Decision,
  type JsonObject,
  type LedgerEntry,
  type Outcome,
  toSafeLine,
  toSafeText,
} from '../../../kernel/index.ts'
import type { Invocation } from '../command.ts'
import { many } from '../failure.ts'
import { createProgress } from '../interactive/progress.ts'
import { fixText, type Terminal } from '../terminal.ts'
import type { ShowPaths } from './skill-paths.ts'
import { formatTable, shorten, widthOf } from './columns.ts'
import { createLineBuffer, type LineBuffer } from './lines.ts'

/** Shows the turns of a command: words on stdout, without `--json`, and everything else on stderr. */
export function displayOf({ terminal, flags }: Invocation, showPaths?: ShowPaths): (event: AgentEvent) => void {
  return createTurnDisplay(terminal.besideDocument(), {
    say: flags['json'] === true ? () => undefined : terminal.write,
    note: terminal.note,
    isAnswered: flags['yes'] === true || terminal.isInteractive,
    showPaths,
  })
}

/**
 * Shows a turn as it happens: the model's words through `say`, everything about tools through `note`.
 * Text of the model and of commands is made safe for a terminal first.
 */
export function createTurnDisplay(
  terminal: Terminal,
  streams: {
    readonly say: (text: string) => void
    readonly note: (text: string) => void
    readonly isAnswered?: boolean
    readonly showPaths?: ShowPaths
  },
): (event: AgentEvent) => void {
  let midLine = false
  const note = (text: string): void => {
    if (midLine) streams.say('\n')
    midLine = false
    streams.note(text)
  }
  const { showPaths = (text) => text } = streams
  const live = liveOutput((text) => note(toSafeText(showPaths(text)).replace(/^/gm, terminal.paint('dim', '  │ '))))
  const progress = createProgress(terminal)
  /** Calls whose denial was shown: their result repeats it. */
  const denied = new Set<string>()
  /** Calls about which a person was asked: the fix of their denial is for the model. */
  const asked = new Set<string>()
  return (event) => {
    progress.end()
    switch (event.type) {
      case 'text-delta': {
        const text = toSafeText(event.text)
        if (text === '') return
        streams.say(text)
        midLine = !text.endsWith('\n')
        return
      }
      case 'tool-call':
        note(
          `${terminal.paint('cyan', '→')} ${terminal.paint('bold', toSafeLine(event.tool))} ${describeArguments(event.arguments)}`,
        )
        return
      case 'tool-decision':
        if (event.decision.type === 'allow') progress.begin('a tool is at work')
        else note(`  ${terminal.paint('red', describeDecision(event.decision))}`)
        if (event.decision.type === 'deny') denied.add(event.callId)
        return
      case 'tool-output':
        live.add(event)
        return
      case 'tool-result':
        live.end(event.callId)
        progress.begin('waiting for the model')
        for (const line of resultLines(event, terminal, denied.delete(event.callId), asked.delete(event.callId)))
          note(showPaths(line))
        return
      case 'notice':
        note(`  ${terminal.paint('yellow', toSafeLine(fixText({ fix: event.text, ...event }, terminal) ?? ''))}`)
        progress.begin(event.code === 'turn-waits' ? 'waiting for the session' : 'waiting for the model')
        return
      case 'turn-start':
        progress.begin('waiting for the model')
        return
      case 'tool-asked':
        asked.add(event.callId)
        if (event.isOpen && !streams.isAnswered)
          note(terminal.paint('dim', `  ${answerHint(event.approvalId, terminal)}`))
        return
      case 'turn-end':
        if (midLine) streams.say('\n')
        midLine = false
        return
      default:
    }
  }
}

/** For a call that waits in the store. */
export function answerHint(approvalId: string, terminal: Terminal): string {
  const line = terminal.commandLine(['approvals', 'answer', approvalId, '--allow'])
  return `The call waits for your answer. To allow it: ${line}`
}

/** A result, its notes and its fix. That of a denied call was shown with the decision. */
function resultLines(
  { outcome, durationMs }: Extract<AgentEvent, { type: 'tool-result' }>,
  terminal: Terminal,
  isDenied: boolean,
  wasAsked: boolean,
): readonly string[] {
  const { paint } = terminal
  const fix = outcome.type === 'failed' && !(isDenied && wasAsked) ? outcome.fix : undefined
  return [
    ...(isDenied ? [] : [`  ${describeOutcome(outcome, terminal)} ${paint('dim', `${durationMs} ms`)}`]),
    ...shownNotes(outcome).map((text) => `    ${paint('yellow', `note: ${text}`)}`),
    ...(fix === undefined ? [] : [`    ${paint('cyan', 'fix:')} ${shorten(toSafeLine(fix), MOST_NOTE_CELLS)}`]),
  ]
}

/** Lines of one call that are shown while it runs. The model and the ledger get what `execution.maxOutputBytes` allows. */
const MOST_LIVE_LINES = 200
const MOST_LIVE_CHARS = 20_000

interface LiveCall {
  readonly buffers: Partial<Record<'stdout' | 'stderr', LineBuffer>>
  lines: number
  chars: number
  hidden: number
}

/** Each stream of each call by whole lines, also when several commands run at the same time; of a flood the beginning. */
function liveOutput(show: (text: string) => void): {
  add(event: Extract<AgentEvent, { type: 'tool-output' }>): void
  end(callId: string): void
} {
  const calls = new Map<string, LiveCall>()
  const showWithin = (call: LiveCall, text: string): void => {
    const lines = text.split('\n')
    const room = call.chars >= MOST_LIVE_CHARS ? 0 : Math.max(0, MOST_LIVE_LINES - call.lines)
    const shown = lines.slice(0, room)
    call.lines += shown.length
    call.hidden += lines.length - shown.length
    const visible = shown.join('\n').slice(0, MOST_LIVE_CHARS - call.chars)
    call.chars += visible.length
    if (shown.length > 0) show(visible)
  }
  return {
    add({ callId, stream, text }) {
      const call = calls.get(callId) ?? { buffers: {}, lines: 0, chars: 0, hidden: 0 }
      calls.set(callId, call)
      call.buffers[stream] ??= createLineBuffer((lines) => showWithin(call, lines.replace(/\n$/, '')))
      call.buffers[stream].add(text)
    },
    end(callId) {
      const call = calls.get(callId)
      call?.buffers.stdout?.flush()
      call?.buffers.stderr?.flush()
      if (call && call.hidden > 0) show(`… ${call.hidden} more lines are not shown here.`)
      calls.delete(callId)
    },
  }
}

/** The ledger of a turn: what was called, who allowed it, what came of it, how long it took. Where a table is too wide, a call has two lines. */
export function formatTrace(
  entries: readonly LedgerEntry[],
  terminal: Terminal,
  titleOf: (entry: LedgerEntry, index: number) => string = (_, index) => String(index + 1),
): string {
  const columns = terminal.columns - TRACE_INDENT
  const rows = entries.map((entry, index) => traceRow(entry, titleOf(entry, index), terminal))
  const table = formatTable(rows)
  if (table.split('\n').every((line) => widthOf(line) <= columns)) return table
  const lines = rows.flatMap(([title = '', tool, args, ...rest]) => [
    [title, `${tool}  ${args}`],
    ['', rest.filter((cell) => cell !== '').join('  ')],
  ])
  return formatTable(lines, { columns, long: 'wrap' })
}

function traceRow(entry: LedgerEntry, title: string, terminal: Terminal): string[] {
  const { call, decision, openedAt, closedAt } = entry
  return [
    terminal.paint('dim', title),
    toSafeLine(call.tool),
    shorten(describeArguments(call.arguments), MOST_CELLS),
    describeDecision(decision, MOST_CELLS),
    traceResult(entry, terminal),
    closedAt === undefined ? '' : terminal.paint('dim', `${closedAt - openedAt} ms`),
  ]
}

/** The outcome, without the reason of a denial that the decision gives already. */
function traceResult({ decision, outcome, state }: LedgerEntry, terminal: Terminal): string {
  if (decision.type === 'deny') return terminal.paint('red', '✗ not run')
  if (!outcome) return terminal.paint('yellow', state)
  const { length } = notesOf(outcome)
  return `${describeOutcome(outcome, terminal, MOST_CELLS)}${length === 0 ? '' : `, ${many(length, 'note')}`}`
}

/** For one part of a call in a table. */
const MOST_CELLS = 60
/** The demo indents the table. */
const TRACE_INDENT = 2

function describeDecision(decision: Decision, maxCells = MOST_NOTE_CELLS): string {
  switch (decision.type) {
    case 'allow':
      return `allowed (${decision.rule})`
    case 'deny':
      return `denied (${decision.rule}): ${shorten(toSafeLine(decision.reason), maxCells)}`
    case 'ask':
      return `asked (${decision.rule})`
  }
}

/** `maxCells`: of a table; without it a failure is shown whole, because its cause may be at the end. */
function describeOutcome(outcome: Outcome, terminal: Terminal, maxCells?: number): string {
  if (outcome.type === 'failed') {
    const message = shorten(toSafeLine(outcome.message), maxCells === undefined ? MOST_NOTE_CELLS : 90)
    return `${terminal.paint('red', '✗')} ${outcome.code}: ${message}`
  }
  return `${markOf(outcome, terminal)} ${summary(outcome, maxCells ?? MOST_CELLS)}`
}

/** A command that ended with another exit code than 0 is a result for the model; for a person it did not succeed. */
function markOf(outcome: Exclude<Outcome, { type: 'failed' }>, terminal: Terminal): string {
  const exitCode = outcome.data['exit_code']
  if (typeof exitCode === 'number' && exitCode !== 0) return terminal.paint('red', '✗')
  return outcome.type === 'success' ? terminal.paint('green', '✓') : terminal.paint('yellow', '◐')
}

function summary(outcome: Exclude<Outcome, { type: 'failed' }>, maxCells: number): string {
  const exitCode = outcome.data['exit_code']
  const cut = outcome.data['truncated'] === true ? ', output cut' : ''
  if (typeof exitCode === 'number') return `${exitText(exitCode)}${cut}`
  return shorten(toSafeLine(outcome.text), maxCells)
}

/** `exit code 139 (SIGSEGV)`: a shell adds 128 to the signal that ended its command. */
export function exitText(exitCode: number): string {
  const [signal] = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128) ?? []
  return `exit code ${exitCode}${signal === undefined ? '' : ` (${signal})`}`
}

/** In full, because the next step is at the end. */
function shownNotes(outcome: Outcome): readonly string[] {
  const list = notesOf(outcome)
  const shown = list.slice(0, MOST_NOTES).map((text) => shorten(toSafeLine(text), MOST_NOTE_CELLS))
  return list.length > MOST_NOTES ? [...shown, `${list.length - MOST_NOTES} more`] : shown
}

/** Notes of the sandbox about a command, such as a changed file that was not taken back. */
export function notesOf({ data }: Pick<Outcome, 'data'>): readonly string[] {
  const notes = data?.['notes']
  return Array.isArray(notes) ? notes.map(String) : []
}

const MOST_NOTES = 5
const MOST_NOTE_CELLS = 500

function describeArguments(args: JsonObject): string {
  const parts = Object.entries(args).map(
    ([key, value]) => `${key}=${shorten(typeof value === 'string' ? value : JSON.stringify(value), 140)}`,
  )
  return toSafeLine(parts.join(' '))
}
