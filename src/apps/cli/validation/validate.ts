import { errorOf, many } from '../failure.ts'
import { basename } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fixOption } from '../../../skills/diagnose/index.ts'
import { type Change, checkLenient, checkStrict, fixSkill, type Profile } from '../../../skills/format/index.ts'
import { type Diagnostic, hasErrors, type Severity, type SkillDocument, toSafeLine } from '../../../kernel/index.ts'
import { type Answer, argument, choiceFlag, CHOICES, type Invocation } from '../command.ts'
import { createProgress, withProgress } from '../interactive/progress.ts'
import { formatDiagnostic, type Terminal } from '../terminal.ts'
import { printExplain } from '../show/findings.ts'
import { formatWithFrame, linesOf } from './code-frame.ts'
import { type FileRewrite, notWritten, printChanges, rewriteFile } from './rewrite-file.ts'
import { toAnnotation, toSarif } from './sarif.ts'
import { checkFiles, findTargets, listFiles, readTarget, type Target } from './targets.ts'

type Format = (typeof CHOICES.format)[number]

interface ValidateOptions {
  readonly format: Format
  /** Undefined: the lenient verdict. */
  readonly profile: Profile | undefined
  readonly fix: boolean
  readonly encoding: boolean
  /** Only errors are reported. */
  readonly quiet: boolean
}

/** The verdict on one file. */
interface Verdict {
  readonly target: Target
  readonly diagnostics: readonly Diagnostic[]
  readonly changes: readonly Change[]
  readonly name: string | undefined
  readonly state: 'valid' | 'held' | 'invalid'
  /** The findings as they are printed. */
  readonly lines: readonly string[]
}

/** `nexus skills validate`: exit code 0 when every skill is valid, 1 when one is not, 4 when a path does not exist. */
export async function validateSkills(invocation: Invocation): Promise<Answer> {
  const wishes = readOptions(invocation)
  const { cwd, signal, terminal } = invocation
  argument(invocation, 'at least one path', ['./skills'])
  const paths = invocation.positionals
  const found = await withProgress(terminal, 'looking for skills', () => findTargets(paths, { cwd, signal }))
  const verdicts: Verdict[] = []
  const progress = createProgress(terminal)
  progress.begin(() => `validating skills: ${verdicts.length} of ${found.targets.length}`)
  try {
    for (const [index, target] of found.targets.entries()) {
      if (index % 32 === 31) await nextTurn(undefined, { signal })
      verdicts.push(await judge(target, { ...wishes, cwd, signal, terminal }))
    }
  } finally {
    progress.end()
  }
  const answer = report({ wishes, verdicts, loose: reported(found.diagnostics, wishes) }, invocation)
  return found.isMissing ? { ...answer, exit: 4 } : answer
}

function readOptions(invocation: Invocation): ValidateOptions {
  const profile = choiceFlag(invocation, 'profile', CHOICES.profile)
  const format = choiceFlag(invocation, 'format', CHOICES.format)
  const json = invocation.flags['json'] === true
  if (json && format !== undefined && format !== 'json') {
    throw errorOf('INVALID_ARGUMENT', `--json and --format ${format} cannot be used together.`, `Remove one of them.`)
  }
  const fix = invocation.flags['fix'] === true
  const encoding = invocation.flags['fix-encoding'] === true
  return {
    format: json ? 'json' : (format ?? 'text'),
    // A profile is a kind of strictness, so naming one asks for it.
    profile: profile ?? (invocation.flags['strict'] === true ? 'spec' : undefined),
    fix: fix || encoding,
    encoding,
    quiet: invocation.flags['quiet'] === true,
  }
}

interface Judging extends ValidateOptions {
  readonly cwd: string
  readonly signal: AbortSignal
  readonly terminal: Terminal
}

