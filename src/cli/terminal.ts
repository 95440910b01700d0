import type { Environment } from '../config/index.ts'
import type { Diagnostic, JsonValue } from '../kernel/index.ts'
import { toSafeJson, toSafeLine, toSafeText } from '../kernel/index.ts'
import { styleText } from 'node:util'
import { createOutput, isTerminalAt, type Output, type WriteFailure } from './output.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** The command line's two streams: data on stdout, messages on stderr; no colour into pipes. */
export interface Terminal {
  /** Data, as it is. */
  write(text: string): void
  /** A line of data. */
  line(text?: string): void
  /** A line for people on stderr. */
  note(text: string): void
  /** Text on stderr, as it is. */
  writeNote(text: string): void
  /** One JSON document on stdout, without characters that a terminal would act on. */
  json(value: JsonValue): void
  paint(style: Style, text: string): string
  paintNote(style: Style, text: string): string
  readonly isInteractive: boolean
  /** True when a person sees what goes to stderr. */
  readonly isWatched: boolean
  /** True for a terminal that takes no control sequences. */
  readonly isDumb: boolean
  /** Cells of a line on stdout; Infinity where no terminal limits them. */
  readonly columns: number
  /** The same for stderr. */
  readonly noteColumns: number
  /** Why stdout can take no more. */
  readonly outputFailure: WriteFailure | undefined
  /** Aborts when stdout can take no more; the reason is `WriteFailure`: whoever read went away, or the disk is full. */
  readonly outputEnd: AbortSignal
  /** Resolves when everything written has left the process. */
  drained(): Promise<void>
}

/** Makes the terminal over the process' own streams. A reader that went away (EPIPE) ends the output quietly. */
export function createTerminal({ TERM, FORCE_COLOR }: Pick<Environment, 'TERM' | 'FORCE_COLOR'>): Terminal {
  const stdout = createOutput(1)
  const stderr = createOutput(2)
  // Node decides by the stream, NO_COLOR and FORCE_COLOR; a pipe is not opened as a stream for that.
  const painter =
    (output: Output, stream: () => NodeJS.WriteStream): Terminal['paint'] =>
    (style, text) =>
      output.isTerminal || FORCE_COLOR !== undefined ? styleText(style, text, { stream: stream() }) : text
  return {
    write: stdout.write,
    line: (text = '') => stdout.write(`${text}\n`),
    note: (text) => stderr.write(`${text}\n`),
    writeNote: stderr.write,
    json: (value) => stdout.write(`${toSafeJson(value, 2)}\n`),
    paint: painter(stdout, () => process.stdout),
    paintNote: painter(stderr, () => process.stderr),
    isInteractive: stderr.isTerminal && isTerminalAt(0),
    isWatched: stderr.isTerminal,
    isDumb: TERM === 'dumb',
    get outputFailure() {
      return stdout.failure
    },
    get outputEnd() {
      return stdout.end
    },
    get columns() {
      return columnsOf(stdout)
    },
    get noteColumns() {
      return columnsOf(stderr)
    },
    drained: async () => {
      await Promise.all([stdout.drained(), stderr.drained()])
    },
  }
}

/** A terminal that does not say has 80. */
function columnsOf({ isTerminal, columns }: Output): number {
  return isTerminal ? columns || 80 : Number.POSITIVE_INFINITY
}

const SEVERITY_STYLE = { error: 'red', warning: 'yellow', info: 'dim' } as const

/** `file:line:column severity code` and the message below it, with the fix; all foreign text made visible. */
export function formatDiagnostic(diagnostic: Diagnostic, paint: Terminal['paint']): string {
  const { severity, code, path, line, column, message, fix } = diagnostic
  const place = [toSafeLine(path), line, column].filter((part) => part !== undefined).join(':')
  const head = `${paint(SEVERITY_STYLE[severity], severity)} ${paint('dim', code)} ${place}`
  const tail = fix === undefined ? '' : `\n    ${paint('cyan', 'fix:')} ${toSafeText(fix).replaceAll('\n', '\n    ')}`
  return `${head}\n    ${toSafeText(message).replaceAll('\n', '\n    ')}${tail}`
}
