import { commandFix, toSafeLine } from '../../../kernel/index.ts'
import { sandboxOptions } from '../../../local/index.ts'
import {
  type ChangeSet,
  type Choice,
  drop,
  HELD,
  isChosen,
  keep,
  type Outcome,
  type Records,
  type SetsAt,
  undo,
} from '../../../machine/changes/index.ts'
import { withChangeSets } from '../../../machine/sandbox/index.ts'
import type { Answer, Invocation } from '../command.ts'
import { errorOf, many } from '../failure.ts'
import { choose, confirm } from '../interactive/confirm.ts'
import { loadHere } from '../open.ts'
import { inShort, isOfSkills, printChange } from '../show/change-set.ts'
import { matchingIds, theOne } from '../stored.ts'

/** `nexus changes list`: what commands and tools changed in this workspace, the newest first. */
export async function listChanges(invocation: Invocation): Promise<Answer> {
  const sets = await inSets(invocation, ({ records }) =>
    records.list().map(({ counts = { applied: 0, held: 0 }, ...set }) => ({ ...set, ...counts })),
  )
  const { terminal } = invocation
  return {
    data: { sets },
    show: () => {
      if (sets.length === 0) terminal.note('No command has changed this workspace.')
      for (const { id, createdAt, tool, state, applied, held, expiresAt } of sets) {
        const waits = held > 0 ? `, ${held} held until ${expiresAt.slice(0, 10)}` : ''
        const ended = state === 'applied' ? '' : `, ${state}`
        terminal.line(
          `${terminal.paint('bold', id)}  ${timeOf(createdAt)}  ${toSafeLine(tool)}: ${many(applied, 'change')}${waits}${ended}`,
        )
      }
    },
  }
}

/** `nexus changes show [id] [--diff]`: each path of a set, with the reason where it is not in the workspace. */
export async function showChanges(invocation: Invocation): Promise<Answer> {
  const { records, set, entries } = await inSets(invocation, (sets) => {
    const found = findSet(sets.records, invocation)
    return { records: sets.records, set: found, entries: sets.records.entries(found.id) }
  })
  const { terminal, flags } = invocation
  return {
    data: { set, entries },
    show: () => {
      const { id, createdAt, tool, state } = set
      terminal.line(`${terminal.paint('bold', id)}  ${timeOf(createdAt)}  ${toSafeLine(tool)}, ${state}`)
      // Files of state go with what git moved.
      for (const entry of entries.filter(({ git }) => git !== 'state')) {
        const { verdict, type, path, reason } = entry
        const why = reason === undefined || verdict === 'applied' ? '' : `: ${toSafeLine(reason)}`
        terminal.line(`  ${verdict.padEnd(8)} ${type.padEnd(7)} ${toSafeLine(path)}${why}`)
        if (flags['diff'] === true) printChange({ records, set }, entry, terminal)
      }
      if (inShort(set, entries).held.length === 0) return
      const expires = set.expiresAt.slice(0, 10)
      terminal.note(
        `Held until ${expires}. To take it: nexus changes keep ${id}. To give it up: nexus changes drop ${id}`,
      )
    },
  }
}

/** `nexus changes keep <id> [path…]`: shows what is held, asks, and brings it into the workspace. */
export async function keepChanges(invocation: Invocation): Promise<Answer> {
  const { terminal, flags } = invocation
  const { records, set, paths, held } = await inSets(invocation, (sets) => {
    const found = findChosen(sets.records, invocation)
    const waiting = sets.records
      .entries(found.set.id)
      .filter((entry) => HELD.includes(entry.verdict) && isChosen(entry, found.paths))
    return { records: sets.records, ...found, held: waiting }
  })
  if (held.length === 0) throw nothingFor(set, paths, 'holds')
  if (held.some(isOfSkills))
    terminal.note(
      'Skills are among it. They become trusted with the other skills of their directory: they instruct the model and start commands.',
    )
  if (flags['yes'] !== true) {
    const onStderr = { line: (text = '') => terminal.note(text), paint: terminal.paintNote }
    for (const entry of held) {
      const { path, reason = '', after } = entry
      terminal.note(`${toSafeLine(path)}: ${toSafeLine(reason)}${after === undefined ? ' (a removal)' : ''}`)
      printChange({ records, set }, entry, onStderr)
    }
    if (!terminal.isInteractive)
      throw errorOf('INVALID_ARGUMENT', 'Nothing was kept: nobody can be asked here.', 'Add --yes.')
    if ((await confirm(`Bring ${many(held.length, 'change')} into the workspace?`, invocation)) !== true)
      return { data: { id: set.id, outcomes: [] }, exit: 1, show: () => terminal.note('Nothing was kept.') }
  }
  // The set that was shown: another may be the newest by now.
  const shown = { ...invocation, positionals: [set.id, ...paths] }
  return moved(shown, 'kept', (at, choice) => keep(at, choice))
}

/** Asks what becomes of what some sets hold, until a person leaves it: to show, keep or drop it. */
export async function offerHeld(sets: readonly { readonly id: string }[], invocation: Invocation): Promise<void> {
  const words = ['show', 'keep', 'drop', 'later'] as const
  const question = 'What is held: [s]how, [k]eep or [d]rop it? Enter leaves it for later.'
  for (;;) {
    const answer = await choose(question, { words, again: 'Type s, k, d or Enter.' }, invocation)
    if (answer === undefined || answer === '' || answer === 'later') return
    for (const { id } of sets) {
      const given = { ...invocation, positionals: [id], flags: answer === 'show' ? { diff: true } : {} }
      const shown = { ...given, terminal: invocation.terminal.besideDocument() }
      await (await { show: showChanges, keep: keepChanges, drop: dropChanges }[answer](shown)).show?.()
    }
    if (answer !== 'show') return
  }
}

