import { exportFlat, migrateSkill } from '../../../skills/format/index.ts'
import { dirname, join } from 'node:path'
import { commandFix, hasErrors, toSafeLine } from '../../../kernel/index.ts'
import { type Answer, argument, choiceFlag, CHOICES, type Invocation } from '../command.ts'
import { errorOf, many } from '../failure.ts'
import { clientOf } from '../show/other-clients.ts'
import { confirm } from '../interactive/confirm.ts'
import { formatDiagnostic } from '../terminal.ts'
import { changesData, printChanges, rewriteFile } from './rewrite-file.ts'
import { findTargets, forEachTarget, type Target } from './targets.ts'

/** `nexus skills migrate`: exit code 0 also when nothing was to do, 1 when a file cannot be read or written, 4 when a path does not exist. */
export async function migrateSkills(invocation: Invocation): Promise<Answer> {
  const { signal, terminal, flags } = invocation
  const to = choiceFlag(invocation, 'to', CHOICES.form) ?? 'nexus'
  argument(invocation, 'at least one path', ['./skills', '--dry-run'])
  const write = flags['dry-run'] !== true
  const found = await findTargets(invocation)
  if (write && flags['yes'] !== true) await confirmOther(found.targets, invocation)
  const results = await forEachTarget(found.targets, invocation, 'migrating', async (target) => {
    const rewrite = (text: string) => (to === 'flat' ? exportFlat : migrateSkill)(text, { path: target.shown })
    const { changes, diagnostics } = await rewriteFile(target, rewrite, { write, signal })
    // `validate` reports warnings about the text itself; here matter errors and what the rewrite reports.
    const own = diagnostics.filter(({ code, severity }) => severity === 'error' || /^(?:migrate|write)-/.test(code))
    return { target, changes, diagnostics: [...target.diagnostics, ...own] }
  })
  const all = [...found.diagnostics, ...results.flatMap(({ diagnostics }) => diagnostics)]
  const changed = results.filter(({ changes }) => changes.length > 0)
  const skills = results.map(({ target, changes }) => ({
    file: target.shown,
    changed: changes.length > 0,
    changes: changesData(changes),
  }))
  return {
    data: { to, dryRun: !write, skills, summary: { skills: results.length, changed: changed.length } },
    diagnostics: all,
    exit: found.isMissing ? 4 : Number(hasErrors(all)),
    show: () => {
      for (const { target, changes } of changed) printChanges(target.shown, changes, terminal)
      for (const diagnostic of all) terminal.note(formatDiagnostic(diagnostic, terminal.besideDocument()))
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
  const lead = 'See what would change with --dry-run, then rewrite them with --yes:'
  throw errorOf(
    'CONFLICT',
    `Nothing was changed: ${toSafeLine(folder)} is a folder of ${client}. ${client} reads these files too, and may not understand what Nexus writes.`,
    commandFix(lead, 'skills', 'migrate', ...positionals, '--dry-run'),
  )
}
