/** messages: every sentence about files of clients and about a server that does not start. */
import { type ErrorCode, NexusError } from '../../kernel/index.ts'

interface Message {
  readonly code: ErrorCode
  readonly message: string
  readonly fix: string
}

/** The error of a fault. */
export function clientError({ code, message, fix }: Message, cause?: unknown): NexusError {
  return new NexusError(code, message, { fix, cause })
}

/** Why the file of a client was not changed. */
export const MESSAGES = {
  noProjectFile: (title: string): Message => ({
    code: 'INVALID_ARGUMENT',
    message: `${title} reads no file of a project.`,
    fix: 'Leave out --scope project.',
  }),
  notRead: (path: string, why: string): Message => ({
    code: 'CONFIG_INVALID',
    message: `Nexus did not change ${path}. Reading it failed: ${why}.`,
    fix: 'Make it a regular file that you may read.',
  }),
  unreadable: (path: string, why: string, line?: number): Message => ({
    code: 'CONFIG_INVALID',
    message: `Nexus did not change ${path}${line === undefined ? '' : `:${line}`}: ${why}.`,
    fix: 'Correct the file, then run the command again.',
  }),
  notAMapping: (path: string, key: string): Message => ({
    code: 'CONFIG_INVALID',
    message: `Nexus did not change ${path}: its key ${key} is not a mapping.`,
    fix: `Make ${key} a mapping of server names to servers.`,
  }),
  wouldDamage: (path: string): Message => ({
    code: 'CONFIG_INVALID',
    message: `Nexus did not change ${path}: the change would also have changed other keys.`,
    fix: 'Add the entry by hand. --dry-run --json prints it.',
  }),
  changedMeanwhile: (path: string): Message => ({
    code: 'CONFLICT',
    message: `Nexus did not change ${path}: another program changed it meanwhile.`,
    fix: 'Run the command again.',
  }),
  foreignEntry: (path: string, name: string, command: string): Message => ({
    code: 'CONFLICT',
    message: `Nexus did not change ${path}: its entry ${name} starts another program: ${command}.`,
    fix: 'Choose another name with --name nexus-skills. Or let Nexus change the entry with --force.',
  }),
  badName: (name: string): Message => ({
    code: 'INVALID_ARGUMENT',
    message: `'${name}' cannot be the name of an entry.`,
    fix: 'Use letters, digits, - and _: --name nexus-skills',
  }),
  notWritten: (path: string, why: string): Message => ({
    code: 'STORE_FAILED',
    message: `Nexus did not change ${path}. Writing it failed: ${why}.`,
    fix: 'Check the rights of its directory and the free space.',
  }),
} as const

/** Why a client gets no answer from its server. */
export const FAULTS = {
  'mcp-not-started': (program: string, why: string) => ({
    message: `The client cannot start ${program}: it ${why}.`,
    fix: 'Write the absolute path of the program. nexus mcp install does that.',
  }),
  'mcp-ended': (how: string, said: string) => ({
    message: `The server ended before it answered: ${how}.${said === '' ? ' It wrote nothing to stderr.' : ` It wrote: ${said}`}`,
    fix: 'Correct what it reports, then check again.',
  }),
  'mcp-silent': (seconds: number, said: string) => ({
    message: `The server did not answer within ${seconds} s.${said === '' ? '' : ` It wrote: ${said}`}`,
    fix: 'Start the command of the entry in a terminal, and check what it waits for.',
  }),
  'mcp-noise': (line: string) => ({
    message: `The server wrote a line to stdout that is not an MCP message: ${line}`,
    fix: 'Remove what writes there: a shell profile, a wrapper or a version manager.',
  }),
  'mcp-refused': (why: string) => ({
    message: `The server refused the client: ${why}`,
    fix: 'Correct what it reports, then check again.',
  }),
} as const

export type Fault = keyof typeof FAULTS
