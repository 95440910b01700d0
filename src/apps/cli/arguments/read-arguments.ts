import { errorOf } from '../failure.ts'
import { parseArgs } from 'node:util'
import { expandHome } from '../../../config/index.ts'
import { commandFix, nearest, type NexusError, toSafeLine } from '../../../kernel/index.ts'
import type { Command, Invocation, OptionSpec } from '../command.ts'
import { COMMANDS, isGroup } from '../table.ts'

export type Arguments = Pick<Invocation, 'flags' | 'positionals' | 'rest'>

/** Options of every command. */
const COMMON: Readonly<Record<string, Pick<OptionSpec, 'type' | 'short'>>> = {
  help: { type: 'boolean', short: 'h' },
  'as-root': { type: 'boolean' },
}

/** Reads the options and words of a command; `home` is what `~` means. Throws INVALID_ARGUMENT for what the command does not take. */
export function readArguments(command: Command, args: readonly string[], home: () => string): Arguments {
  const split = args.includes('--') ? args.indexOf('--') : args.length
  const rest = args.slice(split + 1)
  const options = { ...command.options, ...COMMON }
  // Not strict: the errors of `parseArgs` have no fields, only sentences.
  const { values, positionals, tokens } = parseArgs({
    ...{ args: args.slice(0, split), options, strict: false, allowPositionals: true, tokens: true },
  })
  for (const token of tokens) if (token.kind === 'option') checkOption(command, token)
  const extra = values['help'] === true ? undefined : extraWord(command, { positionals, rest })
  if (extra !== undefined) throw extraArgument(command, extra, rest.length === 0 ? positionals : [])
  return { ...atHome(command, { flags: values, positionals }, home), rest }
}

type Words = Omit<Arguments, 'rest'>

/** Words of these usages may be paths; others are text. */
const NAMES_PATHS = /<(?:path|file|name)|\[(?:directory|name)\]/

