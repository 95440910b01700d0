import { type Diagnostic, toSafeLine } from '../../kernel/index.ts'

/**
 * `ready`: offered, whether the prompt names it or not. `unloadable`: offered, but loading it fails. `invalid`: its
 * SKILL.md cannot be read. `missing`: nothing has that name.
 */
export type Verdict = 'ready' | 'unloadable' | 'held' | 'shadowed' | 'invalid' | 'missing'

/** One thing that is true about a skill. `code` is one of `docs/diagnose.md`, of a gate, or of a diagnostic. All texts are safe to print. */
export interface Finding extends Omit<Diagnostic, 'path' | 'fix'> {
  readonly path?: string
  /** One complete next step; where there is a `command`, it follows these words. */
  readonly fix: string
  /** Arguments of the `nexus` command that is proposed. */
  readonly command?: readonly string[]
  readonly missing?: readonly string[]
  /** The reason of the gate in its own words. Source: seed 001. */
  readonly reason?: string
  /** Directories that were searched, to be printed one a line. */
  readonly places?: readonly { readonly path: string; readonly problem?: string }[]
}

export function finding(
  code: string,
  severity: Finding['severity'],
  { path, ...rest }: Omit<Finding, 'code' | 'severity'>,
): Finding {
  return {
    code,
    severity,
    ...rest,
    message: toSafeLine(rest.message),
    fix: toSafeLine(rest.fix),
    ...(path !== undefined && { path: toSafeLine(path) }),
  }
}

/** The option of `nexus skills validate` that fixes it. */
const FIXABLE: ReadonlyMap<string, '--fix' | '--fix-encoding'> = new Map([
  ['yaml-repaired', '--fix'],
  ['key-spelling', '--fix'],
  ['name-missing', '--fix'],
  ['leading-blank-lines', '--fix'],
  ['frontmatter-closed-by-dots', '--fix'],
  ['byte-order-mark', '--fix-encoding'],
  ['line-ends-cr', '--fix-encoding'],
])

/** The option of `nexus skills validate` that corrects such a finding; undefined when a person has to. */
export function fixOption({ code, edit }: Diagnostic): '--fix' | '--fix-encoding' | undefined {
  return FIXABLE.get(code) ?? (edit && '--fix')
}

export function fromDiagnostic(diagnostic: Diagnostic): Finding {
  const { code, severity, ...rest } = diagnostic
  const { fix, path } = rest
  const option = fixOption(diagnostic)
  if (fix !== undefined && option === undefined) return finding(code, severity, { ...rest, fix })
  const command = ['skills', 'validate', ...(option === undefined ? [] : [option]), path]
  return finding(code, severity, {
    ...rest,
    fix: fix === undefined ? 'Run:' : `${fix}${/[.!?]$/.test(fix) ? ' Or' : '; or'} run:`,
    command,
  })
}

/** The first of many: a skill may have dozens of small findings, and these say enough. */
export function fromDiagnostics(diagnostics: readonly Diagnostic[]): readonly Finding[] {
  return diagnostics.slice(0, MAX_NOTES).map(fromDiagnostic)
}

const MAX_NOTES = 20
