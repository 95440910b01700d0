/** `error`: the thing is not used. `warning`: it is used, but not as its author may think. `info`: worth knowing. */
export type Severity = 'error' | 'warning' | 'info'

/**
 * One finding for the author of a skill or of a configuration; returned, never thrown.
 * `line` and `column` count from 1 and refer to `path`; `fix` says what to type or change.
 */
export interface Diagnostic {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  readonly path: string
  readonly line?: number
  readonly column?: number
  readonly fix?: string
}

/** True when at least one diagnostic is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error')
}
