import { basename } from 'node:path'
import { type CopyDiagnosis, type Diagnosis, FINE, type Finding, type Verdict } from '../../../skills/diagnose/index.ts'
import { type JsonValue, toSafeLine, commandFix } from '../../../kernel/index.ts'
import { type Invocation, whereArgs } from '../command.ts'
import { findingData } from '../envelope.ts'
import { fixText, type Terminal } from '../terminal.ts'

/** The finding with its command whole, in the words of the fix and in parts. */
export function withCommands({ command, fix, ...found }: Finding, invocation: Invocation): Finding {
  if (command === undefined) return { ...found, fix }
  return { ...found, ...commandFix(fix, ...whereArgs(command, invocation).map(toSafeLine)) }
}

/** For `--json`. */
export function findingsData(findings: readonly Finding[]): JsonValue {
  return findings.map(({ command: _, ...found }) => findingData(found))
}

const MARKS = { error: ['red', '✗'], warning: ['yellow', '!'], info: ['dim', '·'] } as const

/** ✗, ! or ✓ before a subject with these findings. */
export function worstMark(findings: readonly Pick<Finding, 'severity'>[], { paint }: Pick<Terminal, 'paint'>): string {
  const worst = worstOf(findings)
  const [style, mark] = worst === undefined ? (['green', '✓'] as const) : MARKS[worst.severity]
  return paint(style, mark)
}

/** The first error, else the first warning. */
function worstOf<Found extends Pick<Finding, 'severity'>>(findings: readonly Found[]): Found | undefined {
  const first = (wanted: string) => findings.find(({ severity }) => severity === wanted)
  return first('error') ?? first('warning')
}

/** One finding with its file and its fix. `indent` precedes each line. */
export function formatFinding(found: Omit<Finding, 'command'>, terminal: Terminal, indent = ''): string {
  const { severity, code, message, path, line, places } = found
  const { paint } = terminal
  const [style, mark] = FINE.has(code) ? (['green', '✓'] as const) : MARKS[severity]
  const file = path === undefined ? undefined : terminal.shortPath(path)
  const lines = [
    `${paint(style, mark)} ${message} ${paint('dim', `(${code})`)}`,
    ...placeLines(places, terminal),
    ...(file === undefined ? [] : [`    ${paint('dim', line === undefined ? file : `${file}:${line}`)}`]),
    `    ${FINE.has(code) ? '' : `${paint('cyan', 'fix:')} `}${fixText(found, terminal)}`,
  ]
  return lines.map((text) => indent + text).join('\n')
}

function placeLines(places: Finding['places'] = [], { shortPath }: Pick<Terminal, 'shortPath'>): readonly string[] {
  const lines = places.map(
    ({ path, problem }) => `      ${shortPath(path)}${problem === undefined ? '' : ` (${problem})`}`,
  )
  return lines.length === 0 ? [] : ['    Looked in:', ...lines]
}

const VERDICTS = {
  ready: ['green', '✓'],
  unloadable: ['red', '✗'],
  held: ['yellow', '◌'],
  shadowed: ['dim', '≡'],
  invalid: ['red', '✗'],
  missing: ['red', '✗'],
} as const satisfies Readonly<Record<Verdict, readonly [string, string]>>

/** One copy with everything that is not as it should be. */
export function printCopy({ address, file, verdict, findings }: CopyDiagnosis, terminal: Terminal): void {
  const { paint } = terminal
  const [style, mark] = VERDICTS[verdict]
  const path = paint('dim', terminal.shortPath(file))
  terminal.line(`${paint(style, mark)} ${paint('bold', toSafeLine(address))}  ${verdict}  ${path}`)
  for (const found of findings) if (!FINE.has(found.code)) terminal.line(formatFinding(found, terminal, '    '))
}

const HEADLINES: Readonly<Record<Verdict, string>> = {
  ready: 'is offered to the model',
  unloadable: 'is offered to the model, but cannot be loaded',
  held: 'is held',
  shadowed: 'is shadowed by another copy',
  invalid: 'is invalid: it cannot be read as a skill',
  missing: 'was not found',
}

/** For skills that are ready, and still not simply offered, by the code of the first finding. */
const READY_BUT: Readonly<Record<string, string>> = {
  'over-budget-omitted': 'is ready, but left out of the prompt',
  'person-only': 'is ready, for people only',
  'not-invocable': 'is ready, but neither a model nor a person may start it',
  'no-loader': 'is ready, but its agent cannot load it',
  'workspace-untrusted': 'is ready, but its commands wait until you trust the workspace',
}

/** The answer for people: each finding with its file and its fix, and at the end the command that shows whether it helped. */
export function printDiagnosis(diagnosis: Diagnosis, invocation: Invocation): void {
  const { terminal } = invocation
  const { name, verdict, findings } = diagnosis
  const headline = (verdict === 'ready' && READY_BUT[findings[0]?.code ?? '']) || HEADLINES[verdict]
  terminal.line(`${terminal.paint('bold', toSafeLine(name))} ${headline}.`)
  for (const found of findings) terminal.line(`\n${formatFinding(found, terminal)}`)
  printExplain(findings, terminal)
  const problem = findings.find(({ severity }) => severity === 'error')
  // Another question is proposed already.
  if (problem === undefined || problem.proposal?.args[1] === 'why') return
  const again = whereArgs(['skills', 'why', nameAfter(diagnosis)], invocation)
  terminal.line(`${terminal.paint('dim', `When that is done, ask again: ${terminal.commandLine(again)}`)}`)
}

/** The command that explains the code of the worst finding; nothing when all is well. */
export function printExplain(findings: readonly Pick<Finding, 'code' | 'severity'>[], terminal: Terminal): void {
  const worst = worstOf(findings)
  if (worst === undefined) return
  terminal.line(
    `\n${terminal.paint('dim', `What a code means, with an example: ${terminal.commandLine(['explain', worst.code])}`)}`,
  )
}

/** A skill in a wrong directory is moved, and has another path then. */
function nameAfter({ name, findings }: Diagnosis): string {
  if (!findings.some(({ code }) => code === 'wrong-place')) return name
  return basename(name.replace(/\/SKILL\.md$/i, '').replace(/\.(?:md|zip|skill)$/i, '')) || name
}
