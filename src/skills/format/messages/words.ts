import type { commandFix, ProposedCommand } from '../../../kernel/index.ts'

/** What happened and why, and one complete next step, which may end with a command. */
export type Words = readonly [message: string, fix: Fix]

type Fix = string | ReturnType<typeof commandFix>

/** A fix as a member of a diagnostic. */
export function asMember(fix: Fix): { readonly fix: string; readonly proposal?: ProposedCommand } {
  return typeof fix === 'string' ? { fix } : fix
}

/** A text in quotes for a message, cut when long. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text)
}

/** A line to type. */
export function write(line: string): string {
  return `Write: ${line}`
}
