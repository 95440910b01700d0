import type { commandFix, Severity } from '../../../kernel/index.ts'

/** The event and its cause, and one complete next step, which may end with a command. */
export type Words = readonly [message: string, fix: string | ReturnType<typeof commandFix>]

/** A text in quotes for a message, cut when long. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text)
}

/** A line to type. */
export function write(line: string): string {
  return `Write: ${line}`
}

/** Whose rules strict validation applies: the published specification, Claude Code's, or OpenClaw's. */
export const PROFILES = ['spec', 'claude', 'openclaw'] as const
export type Profile = (typeof PROFILES)[number]

/** A row of the table of findings: `words` makes a message and a fix of the facts; `refusedBy` has the profiles that make it an error. */
export interface Row<W> {
  readonly severity: Severity
  readonly words: W
  readonly refusedBy: readonly Profile[]
}

export function error<W>(words: W): Row<W> {
  return { severity: 'error', words, refusedBy: [] }
}

export function warning<W>(words: W, refusedBy: readonly Profile[] = []): Row<W> {
  return { severity: 'warning', words, refusedBy }
}

export function info<W>(words: W): Row<W> {
  return { severity: 'info', words, refusedBy: [] }
}

/** A warning that every profile makes an error: it breaks a published rule, or other clients do not read the file. */
export function refused<W>(words: W): Row<W> {
  return warning(words, PROFILES)
}

/** A warning about `metadata`, which is free text to everyone but OpenClaw and us. */
export function refusedByOpenclaw<W>(words: W): Row<W> {
  return warning(words, ['openclaw'])
}

/** A finding of strict validation: its severity in each profile. */
export interface StrictRow<W> {
  readonly under: Readonly<Record<Profile, Severity | 'off'>>
  readonly words: W
}

/** Profiles that are absent do not check it. */
export function under<W>(severities: Partial<Record<Profile, Severity>>, words: W): StrictRow<W> {
  return { under: { spec: 'off', claude: 'off', openclaw: 'off', ...severities }, words }
}

export function everywhere<W>(severity: Severity, words: W): StrictRow<W> {
  return under({ spec: severity, claude: severity, openclaw: severity }, words)
}
