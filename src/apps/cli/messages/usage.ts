import { commandFix, toSafeLine } from '../../../kernel/index.ts'
import type { Messages } from './message.ts'

/** What is wrong with a file of `policy test`. */
export const TEST_FAULTS = {
  none: () => ({
    message: 'The file has no list tests:.',
    fix: 'Write a list under tests:, such as: tests: [{ agent: main, tool: run_command, expect: ask }]',
  }),
  item: (number: number) => ({
    message: `Item ${number} is not a map.`,
    fix: 'Write it as: - { tool: run_command, expect: ask }',
  }),
  key: (key: string, keys: readonly string[], guess: string | undefined) => ({
    message: `The key '${toSafeLine(key)}' is unknown.`,
    fix: guess === undefined ? `Remove it, or write one of: ${keys.join(', ')}.` : `Did you mean '${guess}'?`,
  }),
  text: (key: string) => ({
    message: `A test needs ${key} as a text.`,
    fix: 'Write it as: - { agent: main, tool: run_command, expect: ask }',
  }),
  args: () => ({ message: 'args is not a map.', fix: 'Write it as: args: { command: ls }' }),
  expect: (found: unknown, answers: readonly string[], guess: string | undefined) => ({
    message:
      found === undefined
        ? 'A test needs expect.'
        : `expect is ${toSafeLine(JSON.stringify(found))}, which no decision is.`,
    fix: guess === undefined ? `Write expect: with one of ${answers.join(', ')}.` : `Did you mean '${guess}'?`,
  }),
  /** `why`: why a tool with that name was left out. */
  noTool: (
    { agent, tool, why }: { readonly agent: string; readonly tool: string; readonly why: string | undefined },
    tools: readonly string[],
    guess: string | undefined,
  ) => ({
    message: `${toSafeLine(agent)} has no tool '${toSafeLine(tool)}', so no rule decides about it.${why === undefined ? '' : ` ${toSafeLine(why)}`}`,
    fix:
      guess === undefined
        ? `Name one of: ${tools.map(toSafeLine).join(', ')}.`
        : `Did you mean '${toSafeLine(guess)}'?`,
  }),
  argument: (problem: string) => ({
    message: `args has an ${toSafeLine(problem)}.`,
    fix: 'Correct the name: the tool does not see such an argument.',
  }),
}

