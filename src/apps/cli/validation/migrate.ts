import { errorOf, many } from '../failure.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { exportFlat, migrateSkill } from '../../../skills/format/index.ts'
import { dirname, join } from 'node:path'
import { type Diagnostic, hasErrors, commandFix, toSafeLine } from '../../../kernel/index.ts'
import { type Answer, argument, choiceFlag, CHOICES, type Invocation } from '../command.ts'
import { clientOf } from '../show/other-clients.ts'
import { confirm } from '../interactive/confirm.ts'
import { withProgress } from '../interactive/progress.ts'
import { formatDiagnostic, noteScreen } from '../terminal.ts'
import { type FileRewrite, notWritten, printChanges, rewriteFile } from './rewrite-file.ts'
import { findTargets, readTarget, type Target } from './targets.ts'

interface Migrated {
  readonly target: Target
  readonly changes: FileRewrite['changes']
  readonly diagnostics: readonly Diagnostic[]
}

/** `nexus skills migrate`: exit code 0 also when nothing was to do, 1 when a file cannot be read or written, 4 when a path does not exist. */
export async function migrateSkills(invocation: Invocation): Promise<Answer> {
  const { cwd, signal, terminal, flags, positionals } = invocation
  const to = choiceFlag(invocation, 'to', CHOICES.form) ?? 'nexus'
  argument(invocation, 'at least one path', ['./skills', '--dry-run'])
  const write = flags['dry-run'] !== true
  const found = await withProgress(terminal, 'looking for skills', () => findTargets(positionals, { cwd, signal }))
  if (write && flags['yes'] !== true) await confirmOther(found.targets, invocation)
  const results: Migrated[] = []
  const done = (): string => `migrating skills: ${results.length} of ${found.targets.length}`
  await withProgress(terminal, done, async () => {
    for (const [index, target] of found.targets.entries()) {
      if (index % 32 === 31) await nextTurn(undefined, { signal })
      results.push(await migrate(target, { to, write, signal }))
    }
  })
  const all = [...found.diagnostics, ...results.flatMap(({ diagnostics }) => diagnostics)]
  const changed = results.filter(({ changes }) => changes.length > 0)
  const skills = results.map(({ target, changes }) => ({
    file: target.shown,
    changed: changes.length > 0,
    changes: changes.map(({ line, was, now, why }) => ({ line, was, now: now ?? null, why })),
  }))
  return {
    data: { to, dryRun: !write, skills, summary: { skills: results.length, changed: changed.length } },
    diagnostics: all,
    exit: found.isMissing ? 4 : Number(hasErrors(all)),
    show: () => {
      for (const { target, changes } of changed) printChanges(target.shown, changes, terminal)
      for (const diagnostic of all) terminal.note(formatDiagnostic(diagnostic, noteScreen(terminal)))
      terminal.line(`${changed.length} of ${many(results.length, 'skill')} ${write ? 'changed' : 'would change'}`)
    },
  }
}

/** Files in the folder of another program are rewritten only with consent: that program reads them too. Throws CONFLICT without it. */
async function confirmOther(targets: readonly Target[], invocation: Invocation): Promise<void> {
  const { terminal, positionals } = invocation
  const others = targets.filter(({ directory }) => clientOf(directory) !== undefined)
  const [first] = others
  if (!first) return
  const client = clientOf(first.directory) ?? ''
  const files = others.map(({ directory, file }) => `  ${terminal.shortPath(join(directory, file))}`)
  if (terminal.isInteractive) {
    terminal.note([`These files are in a folder of ${client}, which reads them too:`, ...files].join('\n'))
    if (await confirm('Rewrite them for Nexus?', invocation)) return
  }
  const folder = terminal.shortPath(dirname(first.directory))
  throw errorOf(
    'CONFLICT',
    `Nothing was changed: ${toSafeLine(folder)} is a folder of ${client}. ${client} reads these files too, and may not understand what Nexus writes.`,
    commandFix(
      'See what would change with --dry-run, then rewrite them with --yes:',
      'skills',
      'migrate',
      ...positionals,
      '--dry-run',
    ),
  )
}

interface Wishes {
  readonly to: 'nexus' | 'flat'
  readonly write: boolean
  readonly signal: AbortSignal
}

async function migrate(target: Target, { to, write, signal }: Wishes): Promise<Migrated> {
  const options = { path: target.shown }
  const result = await rewriteFile(
    target,
    (text) => (to === 'flat' ? exportFlat(text, options) : migrateSkill(text, options)),
    { write, signal },
  )
  if (result !== undefined) {
    // `validate` reports warnings about the text itself; here matter errors and what the rewrite reports.
    const diagnostics = result.diagnostics.filter(
      ({ code, severity }) => severity === 'error' || code.startsWith('migrate-'),
    )
    return { target, changes: result.changes, diagnostics: [...target.diagnostics, ...diagnostics] }
  }
  if (target.linkedTo !== undefined)
    return { target, changes: [], diagnostics: [...target.diagnostics, ...notWritten(target)] }
  const bytes = await readTarget(target, signal)
  const why: readonly Diagnostic[] =
    bytes instanceof Uint8Array
      ? [
          {
            code: 'encoding-invalid',
            severity: 'error',
            path: target.shown,
            message: 'the file was not changed: it is a link, or its text is not UTF-8',
            fix: 'Save it as a file in UTF-8.',
          },
        ]
      : bytes
  return { target, changes: [], diagnostics: [...target.diagnostics, ...why] }
}
