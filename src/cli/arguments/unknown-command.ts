import { nearest, NexusError, toSafeLine } from '../../kernel/index.ts'
import { COMMANDS, isGroup } from '../table.ts'

const NAMES = COMMANDS.map(({ name }) => name)

/** The error for words that name no command. */
export function unknownCommand(words: readonly string[]): NexusError {
  const [first = '', second] = words
  if (first.startsWith('-')) return misplacedOption(first, words)
  const pair = likelyPair(words)
  const typed = second !== undefined && (isGroup(first) || pair !== undefined) ? `${first} ${second}` : first
  const whole = NAMES.find((name) => name.endsWith(` ${first}`))
  const guess = first === 'version' ? '--version' : (pair ?? whole ?? nearest(first, firstWords()))
  return new NexusError('INVALID_ARGUMENT', `There is no command 'nexus ${toSafeLine(typed)}'.`, {
    fix: guess === undefined ? 'See: nexus --help' : `Did you mean: nexus ${guess}? See: nexus --help`,
  })
}

/** The error for a group such as `skills` without one of its commands. */
export function missingCommand(group: string): NexusError {
  const members = NAMES.filter((name) => name.startsWith(`${group} `)).map((name) => name.split(' ')[1])
  return new NexusError('INVALID_ARGUMENT', `nexus ${group}: the command is missing.`, {
    fix: `nexus ${group} ${members.join('|')}`,
  })
}

function firstWords(): string[] {
  return [...new Set(NAMES.map((name) => name.split(' ')[0] ?? ''))]
}

function likelyPair([first, second]: readonly string[]): string | undefined {
  if (second === undefined || second.startsWith('-')) return undefined
  const pairs = NAMES.filter((name) => name.includes(' '))
  return nearest(`${first} ${second}`, pairs)
}

/** An option in front of the command, or one that `nexus` itself does not have. */
function misplacedOption(option: string, words: readonly string[]): NexusError {
  const from = words.findIndex((word) => !word.startsWith('-'))
  const line = from === -1 ? [] : [...words.slice(from), ...words.slice(0, from)].map(toSafeLine)
  const guess = option === '-v' ? '--version' : nearest(option, ['--version', '--help'])
  const fix = NAMES.some((name) => `${line.join(' ')} `.startsWith(`${name} `))
    ? `Options stand behind the command: nexus ${line.join(' ')}`
    : guess === undefined
      ? 'See: nexus --help'
      : `Did you mean: nexus ${guess}?`
  return new NexusError('INVALID_ARGUMENT', `nexus has no option '${toSafeLine(option)}'.`, { fix })
}