/** A shell expands no ~ in quotes or behind `=`. A path that begins with it would make a directory of that name. */
function atHome({ usage = '', options = {} }: Command, { flags, positionals }: Words, home: () => string): Words {
  const expanded = <Value>(given: Value): Value | string =>
    typeof given === 'string' && /^~(?:\/|$)/.test(given) ? expandHome(given, home()) : given
  const isPath = (name: string): boolean => ['DIR', 'FILE'].includes(options[name]?.value ?? '')
  const ofFlag = (value: Words['flags'][string]): Words['flags'][string] =>
    Array.isArray(value) ? value.map(expanded) : expanded(value)
  return {
    flags: Object.fromEntries(
      Object.entries(flags).map(([name, value]) => [name, isPath(name) ? ofFlag(value) : value]),
    ),
    positionals: NAMES_PATHS.test(usage) ? positionals.map(expanded) : positionals,
  }
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function checkOption(command: Command, token: OptionToken): void {
  const { name: words, options = {} } = command
  const { name, rawName, value } = token
  const known: Readonly<Record<string, Pick<OptionSpec, 'type' | 'short' | 'value' | 'choices'>>> = {
    ...options,
    ...COMMON,
  }
  const option = Object.hasOwn(known, name) ? known[name] : undefined
  if (option === undefined) {
    const guess = rawName.startsWith('--') ? nearest(name, Object.keys(known)) : undefined
    const lead = guess === undefined ? 'See its options:' : `Did you mean --${guess}? See its options:`
    const message = `nexus ${words} has no option ${toSafeLine(rawName)}.`
    throw errorOf('INVALID_ARGUMENT', message, commandFix(lead, ...words.split(' '), '--help'))
  }
  if (option.type === 'string') checkValue(command, token, option)
  else if (value !== undefined)
    throw errorOf('INVALID_ARGUMENT', `nexus ${words}: --${name} takes no value.`, `Write --${name} alone.`)
}

/** After `=` any word is the value; a word behind a space that begins with `-` is not. */
function checkValue(
  command: Command,
  { name, value, inlineValue }: OptionToken,
  { value: shown = 'VALUE', choices }: Pick<OptionSpec, 'value' | 'choices'>,
): void {
  if (value !== undefined && (inlineValue === true || !/^-./.test(value))) {
    if (!choices || choices.includes(value)) return
    const message = `--${name} '${toSafeLine(value)}' is not supported. Supported: ${choices.join(', ')}.`
    throw errorOf('INVALID_ARGUMENT', message, `Write --${name} ${nearest(value, choices) ?? choices[0]}.`)
  }
  const isMissing = value === undefined || isOption(command, value)
  const about = `nexus ${command.name}:`
  if (isMissing) throw errorOf('INVALID_ARGUMENT', `${about} --${name} needs a value.`, `Write --${name} ${shown}.`)
  const given = toSafeLine(value)
  const message = `${about} '${given}' after --${name} is read as another option, because it begins with '-'.`
  throw errorOf('INVALID_ARGUMENT', message, `If it is the value, write --${name}=${given}.`)
}

/** True when the word is an option of the command, long or short. */
function isOption({ options = {} }: Command, word: string): boolean {
  const [name = ''] = word.replace(/^--?/, '').split('=')
  return Object.entries({ ...options, ...COMMON }).some(([long, { short }]) => name === long || name === short)
}

/** The first word that the usage of the command does not take. */
function extraWord({ usage = '' }: Command, { positionals, rest }: Omit<Arguments, 'flags'>): string | undefined {
  const [own = '', command] = usage.split('-- ')
  if (own.includes('…') || own.includes('"')) return undefined
  const most = own.split(' ').filter((word) => word !== '').length
  return positionals[most] ?? (command === undefined ? rest[0] : undefined)
}

/** Words behind a skill are most likely meant as its command. `open`: all words, where no -- was given. */
function extraArgument({ name, usage = '' }: Command, word: string, open: readonly string[]): NexusError {
  const words = name.split(' ')
  if (usage.includes('-- ') && open.includes(word)) {
    const at = open.indexOf(word)
    return errorOf(
      'INVALID_ARGUMENT',
      `Nothing was run: '${toSafeLine(word)}' and what follows are not a command without -- before them.`,
      commandFix('Put -- before the command:', ...words, ...open.slice(0, at), '--', ...open.slice(at)),
    )
  }
  const fix = commandFix('Remove it, or see what the command takes:', ...words, '--help')
  return errorOf('INVALID_ARGUMENT', `nexus ${name} does not take the argument '${toSafeLine(word)}'.`, fix)
}

const NAMES = COMMANDS.map(({ name }) => name)

/** The error for words that name no command. */
export function unknownCommand(words: readonly string[]): NexusError {
  const [first = '', second] = words
  if (first.startsWith('-')) return misplacedOption(first)
  const pair = likelyPair(words)
  const typed = second !== undefined && (isGroup(first) || pair !== undefined) ? `${first} ${second}` : first
  const whole = NAMES.find((name) => name.endsWith(` ${first}`))
  const guess =
    first === 'version'
      ? '--version'
      : (pair ?? whole ?? nearest(first, new Set(NAMES.map((name) => name.split(' ', 1).join()))))
  return errorOf(
    'INVALID_ARGUMENT',
    `There is no command 'nexus ${toSafeLine(typed)}'.`,
    guess === undefined ? commandFix('See all commands:', '--help') : commandFix('Did you mean:', ...guess.split(' ')),
  )
}

/** The error for a group such as `skills` without one of its commands. */
export function missingCommand(group: string): NexusError {
  const members = NAMES.filter((name) => name.startsWith(`${group} `)).map((name) => name.slice(group.length + 1))
  return errorOf(
    'INVALID_ARGUMENT',
    `nexus ${group} needs one of its commands: ${members.join(', ')}.`,
    commandFix('See what they do:', group, '--help'),
  )
}

function likelyPair([first, second]: readonly string[]): string | undefined {
  if (second === undefined || second.startsWith('-')) return undefined
  const pairs = NAMES.filter((name) => name.includes(' '))
  return nearest(`${first} ${second}`, pairs)
}

/** An option in front of the command, or one that `nexus` itself does not have. */
function misplacedOption(option: string): NexusError {
  const fix = commandFix('Write options after the command. See all commands and options:', '--help')
  return errorOf('INVALID_ARGUMENT', `nexus has no option '${toSafeLine(option)}'.`, fix)
}
