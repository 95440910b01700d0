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
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error')
}

/** One row of the error table: JSON-RPC number, HTTP status, CLI exit code, and what it means for the caller. */
export interface CodeRow {
  readonly rpc: number
  readonly http: number
  readonly exit: number
  readonly means: string
}

/**
 * Every code a `NexusError` can carry. `docs/errors.md` lists the same rows; a test keeps the two equal.
 * CLI exit codes: 1 failure, 2 usage, 3 network, 4 not found.
 */
export const CODES = {
  INVALID_ARGUMENT: { rpc: -32602, http: 400, exit: 2, means: 'a value given by the caller cannot be used' },
  CONFIG_INVALID: {
    rpc: -32010,
    http: 500,
    exit: 2,
    means: 'the configuration has errors; each is listed with its place',
  },
  UNTRUSTED_WORKSPACE: {
    rpc: -32011,
    http: 403,
    exit: 1,
    means: 'the workspace is not trusted, so nothing of it is run',
  },
  SKILL_NOT_FOUND: { rpc: -32004, http: 404, exit: 4, means: 'no skill has that name' },
  SKILL_HELD: { rpc: -32018, http: 409, exit: 1, means: 'the skill is there, but held back; the message says why' },
  SKILL_INVALID: { rpc: -32012, http: 422, exit: 1, means: 'the skill exists but cannot be read as a skill' },
  FILE_NOT_FOUND: { rpc: -32013, http: 404, exit: 4, means: 'a file or directory does not exist' },
  PATH_OUTSIDE: { rpc: -32014, http: 403, exit: 1, means: 'a path leaves the directory it must stay in' },
  CALL_DENIED: { rpc: -32003, http: 403, exit: 1, means: 'policy refused the call' },
  CONFLICT: { rpc: -32009, http: 409, exit: 1, means: 'the thing exists already or is in use' },
  CANCELLED: { rpc: -32015, http: 499, exit: 130, means: 'the caller cancelled before the end' },
  TIMEOUT: { rpc: -32016, http: 504, exit: 1, means: 'the time allowed ran out' },
  LIMIT_EXCEEDED: { rpc: -32017, http: 413, exit: 1, means: 'a size, count or depth limit was reached' },
  SANDBOX_UNAVAILABLE: { rpc: -32020, http: 503, exit: 1, means: 'commands cannot be confined here, so none is run' },
  SANDBOX_FAILED: { rpc: -32021, http: 500, exit: 1, means: 'the sandbox failed in the middle of its work' },
  MODEL_NOT_CONFIGURED: { rpc: -32030, http: 400, exit: 2, means: 'no model is named, or its key is missing' },
  MODEL_FAILED: { rpc: -32031, http: 502, exit: 3, means: 'the model could not be reached or refused the request' },
  STORE_FAILED: { rpc: -32040, http: 500, exit: 1, means: 'the state file could not be opened, read or written' },
  INTERNAL: { rpc: -32603, http: 500, exit: 1, means: 'a fault in Nexus itself' },
} as const satisfies Record<string, CodeRow>

/** A name in the error table. */
export type ErrorCode = keyof typeof CODES

/** The code of an error of Node or a library, such as `ENOENT`; undefined when it has none. */
export function errorCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** The message of whatever was thrown. */
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