/** `nexus changes undo [id] [path…]`: restores what was there before. */
export async function undoChanges(invocation: Invocation): Promise<Answer> {
  return moved(invocation, 'restored', async (at, choice) => {
    const outcomes = await undo(at, choice)
    if (outcomes.length === 0) throw nothingFor(at.set, choice.paths, 'has applied')
    return outcomes
  })
}

/** `nexus changes drop <id> [path…]`: gives up what is held. */
export async function dropChanges(invocation: Invocation): Promise<Answer> {
  const { id, dropped } = await inSets(invocation, async (at) => {
    const { set, paths } = findChosen(at.records, invocation)
    const found = await drop({ ...at, set }, { paths })
    if (found.length === 0) throw nothingFor(set, paths, 'holds')
    return { id: set.id, dropped: found }
  })
  return {
    data: { id, dropped },
    show: () => invocation.terminal.note(`Dropped ${many(dropped.length, 'held change')}.`),
  }
}

/** `nexus changes forget <id>`: removes a set with the bytes it keeps. The workspace stays as it is. */
export async function forgetChanges(invocation: Invocation): Promise<Answer> {
  const id = await inSets(invocation, ({ records }) => {
    const set = findSet(records, invocation)
    records.remove(set.id)
    return set.id
  })
  return { data: { id }, show: () => invocation.terminal.note(`Forgot ${id}. It can no longer be undone.`) }
}

async function moved(
  invocation: Invocation,
  verb: 'kept' | 'restored',
  work: (at: SetsAt & { readonly set: ChangeSet }, choice: Choice) => Promise<Outcome[]>,
): Promise<Answer> {
  const { terminal } = invocation
  const { id, outcomes } = await inSets(invocation, async (at) => {
    const { set, ...choice } = findChosen(at.records, invocation)
    return { id: set.id, outcomes: await work({ ...at, set }, choice) }
  })
  const left = outcomes.filter(({ result }) => result !== 'done')
  return {
    data: { id, outcomes },
    exit: left.length > 0 ? 1 : 0,
    show: () => {
      terminal.note(`${verb === 'kept' ? 'Kept' : 'Restored'} ${many(outcomes.length - left.length, 'change')}.`)
      for (const outcome of left) terminal.note(leftAlone(outcome, id, verb))
    },
  }
}

function leftAlone({ path, result, code }: Outcome, id: string, verb: 'kept' | 'restored'): string {
  const name = toSafeLine(path)
  const command = verb === 'kept' ? 'keep' : 'undo'
  if (result === 'changed-since')
    return `${name} was left: it changed since. ${toSafeLine(commandFix('To replace it:', 'changes', command, id, path, '--force').fix)}`
  if (result === 'no-bytes') return `${name} was left: the set does not have its bytes.`
  return `${name} was left: the system refused it (${code ?? ''}).`
}

function nothingFor({ id }: ChangeSet, paths: readonly string[], what: 'holds' | 'has applied'): Error {
  const named = paths.length > 0 ? ` at ${paths.map(toSafeLine).join(', ')}` : ''
  return errorOf(
    'FILE_NOT_FOUND',
    `The set ${id} ${what} nothing${named}.`,
    commandFix('See it:', 'changes', 'show', id),
  )
}

/** The set that was named by a beginning of its id, else the newest. */
function findSet(records: Records, { positionals: [wanted] }: Invocation): ChangeSet {
  const all = records.list()
  const [newest] = all
  if (newest === undefined) throw errorOf('FILE_NOT_FOUND', 'No command has changed this workspace.')
  if (wanted === undefined) return newest
  return theOne(all, wanted, { noun: 'change set', list: ['changes', 'list'] })
}

/**
 * A set with the paths of it that are meant. The first word is an id where it fits one, else it is a path of the newest set; with `./` it is
 * always a path. Throws INVALID_ARGUMENT where all of a set would be forced.
 */
function findChosen(
  records: Records,
  invocation: Invocation,
): { readonly set: ChangeSet; readonly paths: readonly string[]; readonly force: boolean } {
  const { flags, command } = invocation
  const [first = '', ...others] = invocation.positionals.map((word) => word.replace(/^(\.\/+)+(?=.)/, ''))
  const [given] = invocation.positionals
  const [newest] = records.list()
  const isId = given === undefined || (given === first && matchingIds(records.list(), first).length > 0)
  // A mistyped id is reported as one.
  const isTypo =
    /^[0-9a-f]+$/.test(given ?? '') && newest && !records.entries(newest.id).some((entry) => isChosen(entry, [first]))
  const set = findSet(records, isId || isTypo === true ? invocation : { ...invocation, positionals: [] })
  const paths = isId ? others : [first, ...others]
  const force = flags['force'] === true
  if (!force || paths.length > 0) return { set, paths, force }
  const message = 'Nothing was changed: --force replaces files that changed since, and no file was named.'
  throw errorOf('INVALID_ARGUMENT', message, `Name each file: nexus ${command} ID PATH --force`)
}

async function inSets<T>(invocation: Invocation, work: (at: SetsAt) => T | Promise<T>): Promise<T> {
  const loaded = await loadHere(invocation)
  const { directory } = loaded.workspace
  const done = await withChangeSets(directory, sandboxOptions(loaded), async (at) => ({ result: await work(at) }))
  if (done) return done.result
  const fix = 'Remove execution.sandbox: none from the settings.'
  throw errorOf('INVALID_ARGUMENT', 'Without a sandbox Nexus records no changes.', fix)
}

function timeOf(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ')
}
