import type { Environment } from '../../config/index.ts'
import { commandFix, type Diagnostic, type Fix, type NexusError, toSafeLine } from '../../kernel/index.ts'
import { errorOf, type Failure } from './failure.ts'
import type { Terminal } from './terminal.ts'

/** The words that some options and arguments take: one table for what is offered in a shell and what is taken. */
export const CHOICES = {
  sandbox: ['local', 'none'],
  style: ['markdown', 'xml', 'list', 'names'],
  format: ['text', 'json', 'sarif', 'github'],
  profile: ['spec', 'claude', 'openclaw'],
  form: ['nexus', 'flat'],
  shell: ['bash', 'zsh', 'fish'],
  remember: ['exact', 'prefix'],
  scope: ['user', 'project'],
  place: ['workspace', 'user'],
  level: ['debug', 'info', 'warn', 'error'],
  // prettier-ignore
  client: [
    'claude-code', 'claude-desktop', 'cursor', 'vscode', 'copilot', 'codex', 'opencode', 'zed', 'antigravity', 'devin',
  ],
  /** `Call['origin']`: which front a call came from. */
  origin: ['model', 'mcp', 'cli', 'library', 'rpc'],
} as const

/** Names that a shell can offer in a workspace. */
export type Names = 'skills' | 'agents' | 'sessions' | 'codes'

/** One option of a command, in the shape of `util.parseArgs`, with its help line. */
export interface OptionSpec {
  readonly type: 'boolean' | 'string'
  readonly short?: string
  readonly multiple?: boolean
  /** Word shown for the value in help, such as `DIR`. */
  readonly value?: string
  readonly choices?: readonly string[]
  readonly names?: Names
  readonly help: string
}

/** A command line, read, with what the process gives each command. */
export interface Invocation {
  /** The name of the command, such as `skills list`. */
  readonly command: string
  readonly version: string
  readonly flags: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>
  readonly positionals: readonly string[]
  /** Everything after a bare `--`, as given. */
  readonly rest: readonly string[]
  readonly terminal: Terminal
  readonly environment: Environment
  readonly cwd: string
  /** Aborts on Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal
  /** Aborts `signal`, as Ctrl-C does. */
  cancel(): void
}

/** A command as the table lists it; its code is loaded only when it runs. */
export interface Row {
  readonly summary: string
  /** Arguments as shown in help, such as `<name> [-- command…]`. */
  readonly usage?: string
  readonly choices?: readonly string[]
  readonly names?: Names
  readonly options?: Readonly<Record<string, OptionSpec>>
  /** Default: the command alone. */
  readonly examples?: readonly string[]
  /** It serves until a signal ends it. */
  readonly isService?: boolean
  /** SIGHUP is its own: it reads its configuration again. */
  readonly reloads?: boolean
  readonly load: () => Promise<(invocation: Invocation) => Answer | Promise<Answer>>
}

/** By the words after `nexus`, such as `skills list`. */
export type Rows = Readonly<Record<string, Row>>

export interface Command extends Row {
  readonly name: string
  readonly examples: readonly string[]
}

/** The command that words begin with: one of two words before one of one. */
export function commandIn(
  commands: readonly Command[],
  [first = '', second = '']: readonly string[],
): Command | undefined {
  return commands.find(({ name }) => name === `${first} ${second}`) ?? commands.find(({ name }) => name === first)
}

/** The result of a command: `main` prints `data` with --json, else it calls `show`. */
export interface Answer {
  /** JSON. Default null. */
  readonly data?: unknown
  readonly diagnostics?: readonly Diagnostic[]
  /** Why it could not do its work. Without `show`, `main` prints it on stderr. */
  readonly error?: Failure | undefined
  /** Default: that of `error`, 1 with a diagnostic that is an error, else 0. */
  readonly exit?: number
  readonly show?: () => void | Promise<void>
}

/** An argument that the command needs. Throws INVALID_ARGUMENT when it is missing or blank. */
export function argument(
  { command, positionals }: Invocation,
  what: string,
  example: readonly string[],
  index = 0,
): string {
  const given = positionals[index]
  if (given !== undefined && given.trim() !== '') return given
  throw argumentMissing(command, what, example)
}

export function argumentMissing(command: string, what: string, example: readonly string[]): NexusError {
  const fix = commandFix('For example:', ...command.split(' '), ...example)
  return errorOf('INVALID_ARGUMENT', `nexus ${command} needs ${what}.`, fix)
}

export function stringFlag(invocation: Invocation, name: string): string | undefined {
  const value = invocation.flags[name]
  return typeof value === 'string' ? value : undefined
}

export function listFlag(invocation: Invocation, name: string): readonly string[] {
  const value = invocation.flags[name]
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
}

/** The value of a flag that is one of some words, as `readArguments` has checked; undefined when it was not given. */
export function choiceFlag<Word extends string>(
  invocation: Invocation,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const given = stringFlag(invocation, name)
  return words.find((known) => known === given)
}

/** The whole number of a flag; undefined when it was not given. Throws INVALID_ARGUMENT. */
export function numberFlag(
  invocation: Invocation,
  name: string,
  { from, to, example }: { readonly from: number; readonly to: number; readonly example: number },
): number | undefined {
  const text = stringFlag(invocation, name)
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= from && number <= to) return number
  const message = `--${name} ${toSafeLine(text)} is not a whole number from ${from} to ${to}.`
  throw errorOf('INVALID_ARGUMENT', message, `Write, for example, --${name} ${example}.`)
}

/** An amount of money, in whatever currency. */
export function moneyFlag(invocation: Invocation, name: string): number | undefined {
  const text = stringFlag(invocation, name)
  if (text === undefined) return undefined
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text)
  const message = `--${name} ${toSafeLine(text)} is not an amount of money.`
  throw errorOf('INVALID_ARGUMENT', message, `Write, for example, --${name} 0.50.`)
}

/** The commands of `nexus skills` that answer for the skills of an agent. */
const FOR_SKILLS: ReadonlySet<string | undefined> = new Set(['list', 'show', 'check', 'why', 'search', 'run'])

/** Options of an invocation that say whose skills are meant, and from where. */
const WHERE_OPTIONS = ['skills-dir', 'config', 'agent'] as const

/**
 * The arguments of a `nexus` command that is proposed. One that answers for skills gets the options of this invocation that say whose
 * skills are meant: without them its answer is another one.
 */
export function whereArgs(args: readonly string[], { flags }: Pick<Invocation, 'flags'>): readonly string[] {
  const [group, name, ...rest] = args
  if (group !== 'skills' || name === undefined || !FOR_SKILLS.has(name)) return args
  const options = WHERE_OPTIONS.flatMap((option) =>
    [flags[option] ?? []].flat().flatMap((value) => {
      const text = toSafeLine(String(value))
      return text.startsWith('-') ? [`--${option}=${text}`] : [`--${option}`, text]
    }),
  )
  return [group, name, ...options, ...(flags['trust'] === true ? ['--trust'] : []), ...rest]
}

export function commandHint(lead: string, args: readonly string[], invocation: Invocation): Exclude<Fix, string> {
  return commandFix(lead, ...whereArgs(args, invocation).map(toSafeLine))
}
