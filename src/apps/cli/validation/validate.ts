import { basename } from 'node:path'
import { listFiles } from '../../../machine/skill-files/index.ts'
import { fixOption } from '../../../skills/diagnose/index.ts'
import { type Change, checkLenient, checkStrict, fixSkill, type Profile } from '../../../skills/format/index.ts'
import {
  byPlace,
  type Diagnostic,
  hasErrors,
  type Severity,
  type SkillDocument,
  toSafeLine,
} from '../../../kernel/index.ts'
import { type Answer, argument, choiceFlag, CHOICES, type Invocation } from '../command.ts'
import { errorOf, many } from '../failure.ts'
import { formatDiagnostic, type Terminal } from '../terminal.ts'
import { printExplain } from '../show/findings.ts'
import { changesData, printChanges, rewriteFile } from './rewrite-file.ts'
import { toAnnotation, toSarif } from './sarif.ts'
import { checkFiles, findTargets, forEachTarget, readTarget, type Target } from './targets.ts'

interface ValidateOptions {
  readonly format: (typeof CHOICES.format)[number]
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
}

/** `nexus skills validate`: exit code 0 when every skill is valid, 1 when one is not, 4 when a path does not exist. */
export async function validateSkills(invocation: Invocation): Promise<Answer> {
  const options = readOptions(invocation)
  argument(invocation, 'at least one path', ['./skills'])
  const found = await findTargets(invocation)
  const verdicts = await forEachTarget(found.targets, invocation, 'validating', (target) =>
    judge(target, options, invocation),
  )
  const answer = report(options, verdicts, reported(found.diagnostics, options), invocation.terminal)
  return found.isMissing ? { ...answer, exit: 4 } : answer
}

function readOptions(invocation: Invocation): ValidateOptions {
  const { flags } = invocation
  const profile = choiceFlag(invocation, 'profile', CHOICES.profile)
  const format = choiceFlag(invocation, 'format', CHOICES.format) ?? (flags['json'] === true ? 'json' : 'text')
  if (flags['json'] === true && format !== 'json')
    throw errorOf('INVALID_ARGUMENT', `--json and --format ${format} cannot be used together.`, `Remove one of them.`)
  const encoding = flags['fix-encoding'] === true
  return {
    format,
    // A profile is a kind of strictness, so naming one asks for it.
    profile: profile ?? (flags['strict'] === true ? 'spec' : undefined),
    fix: flags['fix'] === true || encoding,
    encoding,
    quiet: flags['quiet'] === true,
  }
}

async function judge(target: Target, options: ValidateOptions, invocation: Invocation): Promise<Verdict> {
  const { signal } = invocation
  const { profile, encoding } = options
  const about = { path: target.shown, directoryName: basename(target.directory) }
  const fixed = options.fix
    ? await rewriteFile(target, (text) => fixSkill(text, { ...about, encoding }), { write: true, signal })
    : { changes: [], diagnostics: [] }
  const bytes = await readTarget(target, signal)
  if (!(bytes instanceof Uint8Array)) {
    const diagnostics = [...target.diagnostics, ...bytes]
    return { target, diagnostics, changes: [], name: undefined, state: 'invalid' }
  }
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const walked = target.isWhole || NAMES_FILES.test(text) ? await listFiles(target, { signal }) : undefined
  // With a problem it is not known which links are broken.
  const files = walked?.problem ? undefined : walked?.files.map((file) => file.path)
  const { document, diagnostics: inText } =
    profile === undefined ? checkLenient(bytes, { ...about, files }) : checkStrict(bytes, { ...about, files, profile })
  const found = [
    ...target.diagnostics,
    ...fixed.diagnostics.filter(({ code }) => code === 'write-failed'),
    ...inText.map((each) => forLink(each, target)).sort(byPlace),
    ...(target.isWhole && walked ? await checkFiles(target, walked, invocation) : []),
  ]
  const diagnostics = reported(errorsFirst(found), options)
  return { target, diagnostics, changes: fixed.changes, name: document?.name, state: stateOf(found, document) }
}

