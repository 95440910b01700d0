import { type Diagnostic, hasErrors, type JsonValue } from '../kernel/index.ts'

/**
 * The one shape of `--json`: `{ nexus: 1, command, ok, data, diagnostics }`.
 * `nexus` is the version of this shape; `ok` is false when a diagnostic is an error.
 */
export function envelope(command: string, data: JsonValue, diagnostics: readonly Diagnostic[] = []): JsonValue {
  return {
    nexus: 1,
    command,
    ok: !hasErrors(diagnostics),
    data,
    diagnostics: diagnostics.map((diagnostic) => ({ ...diagnostic })),
  }
}
