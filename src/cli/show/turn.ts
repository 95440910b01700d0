import type { AgentEvent } from '../../agents/index.ts'
import type { Decision, JsonObject, LedgerEntry, Outcome } from '../../kernel/index.ts'
import { toSafeLine, toSafeText } from '../../kernel/index.ts'
import { createProgress } from '../interactive/progress.ts'
import type { Terminal } from '../terminal.ts'
import { formatTable, shorten, widthOf } from './columns.ts'
import { createLineBuffer, type LineBuffer } from './lines.ts'
import { messageWithoutNotes, notesOf } from './notes.ts'

/** Where the model's words and the notes about tools go. */
export interface TurnDisplay {
  readonly onEvent: (event: AgentEvent) => void
}

/**
 * Shows a turn as it happens: the model's words through `say`, everything about tools through `note`.
 * Text of the model and of commands is made safe for a terminal first.
 */
export function createTurnDisplay(
  terminal: Terminal,
  streams: { readonly say: (text: string) => void; readonly note: (text: string) => void },
): TurnDisplay {
  let midLine = false
  const note = (text: string): void => {
    if (midLine) streams.say('\n')
    midLine = false
    streams.note(text)
  }
  const live = liveOutput((text) => note(text.replace(/^/gm, terminal.paint('dim', '  │ '))))
  const progress = createProgress(terminal)
  return {
    onEvent: (event) => {
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
          return
        case 'tool-output':
          live.add(event)
          return
        case 'tool-result':
          live.end(event.callId)
          progress.begin('waiting for the model')
          note(`  ${describeOutcome(event.outcome, terminal)} ${terminal.paint('dim', `${event.durationMs} ms`)}`)
          return
        case 'notice':
          note(`  ${terminal.paint('yellow', toSafeLine(event.text))}`)
          progress.begin('waiting for the model')
          return
        case 'turn-start':
          progress.begin('waiting for the model')
          return
        case 'step-end':
          return
        case 'turn-end':
          if (midLine) streams.say('\n')
          midLine = false
          return
      }
    },
  }
}

/** Each stream of each call by whole lines, also when several commands run at the same time. */
function liveOutput(show: (text: string) => void): {
  add(event: Extract<AgentEvent, { type: 'tool-output' }>): void
  end(callId: string): void
} {
  const calls = new Map<string, Partial<Record<'stdout' | 'stderr', LineBuffer>>>()
  return {
    add({ callId, stream, text }) {
      const buffers = calls.get(callId) ?? {}
      calls.set(callId, buffers)
      buffers[stream] ??= createLineBuffer((lines) => show(toSafeText(lines)))
      buffers[stream].add(text)
    },
    end(callId) {
      const { stdout, stderr } = calls.get(callId) ?? {}
      stdout?.flush()
      stderr?.flush()
      calls.delete(callId)
    },
  }
}

/**
 * The ledger of a turn: what was called, who allowed it, what came of it, how long it took. A table where it fits, else two
 * lines a call.
 */
export function formatTrace(entries: readonly LedgerEntry[], terminal: Terminal): string {
  const table = formatTable(entries.map((entry, index) => traceRow(entry, { index, terminal })))
  if (table.split('\n').every((line) => widthOf(line) <= terminal.columns - TRACE_INDENT)) return table
  return entries
    .map((entry, index) => {
      const maxCells = Math.max(12, terminal.columns - NARROW_REST)
      const [number = '', tool = '', args = '', ...rest] = traceRow(entry, { index, terminal, maxCells })
      const room = Math.max(20, terminal.columns - TRACE_INDENT - widthOf(`${number}  `))
      return `${number}  ${shorten(`${tool}  ${args}`, room)}\n   ${rest.filter((cell) => cell !== '').join('  ')}`
    })
    .join('\n')
}

function traceRow(
  { call, decision, outcome, state, openedAt, closedAt }: LedgerEntry,
  { index, terminal, maxCells = 60 }: { index: number; terminal: Terminal; maxCells?: number },
): string[] {
  return [
    terminal.paint('dim', String(index + 1)),
    toSafeLine(call.tool),
    shorten(describeArguments(call.arguments), 60),
    describeDecision(decision),
    outcome ? describeOutcome(outcome, terminal, maxCells) : terminal.paint('yellow', state),
    closedAt === undefined ? '' : terminal.paint('dim', `${closedAt - openedAt} ms`),
  ]
}

/** What stands beside a summary on the second line of a call: indent, an ordinary decision, mark and time. */
const NARROW_REST = 42
/** Some indent it. */
const TRACE_INDENT = 2

function describeDecision(decision: Decision): string {
  switch (decision.type) {
    case 'allow':
      return `allowed (${decision.rule})`
    case 'deny':
      return `denied (${decision.rule}): ${toSafeLine(decision.reason)}`
    case 'ask':
      return `asked (${decision.rule})`
  }
}

function describeOutcome(outcome: Outcome, terminal: Terminal, maxCells = 60): string {
  switch (outcome.type) {
    case 'success':
      return `${terminal.paint('green', '✓')} ${summary(outcome, maxCells)}${terminal.paint('yellow', notes(outcome))}`
    case 'partial':
      return `${terminal.paint('yellow', '◐')} ${summary(outcome, maxCells)}${terminal.paint('yellow', notes(outcome))}`
    case 'failed':
      return `${terminal.paint('red', '✗')} ${outcome.code}: ${shorten(toSafeLine(messageWithoutNotes(outcome)), 90)}${terminal.paint('yellow', notes(outcome))}`
  }
}

function summary(outcome: Exclude<Outcome, { type: 'failed' }>, maxCells: number): string {
  const exitCode = outcome.data['exit_code']
  const cut = outcome.data['truncated'] === true ? ', output cut' : ''
  if (typeof exitCode === 'number') return `exit code ${exitCode}${cut}`
  return shorten(toSafeLine(outcome.text), maxCells)
}

/** What the sandbox has to say, such as a file that was not taken back. Each is short, but nobody says how many there are. */
function notes(outcome: Outcome): string {
  const list = notesOf(outcome)
  if (list.length === 0) return ''
  const shown = list.slice(0, MOST_NOTES).map((note) => shorten(toSafeLine(note), 160))
  return `  note: ${[...shown, ...(list.length > MOST_NOTES ? [`${list.length - MOST_NOTES} more`] : [])].join('; ')}`
}

const MOST_NOTES = 5

function describeArguments(args: JsonObject): string {
  const parts = Object.entries(args).map(
    ([key, value]) => `${key}=${shorten(typeof value === 'string' ? value : JSON.stringify(value), 140)}`,
  )
  return toSafeLine(parts.join(' '))
}
