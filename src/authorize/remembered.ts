/** remembered: what a person is shown of a call, and whether an answer that was remembered covers another call. */
import type { JsonObject, JsonValue } from '../kernel/index.ts'

export interface ShownCommand {
  readonly command: string
  /** The beginning that may be remembered instead of the whole: only for a plain command line. */
  readonly prefix?: string
}

/** An answer that was remembered for one agent, one tool and one revision of a skill. */
export interface RememberedAnswer {
  readonly match: 'exact' | 'prefix'
  readonly text: string
}

/** The command line of `run_command` when it has no other argument, else all arguments as JSON with sorted keys. */
export function shownCommand({
  tool,
  arguments: args,
}: {
  readonly tool: string
  readonly arguments: JsonObject
}): ShownCommand {
  const { command, ...rest } = args
  const isLine = tool === 'run_command' && typeof command === 'string' && Object.keys(rest).length === 0
  if (!isLine) return { command: JSON.stringify(sorted(args)) }
  return { command, prefix: prefixOf(command) }
}

/** The same for the eyes of a person: a command line as it runs, and beside it `more`, its other arguments as JSON. */
export function shownCall(call: { readonly tool: string; readonly arguments: JsonObject }): {
  readonly command: string
  readonly more?: string
} {
  const { command, ...rest } = call.arguments
  if (call.tool !== 'run_command' || typeof command !== 'string' || Object.keys(rest).length === 0)
    return { command: shownCommand(call).command }
  return { command, more: JSON.stringify(sorted(rest)) }
}

/** True when the answer covers the call. A prefix covers a plain command line that goes on with more words, never a chained one. */
export function coversCommand({ match, text }: RememberedAnswer, { command, prefix }: ShownCommand): boolean {
  if (match === 'exact') return command === text
  return prefix !== undefined && (command === text || command.startsWith(`${text} `))
}

/** Words without any character that a shell reads as more than text: such a line is one program with its arguments. */
const PLAIN = /^[\w./:@%+,=-]+(?: [\w./:@%+,=-]+)*$/

/** Programs that run what their arguments say: any beginning of such a line covers any command. */
const RUNS_ANYTHING =
  /^(?:.*\/)?(?:[a-z]*sh|env|sudo|su|doas|timeout|nice|ionice|nohup|setsid|stdbuf|time|watch|xargs|exec|eval|command|builtin|source|\.|find|parallel|busybox|python[\d.]*|pypy[\d.]*|node|deno|bun|tsx|ruby|perl|php|lua|Rscript|java|npx|uvx|pnpx|bunx|make|ssh|docker|podman|kubectl|tar|bsdtar|zip|rsync|scp|rg|sort|sed|[gmn]?awk|man|less|more|ed|ex|n?vim?|emacs|split|gdb|strace)$/
/** Subcommands that run what the words behind them say, as in `uv run`, `npm exec`, `cargo run`. */
const RUNS_MORE = /^(?:run|run-script|exec|dlx|x)$/
/** Subcommands of git with options that name a program to run, such as `git grep -O./x` and `git fetch --upload-pack ./x`. */
const GIT_RUNS =
  /^(?:archive|bisect|clone|config|difftool|fetch|fetch-pack|filter-branch|for-each-repo|grep|ls-remote|mergetool|pull|push|rebase|send-email|send-pack|submodule)$/
/** There the next word is the name of a script of the project, which is part of what was agreed to. */
const RUNS_SCRIPT = /^(?:npm|pnpm|yarn) run(?:-script)?$/
const SUBCOMMAND = /^[a-z][\w:-]*$/

/**
 * The program with its subcommand, or with `run` and the script. Undefined where such a beginning says too little: for a line that is
 * not plain, without a subcommand, or of a program that runs what its arguments say.
 */
function prefixOf(command: string): string | undefined {
  if (!PLAIN.test(command)) return undefined
  const [program = '', next = '', script = ''] = command.split(' ')
  if (program.includes('=') || startsOthers(program, next) || !SUBCOMMAND.test(next)) return undefined
  const start = `${program} ${next}`
  if (!RUNS_MORE.test(next)) return start
  return RUNS_SCRIPT.test(start) && SUBCOMMAND.test(script) ? `${start} ${script}` : undefined
}

function startsOthers(program: string, subcommand: string): boolean {
  return RUNS_ANYTHING.test(program) || (/^(?:.*\/)?git$/.test(program) && GIT_RUNS.test(subcommand))
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member as JsonValue)]))
}
