import { basename } from 'node:path'
import { type CopyDiagnosis, type Diagnosis, FINE, type Finding, type Verdict } from '../../diagnose/index.ts'
import { type JsonValue, toSafeLine } from '../../kernel/index.ts'
import { type Invocation, proposed, proposedWords } from '../command.ts'
import type { Terminal } from '../terminal.ts'

/** The finding with its command whole: in the words of the fix, and as data. */
export function withCommands({ command, fix, ...found }: Finding, invocation: Invocation): Finding {
  if (command === undefined) return { ...found, fix }
  const line = toSafeLine(`${fix} ${proposed(command, invocation)}`)
  return { ...found, fix: line, command: proposedWords(command, invocation) }
}

/** For `--json`. */
export function findingsData(findings: readonly Finding[]): JsonValue {
  return findings.map((found) => ({ ...found }) as unknown as JsonValue)
}

const MARKS = { error: ['red', '✗'], warning: ['yellow', '!'], info: ['dim', '·'] } as const

/** One finding with its place and what to do next. `indent` stands before each line. */
export function formatFinding(
  { severity, code, message, path, line, fix, places }: Finding,
  { paint }: Pick<Terminal, 'paint'>,
  indent = '',
): string {
  const [style, mark] = FINE.has(code) ? (['green', '✓'] as const) : MARKS[severity]
  const place = path === undefined ? [] : [paint('dim', line === undefined ? path : `${path}:${line}`)]
  const lines = [
    `${paint(style, mark)} ${message} ${paint('dim', `(${code})`)}`,
    ...placeLines(places),
    ...[...place, `${paint('cyan', 'next:')} ${fix}`].map((text) => `    ${text}`),
  ]
  return lines.map((text) => indent + text).join('\n')
}

/** The directories that were searched, one a line. */
function placeLines(places: Finding['places'] = []): readonly string[] {
  const lines = places.map(
    ({ path, problem }) => `      ${toSafeLine(path)}${problem === undefined ? '' : ` (${problem})`}`,
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
  const place = paint('dim', toSafeLine(file))
  terminal.line(`${paint(style, mark)} ${paint('bold', toSafeLine(address))}  ${verdict}  ${place}`)
  for (const found of findings) if (!FINE.has(found.code)) terminal.line(formatFinding(found, terminal, '    '))
}

const HEADLINES: Readonly<Record<Verdict, string>> = {
  ready: 'is offered to the model',
  unloadable: 'is offered to the model, but cannot be loaded',
  held: 'is held back',
  shadowed: 'is shadowed by another copy',
  invalid: 'cannot be read as a skill',
  missing: 'was not found',
}

/** Headlines of skills that are ready, and still not simply offered. */
const READY_BUT: Readonly<Record<string, string>> = {
  'over-budget-omitted': 'is ready, but left out of the prompt',
  'person-only': 'is ready, for people only',
  nobody: 'is ready, but nobody may start it',
  'no-loader': 'is ready, but its agent cannot load it',
}

/** The answer for people, each finding with its place and what to do next; at the end the command that tells whether it helped. */
export function printDiagnosis(diagnosis: Diagnosis, invocation: Invocation): void {
  const { terminal } = invocation
  const { name, verdict, findings } = diagnosis
  const headline = (verdict === 'ready' && READY_BUT[findings[0]?.code ?? '']) || HEADLINES[verdict]
  terminal.line(`${terminal.paint('bold', name)} ${headline}.`)
  for (const found of findings) terminal.line(`\n${formatFinding(found, terminal)}`)
  const problem = findings.find(({ severity }) => severity === 'error')
  // Another question is proposed already.
  if (problem === undefined || problem.command?.[2] === 'why') return
  const again = proposed(['skills', 'why', nameAfter(diagnosis)], invocation)
  terminal.line(`\n${terminal.paint('dim', `When that is done, ask again: ${again}`)}`)
}

/** What is in a wrong place is moved, and has another path then. */
function nameAfter({ name, findings }: Diagnosis): string {
  if (!findings.some(({ code }) => code === 'wrong-place')) return name
  return basename(name.replace(/\/SKILL\.md$/i, '').replace(/\.(?:md|zip|skill)$/i, '')) || name
}
