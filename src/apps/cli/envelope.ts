import {
  CODES,
  type Diagnostic,
  hasErrors,
  type JsonObject,
  type JsonValue,
  type ProposedCommand,
} from '../../kernel/index.ts'
import type { Failure } from './failure.ts'

interface EnvelopeParts {
  readonly diagnostics?: readonly Diagnostic[]
  readonly error?: Failure
  /** The exit code that follows; default that of the error, 1 with a diagnostic that is one, else 0. */
  readonly exit?: number
}

export function exitOf({ exit, error, diagnostics = [] }: EnvelopeParts): number {
  return exit ?? (error === undefined ? Number(hasErrors(diagnostics)) : CODES[error.code].exit)
}

/**
 * The one shape of `--json`: `{ nexus: 1, command, ok, data, diagnostics, error? }`. `nexus` is the version of this shape;
 * `ok` is true exactly when the exit code is 0. The same is published as `schema/output.schema.json`.
 */
export function envelope(command: string, data: unknown, about: EnvelopeParts = {}): JsonValue {
  const { diagnostics = [], error } = about
  const ok = exitOf(about) === 0
  const found = { diagnostics: diagnostics.map(findingData), error: error && errorData(error) }
  return { nexus: 1, command, ok, data, ...found } as unknown as JsonValue
}

/** Why a command could not do its work; `code` is a row of the error table, `command` has the words of the command with which `fix` ends. */
function errorData({ code, message, fix, proposal, trace }: Failure) {
  const [first] = trace?.split('\n', 1) ?? []
  return { code, message: first === undefined ? message : `${message} ${first}`, fix, ...commandData(proposal) }
}

/** A finding as JSON has it: `code`, `severity`, `message`, `path`, `line`, `fix` and what else is known. */
export function findingData({ proposal, ...found }: Omit<Diagnostic, 'path'> & { readonly path?: string }): JsonObject {
  return { ...found, ...commandData(proposal) } as unknown as JsonObject
}

/** Programs know `nexus` by this name, wherever a person has to type another one. */
export function commandData(proposal: ProposedCommand | undefined): { readonly command?: readonly string[] } {
  return proposal ? { command: [proposal.program ?? 'nexus', ...proposal.args] } : {}
}
