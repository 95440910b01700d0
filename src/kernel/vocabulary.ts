/** Names and limits that several rooms share. Each is written here once. */

/** The file that makes a directory a skill. */
export const SKILL_FILE = 'SKILL.md'

export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Shorter secrets are words of any text: they are not blanked. */
export const MIN_SECRET_CHARS = 6

/** Names under `metadata` that hold gating fields: ours first, then those of other clients. Source: decisions, "metadata forms". */
export const CLIENT_BLOCKS = ['nexus', 'openclaw', 'clawdbot', 'clawdis', 'moltbot'] as const

const SYSTEM_ALIASES: ReadonlyMap<string, string> = new Map([
  ['macos', 'darwin'],
  ['mac', 'darwin'],
  ['osx', 'darwin'],
  ['win32', 'windows'],
  ['win', 'windows'],
])

/** One name per operating system: `linux`, `darwin`, `windows`, else the given name in lower case. */
export function toOsName(name: string): string {
  const plain = name.trim().toLowerCase()
  return SYSTEM_ALIASES.get(plain) ?? plain
}

/** Values that hold when no configuration and no caller says otherwise. */
export const DEFAULTS = {
  /** Characters of the prompt's list of skills. Source: decisions, "prompt index". */
  promptBudgetChars: 12_000,
  /** Quiet time before a change on disk leads to a reload. */
  watchDebounceMs: 250,
  commandTimeoutMs: 30_000,
  maxOutputBytes: 204_800,
  /** Time limit of one tool call. Source: contracts §1.9. */
  toolTimeoutMs: 30_000,
  /** Largest SKILL.md that is read. Source: decisions, "YAML limits". */
  maxSkillFileBytes: 1_048_576,
  maxCommandBytes: 100_000,
  /** Largest secret that a file or a program gives. */
  maxSecretBytes: 65_536,
  maxConcurrentTools: 10,
  /** Agents of one process that ask models at once. */
  maxRunning: 8,
  /** Model steps of one turn. Loading, reading and running a few commands passes seed 000's 10 at once. */
  maxIterations: 50,
  /** Results of a web search. Source: contracts §3.2. */
  searchResults: 5,
  /** How long a question may be answered while a process waits for it, and after that process ended. */
  approvalsExpiresMs: 600_000,
  approvalsWaitingExpiresMs: 604_800_000,
  /** Age of an event at which it is removed: 30 days. */
  eventsMaxAgeMs: 2_592_000_000,
  eventsMaxRows: 100_000,
} as const
