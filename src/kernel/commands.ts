import { shellWord } from './safe-text.ts'

/** A command that a fix proposes. A front end prints its paths short, and `nexus` as the name that starts its own program. */
export interface ProposedCommand {
  /** The words of the fix before the command. */
  readonly lead: string
  /** Words after the name of the program. */
  readonly args: readonly string[]
  /** Default: `nexus`. */
  readonly program?: string
}

/** A fix that ends with a command: whole, as for a program named `nexus`, and in parts. */
export function commandFix(lead: string, ...args: readonly string[]) {
  const proposal: ProposedCommand = { lead, args }
  return { fix: `${lead} ${commandLine('nexus', args)}`, proposal }
}

/** The same for a command of the system, such as `mv`. */
export function shellFix(lead: string, program: string, ...args: readonly string[]) {
  const proposal: ProposedCommand = { lead, args, program }
  return { fix: `${lead} ${commandLine(program, args)}`, proposal }
}

/** A line for a shell: the program as it is, its arguments quoted where a shell would change them. */
export function commandLine(program: string, args: readonly string[]): string {
  const words = args.map((word) => (/^--?[a-z-]+$/.test(word) ? word : shellWord(word)))
  return [program, ...words].join(' ')
}

/** One complete next step: a text, or one that ends with a command. */
export type Fix = string | Partial<ReturnType<typeof commandFix>>

/** A fault in words: what happened and why, and one next step. */
export interface Words {
  readonly message: string
  readonly fix: string
  readonly proposal?: ProposedCommand
}

export function words(message: string, fix: string | ReturnType<typeof commandFix>): Words {
  return { message, ...(typeof fix === 'string' ? { fix } : fix) }
}
