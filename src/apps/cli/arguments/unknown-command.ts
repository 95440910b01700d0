import { errorOf } from '../failure.ts'
import { nearest, type NexusError, toSafeLine, commandFix } from '../../../kernel/index.ts'
import { COMMANDS, isGroup } from '../table.ts'

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
