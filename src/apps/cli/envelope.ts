import {
  type Diagnostic,
  hasErrors,
  type JsonObject,
  type JsonValue,
  type ProposedCommand,
} from '../../kernel/index.ts'

/** Why a command could not do its work; `code` is a row of the error table. */
export interface ErrorMember {
  readonly code: string
  readonly message: string
  readonly fix?: string
  /** The words of the command with which `fix` ends. */
  readonly command?: readonly string[]
}

export interface EnvelopeParts {
  readonly diagnostics?: readonly Diagnostic[]
  readonly error?: ErrorMember | undefined
  /** The exit code that follows; default 1 with an error or a diagnostic that is one, else 0. */
  readonly exit?: number
}

export function exitOf({ exit, error, diagnostics = [] }: EnvelopeParts): number {
  return exit ?? (error !== undefined || hasErrors(diagnostics) ? 1 : 0)
}

/**
 * The one shape of `--json`: `{ nexus: 1, command, ok, data, diagnostics, error? }`. `nexus` is the version of this shape;
 * `ok` is true exactly when the exit code is 0. The same is published as `schema/output.schema.json`.
 */
export function envelope(command: string, data: unknown, about: EnvelopeParts = {}): JsonValue {
  const { diagnostics = [], error } = about
  const ok = exitOf(about) === 0
  return { nexus: 1, command, ok, data, diagnostics: diagnostics.map(findingData), error } as unknown as JsonValue
}

/** A finding as JSON has it: `code`, `severity`, `message`, `path`, `line`, `fix` and what else is known. */
export function findingData({ proposal, ...found }: Omit<Diagnostic, 'path'> & { readonly path?: string }): JsonObject {
  return { ...found, ...commandData(proposal) } as unknown as JsonObject
}

export function memberOf(code: string, { message, fix, proposal }: Omit<ErrorMember, 'code'> & Proposing): ErrorMember {
  return { code, message, fix, ...commandData(proposal) }
}

interface Proposing {
  readonly proposal?: ProposedCommand | undefined
}

/** Programs know `nexus` by this name, wherever a person has to type another one. */
export function commandData(proposal: ProposedCommand | undefined): { readonly command?: readonly string[] } {
  return proposal ? { command: [proposal.program ?? 'nexus', ...proposal.args] } : {}
}
