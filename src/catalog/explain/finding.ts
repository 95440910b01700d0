import { type Diagnostic, shellWord, toSafeLine } from '../../kernel/index.ts'

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

/** What `nexus skills validate` can write by itself, and the flag for it. */
const WRITTEN_FOR_YOU: Readonly<Record<string, string>> = {
  'yaml-repaired': '--fix',
  'key-spelling': '--fix',
  'name-missing': '--fix',
  'leading-blank-lines': '--fix',
  'frontmatter-closed-by-dots': '--fix',
  'byte-order-mark': '--fix-encoding',
  'line-ends-cr': '--fix-encoding',
}

/** What a parser or a source found, as a finding. */
export function fromDiagnostic({ code, severity, message, path, line, fix }: Diagnostic): Finding {
  const flag = Object.hasOwn(WRITTEN_FOR_YOU, code) ? WRITTEN_FOR_YOU[code] : undefined
  const command = `nexus skills validate ${flag === undefined ? '' : `${flag} `}${shellWord(path)}`
  return finding(code, severity === 'error' ? 'problem' : 'note', {
    text: message,
    file: path,
    ...(line !== undefined && { line }),
    fix: fixOf({ fix: named(fix, path), flag, command }),
  })
}

function fixOf({ fix, flag, command }: { fix: string | undefined; flag: string | undefined; command: string }): string {
  if (fix === undefined) return `Run: ${command}`
  return flag === undefined ? fix : `${fix}; or run: ${command}`
}

const EXAMPLE_NAME = '"name: my-skill"'

/** The parser proposes a name without knowing the directory that the name should equal. */
function named(fix: string | undefined, path: string): string | undefined {
  const [, directory = ''] = /([^/\\]+)[/\\][^/\\]+$/.exec(path) ?? []
  if (!fix?.includes(EXAMPLE_NAME) || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(directory)) return fix
  return fix.replace(EXAMPLE_NAME, `"name: ${directory}"`).replace('; the name is that of the directory', '')
}
