import type { AgentEvent } from '../agents/index.ts'
import type { Decision, JsonObject, LedgerEntry, Outcome } from '../kernel/index.ts'
import { toSafeLine, toSafeText } from '../kernel/index.ts'
import { formatTable, shorten, type Terminal } from './terminal.ts'

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
  return {
    onEvent: (event) => {
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
          if (event.decision.type !== 'allow') note(`  ${terminal.paint('red', describeDecision(event.decision))}`)
          return
        case 'tool-output':
          note(toSafeText(event.text).trimEnd().replace(/^/gm, terminal.paint('dim', '  │ ')))
          return
        case 'tool-result':
          note(`  ${describeOutcome(event.outcome, terminal)} ${terminal.paint('dim', `${event.durationMs} ms`)}`)
          return
        case 'notice':
          note(`  ${terminal.paint('yellow', toSafeLine(event.text))}`)
          return
        case 'turn-start':
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

/** The ledger of a turn as a table: what was called, who allowed it, what came of it, how long it took. */
export function formatTrace(entries: readonly LedgerEntry[], terminal: Terminal): string {
  const rows = entries.map((entry, index) => [
    terminal.paint('dim', String(index + 1)),
    toSafeLine(entry.call.tool),
    shorten(describeArguments(entry.call.arguments), 60),
    describeDecision(entry.decision),
    entry.outcome ? describeOutcome(entry.outcome, terminal) : terminal.paint('yellow', entry.state),
    entry.closedAt === undefined ? '' : terminal.paint('dim', `${entry.closedAt - entry.openedAt} ms`),
  ])
  return formatTable(rows)
}

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

function describeOutcome(outcome: Outcome, terminal: Terminal): string {
  switch (outcome.type) {
    case 'success':
      return `${terminal.paint('green', '✓')} ${summary(outcome)}`
    case 'partial':
      return `${terminal.paint('yellow', '◐')} ${summary(outcome)}`
    case 'failed':
      return `${terminal.paint('red', '✗')} ${outcome.code}: ${shorten(toSafeLine(outcome.message), 90)}`
  }
}

function summary(outcome: Exclude<Outcome, { type: 'failed' }>): string {
  const exitCode = outcome.data['exit_code']
  if (typeof exitCode === 'number') return `exit code ${exitCode}`
  return shorten(toSafeLine(outcome.text), 60)
}

function describeArguments(args: JsonObject): string {
  const parts = Object.entries(args).map(
    ([key, value]) => `${key}=${shorten(typeof value === 'string' ? value : JSON.stringify(value), 140)}`,
  )
  return toSafeLine(parts.join(' '))
}
