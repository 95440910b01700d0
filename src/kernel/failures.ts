/** Failures by audience: diagnostics for authors, `NexusError` for callers; `outcome.ts` has those for the model. */
import type { ProposedCommand } from './commands.ts'

/** `error`: the thing is not used. `warning`: it is used, but not as its author may think. `info`: worth knowing. */
export type Severity = 'error' | 'warning' | 'info'

/** A replacement of text in one file. Lines and columns count from 1 (columns in UTF-16 units); `end` is exclusive. */
export type Edit = {
  readonly start: { readonly line: number; readonly column: number }
  readonly end: { readonly line: number; readonly column: number }
  readonly text: string
}

/**
 * One finding for the author of a skill or of a configuration; returned, never thrown.
 * `line` and `column` count from 1 and refer to `path`. Code may act on `code`, `subject`, place and `edit` only:
 * `message` and `fix` are words for people, made once, and nothing reads them back.
 */
export interface Diagnostic {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  readonly path: string
  readonly line?: number
  readonly column?: number
  readonly fix?: string
  /** The parts of a `fix` that ends with a `nexus` command. */
  readonly proposal?: ProposedCommand
  /** The key, name or setting it is about, as written: `allowed-tools`, `metadata.requires.env`, `skills.entries.pfd`. */
  readonly subject?: string
  /** The change that a machine can make to fix it, where there is one. */
  readonly edit?: Edit
}

/** True when at least one diagnostic is an error. */
/** Order of findings about one file. */
export function byPlace(a: Diagnostic, b: Diagnostic): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
}

export function hasErrors(diagnostics: readonly Pick<Diagnostic, 'severity'>[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error')
}

/**
 * Every code that a `NexusError` can have, with its JSON-RPC number, HTTP status and CLI exit code. `docs/errors.md` explains each; a test
 * keeps the two equal.
 * CLI exit codes: 1 failure, 2 usage, 3 network, 4 not found.
 */
export const CODES = {
  INVALID_ARGUMENT: { rpc: -32602, http: 400, exit: 2 },
  CONFIG_INVALID: { rpc: -32010, http: 500, exit: 2 },
  UNTRUSTED_WORKSPACE: { rpc: -32011, http: 403, exit: 1 },
  FOREIGN_OWNER: { rpc: -32022, http: 403, exit: 1 },
  SKILL_NOT_FOUND: { rpc: -32004, http: 404, exit: 4 },
  AGENT_NOT_FOUND: { rpc: -32023, http: 404, exit: 4 },
  SKILL_HELD: { rpc: -32018, http: 409, exit: 1 },
  SKILL_INVALID: { rpc: -32012, http: 422, exit: 1 },
  FILE_NOT_FOUND: { rpc: -32013, http: 404, exit: 4 },
  PATH_OUTSIDE: { rpc: -32014, http: 403, exit: 1 },
  CALL_DENIED: { rpc: -32003, http: 403, exit: 1 },
  CONFLICT: { rpc: -32009, http: 409, exit: 1 },
  LEASE_LOST: { rpc: -32019, http: 409, exit: 1 },
  CANCELLED: { rpc: -32015, http: 499, exit: 130 },
  TIMEOUT: { rpc: -32016, http: 504, exit: 1 },
  LIMIT_EXCEEDED: { rpc: -32017, http: 413, exit: 1 },
  SANDBOX_UNAVAILABLE: { rpc: -32020, http: 503, exit: 1 },
  SANDBOX_FAILED: { rpc: -32021, http: 500, exit: 1 },
  INSTALL_FAILED: { rpc: -32060, http: 502, exit: 1 },
  MODEL_NOT_CONFIGURED: { rpc: -32030, http: 400, exit: 2 },
  MODEL_FAILED: { rpc: -32031, http: 502, exit: 3 },
  STORE_FAILED: { rpc: -32040, http: 500, exit: 1 },
  ADDRESS_REFUSED: { rpc: -32050, http: 403, exit: 1 },
  NETWORK_FAILED: { rpc: -32051, http: 502, exit: 3 },
  INTERNAL: { rpc: -32603, http: 500, exit: 1 },
} as const

export type ErrorCode = keyof typeof CODES

/** The code of an error of Node or a library, such as `ENOENT`; undefined when it has none. */
export function errorCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const BRAND = Symbol.for('nexus-skills.error')

/**
 * The one error class for callers. `code` is a row of `CODES`; `fix` says what to do next; `path` is the file or directory it is about, where
 * there is one; `cause` is always kept.
 */
export class NexusError extends Error {
  readonly code: ErrorCode
  readonly fix: string | undefined
  /** The parts of a `fix` that ends with a `nexus` command. */
  readonly proposal: ProposedCommand | undefined
  readonly path: string | undefined
  readonly [BRAND] = true

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      fix?: string | undefined
      proposal?: ProposedCommand | undefined
      path?: string | undefined
      cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'NexusError'
    this.code = code
    this.fix = options.fix
    this.proposal = options.proposal
    this.path = options.path
  }
}

/** True for a `NexusError`, also one made by another copy of this package. */
export function isNexusError(value: unknown): value is NexusError {
  return typeof value === 'object' && value !== null && BRAND in value && value[BRAND] === true
}