/** Links, and paths behind the directory of the skill. */
const NAMES_FILES = /\]\(|\{baseDir\}\/|_SKILL_DIR\}\//

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

/** The same states as in `list` and `doctor`. A skill that only fails the gate for its text is held; it can be read. */
function stateOf(found: readonly Diagnostic[], document: SkillDocument | undefined): Verdict['state'] {
  const errors = found.filter(({ severity }) => severity === 'error')
  if (document === undefined || errors.some(({ code }) => code !== 'description-missing')) return 'invalid'
  return errors.length > 0 || (document.metadata.unreadable ?? []).length > 0 ? 'held' : 'valid'
}

/** The text of a link belongs to another skill too, so its name is not to be changed for this one. */
function forLink(found: Diagnostic, { linkedTo }: Target): Diagnostic {
  if (linkedTo === undefined || found.code !== 'name-differs') return found
  return { ...found, fix: 'Replace the link with a file of its own.' }
}

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

function printVerdict({ target, changes, diagnostics }: Verdict, isNamed: boolean, terminal: Terminal): void {
  const { line, paint } = terminal
  if (changes.length > 0) {
    line(paint('green', 'fixed'))
    printChanges(target.shown, changes, terminal)
    line()
  }
  for (const found of diagnostics) line(formatDiagnostic(found, terminal))
  if (diagnostics.length > 0) line()
  else if (isNamed) line(`${paint('green', 'valid')} ${toSafeLine(target.shown)}`)
}

function report(
  options: ValidateOptions,
  verdicts: readonly Verdict[],
  loose: readonly Diagnostic[],
  terminal: Terminal,
): Answer {
  const ordered = verdicts.toSorted((a, b) => Number(hasErrors(b.diagnostics)) - Number(hasErrors(a.diagnostics)))
  const all = [...loose, ...ordered.flatMap(({ diagnostics }) => diagnostics)]
  const total = totalOf(verdicts, all)
  const { format, profile, quiet } = options
  const show = (): void => {
    if (format === 'sarif') terminal.json(toSarif(all))
    else if (format === 'github') for (const diagnostic of all) terminal.line(toAnnotation(diagnostic))
    else {
      for (const verdict of ordered) printVerdict(verdict, !quiet && verdicts.length <= MOST_NAMED, terminal)
      for (const diagnostic of loose) terminal.line(formatDiagnostic(diagnostic, terminal))
    }
    if (!quiet || all.length + total.fixed > 0) printSummary(options, all, total, terminal)
  }
  const skills = verdicts.map(({ target, name, state, diagnostics, changes }) => ({
    file: target.shown,
    name: name ?? null,
    valid: !hasErrors(diagnostics),
    state,
    changes: changesData(changes),
  }))
  const data = { strict: profile !== undefined, profile: profile ?? null, skills, summary: total }
  return { data, diagnostics: all, show }
}

type Total = ReturnType<typeof totalOf>

/** Beside other formats it goes to stderr. */
function printSummary(
  { format, fix }: ValidateOptions,
  all: readonly Diagnostic[],
  total: Total,
  terminal: Terminal,
): void {
  const isText = format === 'text'
  if (isText) terminal.line(summaryOf(total))
  else terminal.note(summaryOf(total))
  if (!fix && all.some((found) => fixOption(found) === '--fix'))
    terminal.note('Nexus can write some of the fixes: add --fix to the same command.')
  if (isText) printExplain(all, terminal)
}

function summaryOf({ skills, held, invalid, errors, warnings, infos, fixed }: Total): string {
  const valid = `${skills - held - invalid} valid, ${held > 0 ? `${held} held, ` : ''}${invalid} invalid`
  const found = [many(errors, 'error'), many(warnings, 'warning'), `${infos} info`].join(', ')
  return `${many(skills, 'skill')}: ${valid}; ${found}${fixed > 0 ? `; ${many(fixed, 'file')} fixed` : ''}`
}