/** Errors in a command line, and faults of the program itself. */
export const USAGE_MESSAGES = {
  cancelledQuestion: () => ({ message: 'Cancelled while a question was open.' }),
  cancelledByUser: () => ({ message: 'Cancelled by the user.' }),
  directoryGone: () => ({
    message: 'The working directory was removed.',
    fix: 'Change to a directory that exists: cd ~',
  }),
  argumentMissing: (command: string, what: string, example: readonly string[]) => ({
    message: `nexus ${command} needs ${what}.`,
    ...commandFix('For example:', ...command.split(' '), ...example),
  }),
  noAgent: (id: string, known: readonly string[], guess: string | undefined) => ({
    message: `No agent is called '${toSafeLine(id)}'.`,
    fix:
      guess === undefined ? `Name one of: ${known.map(toSafeLine).join(', ')}.` : `Did you mean ${toSafeLine(guess)}?`,
  }),
  badArguments: (why: string) => ({
    message: `--args is not a JSON object: ${toSafeLine(why)}`,
    fix: `Write an object, such as: --args '{"command":"ls"}'`,
  }),
  /** `place`: file, line and column. */
  badTests: (place: string, { message, fix }: { readonly message: string; readonly fix?: string | undefined }) => ({
    message: `Nothing was tested. ${toSafeLine(place)}: ${toSafeLine(message)}`,
    fix: fix ?? TEST_FAULTS.none().fix,
  }),
  expectationsUnreadable: (path: string, isMissing: boolean) => ({
    message: `${toSafeLine(path)} ${isMissing ? 'does not exist' : 'cannot be read'}, so nothing was tested.`,
    fix: 'Name a YAML or JSON file with a list under tests:.',
  }),
  dashesMissing: (command: string, words: readonly string[], first: string) => {
    const at = words.indexOf(first)
    return {
      message: `Nothing was run: '${toSafeLine(first)}' and what follows are not a command without -- before them.`,
      ...commandFix(
        'Put -- before the command:',
        ...command.split(' '),
        ...words.slice(0, at),
        '--',
        ...words.slice(at),
      ),
    }
  },
  tooManyArguments: (command: string, word: string, takesConfig: boolean) => ({
    message: `nexus ${command} does not take the argument '${toSafeLine(word)}'.`,
    ...(takesConfig
      ? commandFix('To read that file:', ...command.split(' '), '--config', word)
      : commandFix('Remove it, or see what the command takes:', ...command.split(' '), '--help')),
  }),
  optionUnknown: (command: string, option: string, guess: string | undefined) => ({
    message: `nexus ${command} has no option ${toSafeLine(option)}.`,
    ...commandFix(
      guess === undefined ? 'See its options:' : `Did you mean --${guess}? See its options:`,
      ...command.split(' '),
      '--help',
    ),
  }),
  optionWithoutValue: (command: string, option: string, value: string) => ({
    message: `nexus ${command}: --${option} needs a value.`,
    fix: `Write --${option} ${value}.`,
  }),
  /** A shell cannot know whether `-1` is a value or another option. */
  optionValueLikeOption: (command: string, option: string, value: string) => ({
    message: `nexus ${command}: '${toSafeLine(value)}' after --${option} is read as another option, because it begins with '-'.`,
    fix: `If it is the value, write --${option}=${toSafeLine(value)}.`,
  }),
  optionWithValue: (command: string, option: string) => ({
    message: `nexus ${command}: --${option} takes no value.`,
    fix: `Write --${option} alone.`,
  }),
  misplacedOption: (option: string, line: readonly string[] | undefined, guess: string | undefined) => ({
    message: `nexus has no option '${toSafeLine(option)}'.`,
    ...(line
      ? commandFix('Options go after the command:', ...line)
      : commandFix(
          guess === undefined ? 'See all commands and options:' : 'Did you mean:',
          guess === undefined ? '--help' : guess,
        )),
  }),
  commandUnknown: (typed: string, guess: string | undefined) => ({
    message: `There is no command 'nexus ${toSafeLine(typed)}'.`,
    ...(guess === undefined
      ? commandFix('See all commands:', '--help')
      : commandFix('Did you mean:', ...guess.split(' '))),
  }),
  subcommandMissing: (group: string, members: readonly string[]) => ({
    message: `nexus ${group} needs one of its commands: ${members.join(', ')}.`,
    ...commandFix('See what they do:', group, '--help'),
  }),
  shellUnsupported: (shell: string) => ({
    message: `There is no completion for the shell '${toSafeLine(shell)}'. Supported: bash, zsh, fish.`,
    ...commandFix('For example:', 'completion', 'bash'),
  }),
  optionsExclude: (first: string, second: string) => ({
    message: `${first} and ${second} cannot be used together.`,
    fix: `Remove one of them.`,
  }),
  codeUnknown: (asked: string, guess: string | undefined) => ({
    message: `Nexus has no code '${toSafeLine(asked)}'.`,
    ...(guess === undefined ? commandFix('See all codes:', 'explain') : commandFix('Did you mean:', 'explain', guess)),
  }),
  sectionUnset: (key: string, parents: readonly string[], found: { known: readonly string[]; guess?: string }) => {
    const inside = parents.length === 0 ? '' : ` in ${parents.join('.')}`
    const message = `No setting "${toSafeLine(key)}" is set${inside}.`
    if (found.guess === undefined) return { message, fix: `Choose one of: ${found.known.join(', ')}` }
    return { message, ...commandFix('Did you mean:', 'config', 'show', [...parents, found.guess].join('.')) }
  },
} satisfies Messages