async function judge(target: Target, { cwd, signal, terminal, ...wishes }: Judging): Promise<Verdict> {
  const fixed = wishes.fix
    ? await rewriteFile(
        target,
        (text) =>
          fixSkill(text, { path: target.shown, directoryName: basename(target.directory), encoding: wishes.encoding }),
        { write: true, signal },
      )
    : undefined
  const bytes = await readTarget(target, signal)
  const changes = fixed?.changes ?? []
  if (!(bytes instanceof Uint8Array)) {
    const diagnostics = [...target.diagnostics, ...bytes]
    const lines = diagnostics.map((found) => formatDiagnostic(found, terminal))
    return { target, diagnostics, changes: [], name: undefined, state: 'invalid', lines }
  }
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const files = NAMES_FILES.test(text) ? listFiles(target.directory) : undefined
  const options = { path: target.shown, directoryName: basename(target.directory), ...(files && { files }) }
  const { profile } = wishes
  const checked = profile === undefined ? checkLenient(bytes, options) : checkStrict(bytes, { ...options, profile })
  const failed = wishes.fix ? writeTroubles(target, fixed) : []
  const inFiles = await checkFiles(target, cwd, signal)
  const inText = target.linkedTo === undefined ? checked.diagnostics : checked.diagnostics.map(forLink)
  const found = [...target.diagnostics, ...failed, ...inOrder(inText), ...inFiles]
  const diagnostics = reported(errorsFirst(found), wishes)
  return {
    target,
    diagnostics,
    changes,
    name: checked.document?.name,
    state: stateOf(found, checked.document),
    lines: wishes.format === 'text' ? linesFor(diagnostics, { target, text, terminal }) : [],
  }
}

/** Links, and paths behind the directory of the skill. */
const NAMES_FILES = /\]\(|\{baseDir\}\/|_SKILL_DIR\}\//

/** Only the text of SKILL.md is here to show. */
function linesFor(
  diagnostics: readonly Diagnostic[],
  { target, text, terminal }: { readonly target: Target; readonly text: string; readonly terminal: Terminal },
): readonly string[] {
  const lines = diagnostics.length === 0 ? [] : linesOf(text)
  return diagnostics.map((found) =>
    found.path === target.shown ? formatWithFrame(found, { lines }, terminal) : formatDiagnostic(found, terminal),
  )
}

function reported(diagnostics: readonly Diagnostic[], { quiet }: ValidateOptions): readonly Diagnostic[] {
  return quiet ? diagnostics.filter(({ severity }) => severity === 'error') : diagnostics
}

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info']

/** Errors first; a finding that a line has several times is given once. */
function errorsFirst(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const keyOf = ({ path, line, code, message }: Diagnostic): string => JSON.stringify([path, line, code, message])
  const once = new Map(diagnostics.toReversed().map((found) => [keyOf(found), found]))
  return SEVERITIES.flatMap((each) => [...once.values()].toReversed().filter(({ severity }) => severity === each))
}

/** As `list` and `doctor` count it. A skill that lacks nothing but what the gate asks of its text is held; it can be read. */
function stateOf(found: readonly Diagnostic[], document: SkillDocument | undefined): Verdict['state'] {
  const errors = found.filter(({ severity }) => severity === 'error')
  if (document === undefined || errors.some(({ code }) => code !== 'description-missing')) return 'invalid'
  return errors.length > 0 || (document.metadata.unreadable ?? []).length > 0 ? 'held' : 'valid'
}

function writeTroubles(target: Target, fixed: FileRewrite | undefined): readonly Diagnostic[] {
  return fixed?.diagnostics.filter(({ code }) => code === 'write-failed') ?? notWritten(target)
}

/** The text belongs to another skill too, so its name is not to be changed for this one. */
function forLink(found: Diagnostic): Diagnostic {
  return found.code === 'name-differs' ? { ...found, fix: LINK_FIX } : found
}

const LINK_FIX = 'Replace the link with a file of its own.'

/** By place in the file, so that a report reads as the file does. */
function inOrder(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...diagnostics].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
}

/** As the summary and `--json` have it. */
type Total = ReturnType<typeof totalOf>

