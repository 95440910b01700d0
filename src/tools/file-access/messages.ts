/** messages: what becomes of a path that a model gave. */
import { posix } from 'node:path'
import { toSafeLine } from '../../kernel/index.ts'
import { quoted, words } from '../messages.ts'

/** Why a path is refused, as the end of `PATHS.violation`, and what to do instead. */
export interface Refused {
  readonly type: 'refused'
  readonly why: string
  readonly fix?: string
}

const refused = (why: string, fix?: string): Refused => ({ type: 'refused', why, fix })
const listed = (paths: readonly string[]): string => paths.map(toSafeLine).join(', ')

/** Sentences about a path that a model gave. Texts without a fix, and the first words of the others: contracts §1.6, §1.8, §3.2. */
export const PATHS = {
  none: () => words('No path provided'),
  violation: (path: string, { why, fix }: Refused) =>
    words(`Path security violation for ${quoted(short(path))}: ${why}`, fix),
  notFound: (path: string) => words(`File not found: ${short(path)}`),
  permission: (path: string) => words(`Permission denied: ${short(path)}`),
  directory: (path: string) => words(`Path is a directory, not a file: ${short(path)}`),
  file: (path: string) => words(`Path is a file, not a directory: ${short(path)}`, 'Read it with read_file.'),
  notADirectory: (path: string) =>
    words(`File not found: ${short(path)} (a part of the path is not a directory)`, 'List the directory above it.'),
  notText: (path: string, kind: string) =>
    words(`File is not valid UTF-8 text: ${short(path)} (${kind})`, 'Use it from a command that reads such files.'),
  tooLarge: (path: string, size: number, most: number) =>
    words(
      `File is too large: ${short(path)} has ${size} bytes, and at most ${most} are read.`,
      'Read parts of it with a command (head, tail, grep).',
    ),
  unusable: (path: string) => words(`The path ${quoted(short(path))} is not usable: it, or a name in it, is too long.`),
  moved: (path: string) => words(`${short(path)} was moved while it was opened.`),
  busy: (path: string) =>
    words(
      `${short(path)} was not changed, because another process of Nexus changes the workspace.`,
      'End that process if it hangs, then repeat the change.',
    ),
  changed: (path: string) =>
    words(`${short(path)} was changed by another program meanwhile.`, 'Read it again, then repeat the change.'),
  halfCharacter: (name: string) =>
    words(`${name} contains half of a character (a lone surrogate), which no file can have.`),
  wrote: (path: string, bytes: number) => `Successfully wrote ${bytes} bytes to ${short(path)}`,
  edited: (path: string, count: number) =>
    `Edited ${short(path)}: replaced ${count} occurrence${count === 1 ? '' : 's'}.`,
  diffCut: (lines: number, of: number) => `[Cut: the first ${lines} of ${of} lines of the difference.]`,
  noDiff: () => '[The difference is too large to be shown.]',
  nothingToFind: () => words('old_string is empty.', 'Give a text of the file. write_file writes a whole file.'),
  nothingToChange: () => words('old_string and new_string are the same, so nothing would change.'),
  notInFile: (path: string) =>
    words(
      `old_string is not in ${short(path)}. Nothing was changed.`,
      'Read the file, and give the text exactly as it is there, with its spaces and line breaks.',
    ),
  notUnique: (path: string) =>
    words(
      `old_string is in ${short(path)} more than once. Nothing was changed.`,
      'Give more of the text around it, or set replace_all to true.',
    ),
  other: (path: string, error: Error) => words(`${short(path)}: ${toSafeLine(error.message)}`),
  extension: (path: string, allowed: readonly string[]) =>
    words(
      `The type of the file ${short(path)} is not allowed. Allowed: ${listed(allowed) || 'none'}.`,
      'The user allows more with tools.file_ops.allowedExtensions.',
    ),
  tooLong: (bytes: number) => refused(`it is longer than ${bytes} bytes`),
  nul: () => refused('it contains a NUL character'),
  url: () => refused('it is a URL, not a path'),
  drive: () => refused('it is a path with a drive, which this system does not have', 'Use a path with /.'),
  otherHome: (home: string) =>
    refused(
      `Nexus does not look up homes of other users (${toSafeLine(home)})`,
      'Write ./~… for a file with that name.',
    ),
  noHome: () => refused('no home directory is known here'),
  outside: (allowed: readonly string[], isWrite: boolean) =>
    refused(
      allowed.length === 0
        ? `this agent may ${isWrite ? 'change' : 'read'} no directory`
        : `it is outside the directories that this agent may ${isWrite ? 'change' : 'read'}: ${listed(allowed)}`,
      'Use a path inside them. The user allows more with permissions.allowedPaths of the agent.',
    ),
  blocked: () => refused('it is blocked for this agent', 'Use another path. The user sets blockedPaths.'),
  private: () => refused('Nexus keeps its own settings, keys or state there, which no tool reads or changes'),
  kernel: () => refused('files of the kernel and devices are neither read nor changed'),
  link: () =>
    refused('a part of it is a symbolic link, and links are not followed', 'Use the real path, if it is allowed.'),
  special: () => refused('it is a FIFO, socket or device, not a regular file'),
  hardLink: () =>
    refused('the file has a second name (a hard link), which may be outside', 'Write a new file under another name.'),
  ofNexus: (place: string) =>
    refused(
      `tools and commands may not change ${quoted(short(place))}: it is part of Nexus or its settings`,
      'Ask the user to change it.',
    ),
  /** `reason` completes "held, because …". */
  held: (place: string, reason: string) =>
    refused(
      `Nexus would hold the change of ${quoted(short(place))} if a command made it (${toSafeLine(reason)}), and no person agreed to it`,
      'Make the change with run_command: the user can take it then.',
    ),
  /** Added to the words about a file, of which the name is absolute outside the workspace. */
  undoable: (name: string) =>
    posix.isAbsolute(name) ? ' (outside the workspace, so nexus changes cannot undo it)' : '',
} as const

/** A path on one line; a long one loses its middle. */
function short(path: string): string {
  const line = toSafeLine(path)
  return line.length > 400 ? `${line.slice(0, 200)}…${line.slice(-200)}`.toWellFormed() : line
}
