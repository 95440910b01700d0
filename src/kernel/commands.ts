import { shellWord } from './safe-text.ts'

/** A `nexus` command that a fix proposes. A front end prints it with the name that starts its own program. */
export interface ProposedCommand {
  /** The words of the fix before the command. */
  readonly lead: string
  /** What follows the name of the program. */
  readonly args: readonly string[]
}

/** A fix that ends with a command: whole, as for a program named `nexus`, and in parts. */
export function commandFix(
  lead: string,
  ...args: readonly string[]
): { readonly fix: string; readonly proposal: ProposedCommand } {
  const proposal = { lead, args }
  return { fix: `${lead} ${commandLine('nexus', args)}`, proposal }
}

/** A line for a shell: the program as it is, its arguments quoted where a shell would change them. */
export function commandLine(program: string, args: readonly string[]): string {
  const words = args.map((word) => (/^--?[a-z-]+$/.test(word) ? word : shellWord(word)))
  return [program, ...words].join(' ')
}