function totalOf(verdicts: readonly Verdict[], all: readonly Diagnostic[]) {
  const count = (severity: Severity): number => all.filter((found) => found.severity === severity).length
  return {
    skills: verdicts.length,
    held: verdicts.filter(({ state }) => state === 'held').length,
    invalid: verdicts.filter(({ state }) => state === 'invalid').length,
    errors: count('error'),
    warnings: count('warning'),
    infos: count('info'),
    fixed: verdicts.filter(({ changes }) => changes.length > 0).length,
  }
}

/** Valid skills are named one by one only when there are few. */
const MOST_NAMED = 20

function printVerdict({ target, changes, lines }: Verdict, isNamed: boolean, terminal: Terminal): void {
  const { paint } = terminal
  if (changes.length > 0) {
    terminal.line(paint('green', 'fixed'))
    printChanges(target.shown, changes, terminal)
    terminal.line()
  }
  if (lines.length === 0 && isNamed) terminal.line(`${paint('green', 'valid')} ${toSafeLine(target.shown)}`)
  for (const line of lines) terminal.line(line)
  if (lines.length > 0) terminal.line()
}

interface Outcome {
  readonly wishes: ValidateOptions
  readonly verdicts: readonly Verdict[]
  readonly loose: readonly Diagnostic[]
}

function report({ wishes, verdicts, loose }: Outcome, { terminal }: Invocation): Answer {
  const isBroken = ({ diagnostics }: Verdict): boolean => hasErrors(diagnostics)
  const ordered = [...verdicts.filter(isBroken), ...verdicts.filter((verdict) => !isBroken(verdict))]
  const all = [...loose, ...ordered.flatMap(({ diagnostics }) => diagnostics)]
  const total = totalOf(verdicts, all)
  const isNamed = !wishes.quiet && verdicts.length <= MOST_NAMED
  const show = (): void => {
    if (wishes.format === 'sarif') terminal.json(toSarif(all))
    else if (wishes.format === 'github') for (const diagnostic of all) terminal.line(toAnnotation(diagnostic))
    else {
      for (const verdict of ordered) printVerdict(verdict, isNamed, terminal)
      for (const diagnostic of loose) terminal.line(formatDiagnostic(diagnostic, terminal))
    }
    if (!wishes.quiet || all.length + total.fixed > 0) printSummary(wishes, all, total, terminal)
  }
  return { data: jsonData(wishes, verdicts, total), diagnostics: all, show }
}

/** Beside other formats it goes to stderr. */
function printSummary(wishes: ValidateOptions, all: readonly Diagnostic[], total: Total, terminal: Terminal): void {
  const isText = wishes.format === 'text'
  const print = isText ? terminal.line : terminal.note
  print(summaryOf(total))
  if (!wishes.fix && all.some((found) => fixOption(found) === '--fix'))
    terminal.note('Nexus can write some of the fixes: add --fix to the same command.')
  if (isText) printExplain(all, terminal)
}

function jsonData({ profile }: ValidateOptions, verdicts: readonly Verdict[], total: Total) {
  return {
    strict: profile !== undefined,
    profile: profile ?? null,
    skills: verdicts.map(({ target, name, state, diagnostics, changes }) => ({
      file: target.shown,
      name: name ?? null,
      valid: !hasErrors(diagnostics),
      state,
      changes: changes.map(({ line, was, now, why }) => ({ line, was, now: now ?? null, why })),
    })),
    summary: { ...total },
  }
}

function summaryOf({ skills, held, invalid, errors, warnings, infos, fixed }: Total): string {
  const valid = `${skills - held - invalid} valid, ${held > 0 ? `${held} held, ` : ''}${invalid} invalid`
  const found = [many(errors, 'error'), many(warnings, 'warning'), `${infos} info`].join(', ')
  return `${many(skills, 'skill')}: ${valid}; ${found}${fixed > 0 ? `; ${many(fixed, 'file')} fixed` : ''}`
}
