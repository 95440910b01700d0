import { type Environment, realPath } from '../../config/index.ts'
import { commandLine, type Diagnostic, type JsonValue, toSafeJson, toSafeLine, toSafeText } from '../../kernel/index.ts'
import { styleText } from 'node:util'
import { createOutput, isTerminalAt, type Output, type WriteFailure } from './output.ts'
import { existsSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** The command line's two streams: data on stdout, messages on stderr; no colour into pipes. */
export interface Terminal {
  write(data: string | Uint8Array): void
  line(text?: string): void
  /** A line for people on stderr. */
  note(text: string): void
  writeNote(text: string): void
  /** The same terminal with everything on stderr: stdout is for a document. */
  besideDocument(): Terminal
  /** One JSON document on stdout, without characters that a terminal would act on. */
  json(value: JsonValue): void
  /**
   * A command as a person types it here, with paths from the working directory. Without a program it is one of this program: after
   * `nexus` or `npx nexus`.
   */
  commandLine(args: readonly string[], program?: string): string
  /** A path as people read it: from the working directory (`./`) or the home directory (`~/`), safe to print. */
  shortPath(path: string): string
  paint(style: Style, text: string): string
  paintNote(style: Style, text: string): string
  readonly isInteractive: boolean
  /** True when a person sees what goes to stdout. */
  readonly isShown: boolean
  /** True when a person sees what goes to stderr. */
  readonly isWatched: boolean
  /** Keeps lines that come and go, such as progress, off the screen while a person types. Returns what ends that. */
  beginQuestion(): () => void
  readonly isAsking: boolean
  /** True for a terminal that takes no control sequences. */
  readonly isDumb: boolean
  /** Cells of a line on stdout; Infinity where no terminal limits them. */
  readonly columns: number
  readonly noteColumns: number
  readonly outputFailure: WriteFailure | undefined
  /** Aborts when stdout can take no more; the reason is `WriteFailure`: the reader went away, or the disk is full. */
  readonly outputEnd: AbortSignal
  drained(): Promise<void>
}

/** Makes the terminal over the process' own streams. A reader that went away (EPIPE) ends the output quietly. */
export function createTerminal(environment: Environment): Terminal {
  const { TERM, FORCE_COLOR } = environment
  let program: string | undefined
  let questions = 0
  const stdout = createOutput(1)
  const stderr = createOutput(2)
  // Node decides by the stream, NO_COLOR and FORCE_COLOR; a pipe is not opened as a stream for that.
  const painter =
    (output: Output, stream: () => NodeJS.WriteStream): Terminal['paint'] =>
    (style, text) =>
      output.isTerminal || FORCE_COLOR !== undefined ? styleText(style, text, { stream: stream() }) : text
  const ownProgram = (): string =>
    (program ??= programName({
      script: process.argv[1] ?? '',
      cwd: workingDirectory(),
      path: environment.get('PATH') ?? '',
    }))
  const paintNote = painter(stderr, () => process.stderr)
  /** `data`: where `line` and `write` go. */
  const over = (data: Output, paint: Terminal['paint']): Terminal => ({
    commandLine: (args, name = ownProgram()) => {
      const cwd = workingDirectory()
      return commandLine(
        name,
        args.map((word) => typedPath(word, cwd)),
      )
    },
    shortPath: (path) => toSafeLine(shortPath(path, { cwd: workingDirectory(), home: environment.home })),
    write: data.write,
    line: (text = '') => data.write(`${text}\n`),
    note: (text) => stderr.write(`${text}\n`),
    writeNote: stderr.write,
    besideDocument: () => over(stderr, paintNote),
    json: (value) => stdout.write(`${toSafeJson(value, 2)}\n`),
    paint,
    paintNote,
    isInteractive: stderr.isTerminal && isTerminalAt(0),
    isShown: data.isTerminal,
    isWatched: stderr.isTerminal,
    beginQuestion: () => {
      questions++
      return () => void questions--
    },
    get isAsking() {
      return questions > 0
    },
    isDumb: TERM === 'dumb',
    get outputFailure() {
      return stdout.failure
    },
    get outputEnd() {
      return stdout.end
    },
    get columns() {
      return columnsOf(data)
    },
    get noteColumns() {
      return columnsOf(stderr)
    },
    drained: async () => {
      await Promise.all([stdout.drained(), stderr.drained()])
    },
  })
  return over(
    stdout,
    painter(stdout, () => process.stdout),
  )
}

/** A terminal that does not say has 80. */
function columnsOf({ isTerminal, columns }: Output): number {
  return isTerminal ? columns || 80 : Number.POSITIVE_INFINITY
}

/** Root where the working directory was removed: nothing is below it then that could be shown shorter. */
function workingDirectory(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

/** A path below the working directory from there, and any other as it is: a shell reads no `~` in quotes. */
export function typedPath(path: string, cwd: string): string {
  return cwd !== '/' && path.startsWith(`${cwd}/`) ? `.${path.slice(cwd.length)}` : path
}

/** From the working directory, else from the home directory, else whole. */
export function shortPath(path: string, { cwd, home }: { readonly cwd: string; readonly home: string }): string {
  if (path === cwd) return '.'
  if (cwd !== '/' && path.startsWith(`${cwd}/`)) return `.${path.slice(cwd.length)}`
  const isInHome = home.length > 1 && (path === home || path.startsWith(`${home}/`))
  return isInHome ? `~${path.slice(home.length)}` : path
}

const SEVERITY_STYLE = { error: 'red', warning: 'yellow', info: 'dim' } as const

type Printer = Pick<Terminal, 'paint' | 'commandLine' | 'shortPath'>

/** The fix of a finding or an error, its command with the name of this program. */
export function fixText(
  { fix, proposal }: Pick<Diagnostic, 'fix' | 'proposal'>,
  terminal: Pick<Terminal, 'commandLine'>,
): string | undefined {
  const text = proposal ? `${proposal.lead} ${terminal.commandLine(proposal.args, proposal.program)}` : fix
  return text && toSafeText(text)
}

/** `file:line:column severity code` and the message below it, and the fix; all foreign text made visible. */
export function formatDiagnostic(diagnostic: Diagnostic, terminal: Printer): string {
  const { severity, code, path, line, column, message } = diagnostic
  const { paint } = terminal
  const place = [terminal.shortPath(path), line, column].filter((part) => part !== undefined).join(':')
  const fix = fixText(diagnostic, terminal)
  const head = `${paint(SEVERITY_STYLE[severity], severity)} ${paint('dim', code)} ${place}`
  const tail = fix === undefined ? '' : `\n    ${paint('cyan', 'fix:')} ${fix.replaceAll('\n', '\n    ')}`
  return `${head}\n    ${toSafeText(message).replaceAll('\n', '\n    ')}${tail}`
}

/** A line of a diff: green where it is added, red where it is removed. */
export function paintDiff(text: string, paint: Terminal['paint']): string {
  if (text.startsWith('+')) return paint('green', text)
  return text.startsWith('-') ? paint('red', text) : text
}

export interface Start {
  /** The script that Node runs. */
  readonly script: string
  readonly cwd: string
  readonly path: string
}

/**
 * The name before every command that is printed: `npx nexus` in a project that has it and in a checkout, else `nexus`, which is easier to
 * read than the paths of Node and the script, and works once the package is installed.
 */
export function programName({ script, cwd, path }: Start): string {
  const own = realPath(script)
  // npm adds these directories for its scripts; the person's shell does not have them.
  const directories = path.split(delimiter).filter((each) => isAbsolute(each) && !each.endsWith('node_modules/.bin'))
  if (directories.some((directory) => realPath(join(directory, 'nexus')) === own)) return 'nexus'
  return foundByNpx(cwd, own) ? 'npx nexus' : 'nexus'
}

/** True in the package itself, and where a package above the directory has it among its dependencies. */
function foundByNpx(directory: string, own: string): boolean {
  if (realPath(join(directory, 'node_modules/.bin/nexus')) === own) return true
  if (existsSync(join(directory, 'package.json'))) return own === join(realPath(directory), 'dist/cli/bin.cjs')
  const above = dirname(directory)
  return above !== directory && foundByNpx(above, own)
}
