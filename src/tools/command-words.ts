import { DEFAULTS, type Failed, unseenInCommand } from '../kernel/index.ts'
import { COMMANDS, failedBy } from './messages.ts'

/** Lists that keep a model from mistakes. They are no boundary: any command can be written so that no list knows it. */
export interface CommandWords {
  /** Only these commands may be named; absent = all that are not blocked. */
  readonly allowedCommands?: readonly string[]
  /** Replaces the shipped list, which applies only where commands are not confined; `[]` blocks nothing. */
  readonly blockedCommands?: readonly string[]
  /** Texts that no command line may contain; replace the shipped rule about devices, which applies only where commands are not confined. */
  readonly blockedPatterns?: readonly string[]
}

/** The lists, and whether a sandbox confines the command: then it can harm only the workspace. */
export interface WordRules extends CommandWords {
  readonly isConfined: boolean
}

/** Why a command line is not even tried, or undefined. Texts of contracts §3.2. */
export function commandProblem(command: string, lists: WordRules): Failed | undefined {
  return textProblem(command) ?? patternProblem(command, lists) ?? wordProblem(commandWords(command), lists)
}

/** Source: contracts §3.2. */
const BLOCKED: readonly string[] =
  'rm rmdir mv dd mkfs fdisk shutdown reboot halt init sudo su chmod chown format del erase'.split(' ')

/** Writing to a device; the harmless ones are what every script uses. */
const DEVICE = />\s*\/dev\/(?!(?:null|stdout|stderr|tty|fd\/\d+)(?![\w/]))/

function textProblem(command: string): Failed | undefined {
  if (command === '') return failedBy('INVALID_PARAM', COMMANDS.required())
  if (command.trim() === '') return failedBy('INVALID_PARAM', COMMANDS.empty())
  if (Buffer.byteLength(command) > DEFAULTS.maxCommandBytes) {
    return failedBy('INVALID_PARAM', COMMANDS.tooLong(DEFAULTS.maxCommandBytes))
  }
  const hidden = unseenInCommand(command)
  if (hidden !== undefined) return failedBy('INVALID_PARAM', COMMANDS.hidden(hidden))
  return undefined
}

function patternProblem(command: string, { isConfined, blockedPatterns }: WordRules): Failed | undefined {
  const isDevice = blockedPatterns === undefined && !isConfined && DEVICE.test(command)
  const found = isDevice ? '> /dev/' : blockedPatterns?.find((pattern) => command.includes(pattern))
  return found === undefined ? undefined : failedBy('PERMISSION_DENIED', COMMANDS.pattern(found))
}

function wordProblem(
  words: readonly string[],
  { allowedCommands, blockedCommands, isConfined }: WordRules,
): Failed | undefined {
  const stray = allowedCommands && words.find((word) => !allowedCommands.includes(word))
  if (stray !== undefined) return failedBy('PERMISSION_DENIED', COMMANDS.notAllowed(stray))
  const blocked = allowedCommands ? [] : (blockedCommands ?? (isConfined ? [] : BLOCKED))
  const refused = words.find((word) => blocked.includes(word))
  return refused === undefined ? undefined : failedBy('PERMISSION_DENIED', COMMANDS.blocked(refused))
}

/** Words that run the word after them. */
const WRAPPERS: ReadonlySet<string> = new Set(
  'env nohup time exec command builtin xargs nice setsid busybox if then elif else while until do !'.split(' '),
)
const CLOSERS: ReadonlySet<string> = new Set(['fi', 'done', 'esac'])

/**
 * The commands a line names, as far as a simple reading goes: after separators, `$(` and backquotes, behind
 * assignments and wrappers, without their directory. Text in quotes is not searched.
 */
function commandWords(command: string): readonly string[] {
  const found: string[] = []
  let isExpected = true
  for (const [token] of command.replace(HEREDOC, '$1').matchAll(TOKEN)) {
    if (SEPARATOR.test(token)) isExpected = true
    else if (isExpected && !isSkipped(token)) {
      const word = toWord(token)
      isExpected = WRAPPERS.has(word)
      if (!isExpected && !CLOSERS.has(word)) found.push(word)
    }
  }
  return found
}

/** The text of a here-document is data; only the line that begins it is read. */
const HEREDOC = /(<<-?\s*(['"]?)(\w+)\2[^\n]*)\n[\s\S]*?\n\s*\3(?=\n|$)/g
/** A redirection, a word with its quoted parts and escapes, or one separator. `$(` ends in one. */
const TOKEN =
  /\d*[<>]+&?[^\s;&|()]*|(?:[^\s;&|(){}`'"\\]|\\[\s\S]|'[^']*(?:'|$)|"(?:[^"\\]|\\[\s\S])*(?:"|$)|\\$)+|[\n;&|(){}`]/g
const SEPARATOR = /^[\n;&|(){}`]/

function isSkipped(token: string): boolean {
  return token === '$' || token.startsWith('-') || /^[A-Za-z_]\w*\+?=/.test(token) || /^\d*[<>]/.test(token)
}

function toWord(token: string): string {
  const plain = token.replace(/\\([\s\S])/g, '$1').replace(/['"]/g, '')
  return plain.slice(plain.lastIndexOf('/') + 1)
}
