import { isAbsolute, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Diagnostic, type JsonObject, type JsonValue, type Severity, toSafeText } from '../../../kernel/index.ts'
import { meanings } from '../commands/explain.ts'

const LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' }

/** Findings as a SARIF 2.1.0 log with one run; paths that are relative stay so, for code scanning. */
export function toSarif(diagnostics: readonly Diagnostic[]): JsonValue {
  const means = meanings()
  const ids = [...new Set(diagnostics.map(({ code }) => code))].sort()
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'nexus', rules: ids.map((id) => ({ id, shortDescription: { text: means.get(id) ?? id } })) },
        },
        columnKind: 'utf16CodeUnits',
        results: diagnostics.map((diagnostic) => toResult(diagnostic, ids.indexOf(diagnostic.code))),
      },
    ],
  }
}

/** The message with its fix. */
function textOf({ message, fix }: Diagnostic): string {
  return toSafeText(fix === undefined ? message : `${message}\nFix: ${fix}`)
}

function toResult(found: Diagnostic, ruleIndex: number): JsonValue {
  const { code, severity, path, line, column } = found
  const region: JsonObject =
    line === undefined ? {} : { region: { startLine: line, ...(column !== undefined && { startColumn: column }) } }
  return {
    ruleId: code,
    ruleIndex,
    level: LEVELS[severity],
    message: { text: textOf(found) },
    locations: [{ physicalLocation: { artifactLocation: { uri: toUri(path) }, ...region } }],
  }
}

function toUri(path: string): string {
  if (isAbsolute(path)) return pathToFileURL(path).href
  return path.toWellFormed().split(sep).map(encodeURIComponent).join('/')
}

/** One finding as a workflow command of GitHub Actions, which shows it beside the line. */
export function toAnnotation(found: Diagnostic): string {
  const { code, severity, path, line, column } = found
  const place = [
    ['file', path.split(sep).join('/')],
    ['line', line],
    ['col', column],
    ['title', code],
  ].flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${escapeProperty(String(value))}`]))
  const command = severity === 'info' ? 'notice' : severity
  return `::${command} ${place.join(',')}::${escapeData(textOf(found))}`
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(toSafeText(text)).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
