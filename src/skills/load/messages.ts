import { commandFix, type ErrorCode, NexusError, toSafeLine, words, type Words } from '../../kernel/index.ts'

/** The words of every error of loading. Models read them, so a fix for a model names only what a model can do. */
export const MESSAGES = {
  noName: (available: string) => words('The name of a skill must be a non-empty string.', available),
  // Source of the sentence: contracts §3.2.
  notFound: (name: string, available: string, fix: string) => words(`Skill '${name}' not found. ${available}`, fix),
  held: (reasons: readonly string[]) => `It exists, but it is held: ${reasons.join('; ')}`,
  didYouMean: (name: string) => `Did you mean '${toSafeLine(name)}'?`,
  useAvailable: () => 'Use one of the available skills.',
  invalid: (facts: {
    name: string
    file: string
    line?: number | undefined
    cause?: string
    fix?: string | undefined
  }) => {
    const { name, file, line, cause, fix } = facts
    const place = line === undefined ? file : `${file}:${line}`
    const what = cause === undefined ? '' : `: ${cause}`
    return words(
      `Skill '${toSafeLine(name)}' cannot be read${toSafeLine(what)} (${toSafeLine(place)}).`,
      fix ?? commandFix('Run:', 'skills', 'validate', file),
    )
  },
  gone: (name: string, file: string) =>
    words(
      `Skill '${name}' not found any more: ${toSafeLine(file)} is gone.`,
      commandFix('List the current skills:', 'skills', 'list'),
    ),
  changing: (name: string, directory: string) =>
    words(
      `Skill '${name}' changes during reading (${toSafeLine(directory)}).`,
      'Try again when the program that writes to that directory is done.',
    ),
  otherRevision: (name: string) =>
    words(
      `Skill '${name}' changed after a person agreed to load it, so it was not loaded.`,
      'Load it again: the person is asked about the skill as it is now.',
    ),
  outsideTurn: (caller: string, name: string) =>
    words(`Outside a turn '${caller}' cannot ask for '${name}'.`, 'Leave called_by out.'),
  callerNotLoaded: (caller: string, loaded: readonly string[]) =>
    words(
      `The skill '${caller}' was not loaded in this turn; ${loaded.length === 0 ? 'none was' : `loaded were: ${loaded.join(', ')}`}.`,
      'Leave called_by out when no skill asked for it.',
    ),
  circle: (path: readonly string[], name: string) =>
    words(
      `Skills that load each other in a circle: ${path.join(' -> ')}.`,
      `Use the instructions of '${name}' that you have.`,
    ),
  tooDeep: (path: readonly string[], most: number) =>
    words(`Skills may load skills ${most} deep at most: ${path.join(' -> ')}.`, 'Use the skills that are loaded.'),
  file: {
    noPath: () =>
      words('The path of a skill file must be a non-empty string.', 'Give a path such as references/guide.md.'),
    outside: (file: string) =>
      words(`${file} is outside the skill.`, 'Give a path relative to the skill, such as references/guide.md.'),
    hidden: (file: string) => words(`${file} is hidden. Hidden files are not offered.`, LOAD_FIRST),
    directory: (path: string, skill: string, available: string) =>
      words(`'${path}' of skill '${skill}' is a directory; file_path names one file.${available}`, BY_PATH),
    notFound: (file: string, available: string) =>
      words(`${file} not found.${available}`, available === '' ? LOAD_FIRST : BY_PATH),
    named: (path: string, skill: string) => `File '${path}' of skill '${skill}'`,
    tooLarge: () => 'Read parts of it with a command, such as head or grep.',
  },
  inspect: (directory: string) => commandFix('Inspect it:', 'skills', 'validate', directory),
  cancelled: (what: 'Loading the skill' | 'The search') => `${what} was cancelled.`,
} as const

const LOAD_FIRST = 'Load the skill to see its files.'
const BY_PATH = 'Ask for one of the available files by its path.'

export function errorOf(
  code: ErrorCode,
  { message, ...next }: Words,
  more: { readonly path?: string; readonly cause?: unknown } = {},
): NexusError {
  return new NexusError(code, message, { ...next, ...more })
}
