/** What is said when a command line cannot be understood; loaded only then. */
import { nearest, NexusError, toSafeLine } from '../../kernel/index.ts'
import type { Command } from '../command.ts'
import { COMMANDS } from '../table.ts'

/** The error for words that name no command. */
export function unknownCommand(words: readonly string[]): NexusError {
  const [first = '', second] = words
  if (first.startsWith('-')) return misplacedOption(first, words)
  const isInGroup = second !== undefined && COMMANDS.some(({ name }) => name.startsWith(`${first} `))
  const typed = toSafeLine(isInGroup || likelyPair(words) !== undefined ? `${first} ${second}` : first)
  const guess = guessOf(words)
  return new NexusError('INVALID_ARGUMENT', `There is no command 'nexus ${typed}'.`, {
    fix: guess === undefined ? 'See: nexus --help' : `Did you mean: nexus ${guess}? See: nexus --help`,
  })
}

/** The error for a group such as `skills` without one of its commands. */
export function missingCommand(group: string): NexusError {
  const members = COMMANDS.filter(({ name }) => name.startsWith(`${group} `)).map(({ name }) => name.split(' ')[1])
  return new NexusError('INVALID_ARGUMENT', `nexus ${group}: the command is missing.`, {
    fix: `nexus ${group} ${members.join('|')}`,
  })
}

/** The whole of a command, then its first word, then a command whose second word was meant to be enough. */
function guessOf(words: readonly string[]): string | undefined {
  const [first = ''] = words
  const tops = [...new Set(COMMANDS.map(({ name }) => name.split(' ')[0] as string))]
  const whole = COMMANDS.find(({ name }) => name.endsWith(` ${first}`))?.name
  if (first === 'version') return '--version'
  return likelyPair(words) ?? whole ?? nearest(first, tops)
}

function likelyPair([first = '', second]: readonly string[]): string | undefined {
  if (second === undefined || second.startsWith('-')) return undefined
  return nearest(
    `${first} ${second}`,
    COMMANDS.map(({ name }) => name).filter((name) => name.includes(' ')),
  )
}

/** An option in front of the command, or one that `nexus` itself does not have. */
function misplacedOption(option: string, words: readonly string[]): NexusError {
  const from = words.findIndex((word) => !word.startsWith('-'))
  const rest = from === -1 ? [] : words.slice(from)
  const behind = COMMANDS.find(({ name }) => `${rest.join(' ')} `.startsWith(`${name} `))
  const message = `nexus has no option '${toSafeLine(option)}'.`
  if (behind) {
    const line = [...rest, ...words.slice(0, from)].map(toSafeLine).join(' ')
    return new NexusError('INVALID_ARGUMENT', message, { fix: `Options stand behind the command: nexus ${line}` })
  }
  const guess = option === '-v' ? '--version' : nearest(option, ['--version', '--help'])
  return new NexusError('INVALID_ARGUMENT', message, {
    fix: guess === undefined ? 'See: nexus --help' : `Did you mean: nexus ${guess}?`,
  })
}

/** The error for options that `parseArgs` does not take. */
export function wrongOption(command: Command, error: Error): NexusError {
  const { name, options = {} } = command
  const typed = /'(?:-\w, )?--([^'\s=]+)/.exec(error.message)?.[1] ?? ''
  const option = Object.hasOwn(options, typed) ? options[typed] : undefined
  if (option?.type === 'string')
    return new NexusError('INVALID_ARGUMENT', `nexus ${name}: --${typed} needs a value.`, {
      fix: `--${typed} ${option.value}`,
      cause: error,
    })
  if (option)
    return new NexusError('INVALID_ARGUMENT', `nexus ${name}: --${typed} takes no value.`, {
      fix: `--${typed}`,
      cause: error,
    })
  const guess = typed === '' ? undefined : nearest(typed, [...Object.keys(options), 'help'])
  return new NexusError(
    'INVALID_ARGUMENT',
    `nexus ${name}: ${toSafeLine(error.message.split('. ')[0] ?? error.message)}.`,
    {
      fix: guess === undefined ? `See: nexus ${name} --help` : `Did you mean --${guess}? See: nexus ${name} --help`,
      cause: error,
    },
  )
}

/** The error for a word that the command does not take. A file for `config` is most likely meant as its option. */
export function extraArgument({ name, options = {} }: Command, word: string): NexusError {
  const isFile = Object.hasOwn(options, 'config') && /\.ya?ml$/.test(word)
  return new NexusError('INVALID_ARGUMENT', `nexus ${name}: '${toSafeLine(word)}' is one argument too many.`, {
    fix: isFile ? `nexus ${name} --config ${toSafeLine(word)}` : `See: nexus ${name} --help`,
  })
}
