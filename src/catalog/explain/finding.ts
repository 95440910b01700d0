import { type Diagnostic, toSafeLine } from '../../kernel/index.ts'

/** One thing that is true about a skill. `code` is one of `docs/catalog.md`, of a gate, or of a diagnostic. */
export interface Finding {
  readonly code: string
  /** `ok`: as it should be. `note`: worth knowing. `problem`: why the skill is not used as its author meant. */
  readonly severity: 'ok' | 'note' | 'problem'
  readonly text: string
  readonly file?: string
  readonly line?: number
  /** What to do next. */
  readonly fix: string
}

/** A finding whose words are safe to print. */
export function finding(
  code: string,
  severity: Finding['severity'],
  { text, fix, file, line }: { text: string; fix: string; file?: string; line?: number },
): Finding {
  return {
    code,
    severity,
    text: toSafeLine(text),
    ...(file !== undefined && { file: toSafeLine(file) }),
    ...(line !== undefined && { line }),
    fix: toSafeLine(fix),
  }
}

/** What a parser or a source found, as a finding. */
export function fromDiagnostic({ code, severity, message, path, line, fix }: Diagnostic): Finding {
  return finding(code, severity === 'error' ? 'problem' : 'note', {
    text: message,
    file: path,
    ...(line !== undefined && { line }),
    fix: fix ?? `Run: nexus skills validate ${path}`,
  })
}
