import type { Diagnostic, JsonValue } from '../kernel/index.ts'
import { toSafeJson, toSafeLine, toSafeText } from '../kernel/index.ts'
import { createOutput, mayBeTerminal, type Output, type WriteFailure } from './output.ts'

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const
export type Style = keyof typeof STYLES

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

/** What the terminal needs to know of the environment. */
export interface TerminalOptions {
  readonly noColor: boolean
  readonly forceColor: boolean
  readonly isDumb: boolean
}

/** Makes the terminal over the process' own streams. A reader that went away (EPIPE) ends the output quietly. */
export function createTerminal(options: TerminalOptions): Terminal {
  const stdout = createOutput(1, () => process.stdout)
  const stderr = createOutput(2, () => process.stderr)
  const paintFor =
    (output: Output): Terminal['paint'] =>
    (style, text) => {
      if (!options.forceColor && (options.noColor || !output.isTerminal)) return text
      const [on, off] = STYLES[style]
      return `\u001b[${on}m${text}\u001b[${off}m`
    }
  return {
    write: (text) => stdout.write(text),
    line: (text = '') => stdout.write(`${text}\n`),
    note: (text) => stderr.write(`${text}\n`),
    writeNote: (text) => stderr.write(text),
    json: (value) => stdout.write(`${toSafeJson(value, 2)}\n`),
    paint: paintFor(stdout),
    paintNote: paintFor(stderr),
    get isInteractive() {
      return stderr.isTerminal && mayBeTerminal(0) && process.stdin.isTTY
    },
    get isWatched() {
      return stderr.isTerminal
    },
    isDumb: options.isDumb,
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

/** Of a terminal that does not tell. */
const USUAL_COLUMNS = 80

function columnsOf({ isTerminal, columns }: Output): number {
  return isTerminal ? (columns ?? USUAL_COLUMNS) || USUAL_COLUMNS : Number.POSITIVE_INFINITY
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
