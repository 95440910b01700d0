import { loadConfig, type LoadedConfig } from '../../../config/index.ts'
import { commandFix, toSafeLine } from '../../../kernel/index.ts'
import { sandboxOptions } from '../../../local/index.ts'
import {
  type ChangeSet,
  drop,
  HELD,
  keep,
  type Outcome,
  type Records,
  type SetEntry,
  type SetsAt,
  type Side,
  undo,
} from '../../../machine/changes/index.ts'
import { withChangeSets } from '../../../machine/sandbox/index.ts'
import type { Answer, Invocation } from '../command.ts'
import { errorOf, many } from '../failure.ts'
import { confirm } from '../interactive/confirm.ts'
import { printDiff } from '../show/diff.ts'
import { theOne } from '../stored.ts'

/** `nexus changes list`: what commands changed in this workspace, the newest first. */
export async function listChanges(invocation: Invocation): Promise<Answer> {
  const sets = await inSets(invocation, ({ records }) =>
    Promise.resolve(records.list().map((set) => ({ ...set, ...counted(records.entries(set.id)) }))),
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
  const { set, entries, texts } = await inSets(invocation, ({ records }) => {
    const found = findSet(records, invocation)
    const all = records.entries(found.id)
    return Promise.resolve({ set: found, entries: all, texts: textsOf(records, found, all) })
  })
  const { terminal, flags } = invocation
  return {
    data: { set, entries },
    show: () => {
      const { id, createdAt, tool, state } = set
      terminal.line(`${terminal.paint('bold', id)}  ${timeOf(createdAt)}  ${toSafeLine(tool)}, ${state}`)
      for (const entry of entries) {
        const why = entry.reason === undefined || entry.verdict === 'applied' ? '' : `: ${toSafeLine(entry.reason)}`
        terminal.line(`  ${entry.verdict.padEnd(8)} ${entry.type.padEnd(7)} ${toSafeLine(entry.path)}${why}`)
        const text = texts.get(entry.path)
        if (flags['diff'] === true && text) printDiff(text, toSafeLine(entry.path), terminal)
      }
      const held = entries.filter(({ verdict }) => HELD.includes(verdict))
      if (held.length === 0) return
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
  const paths = invocation.positionals.slice(1)
  const before = await inSets(invocation, ({ records }) => {
    const set = findSet(records, invocation)
    const held = records.entries(set.id).filter((entry) => HELD.includes(entry.verdict) && isNamed(entry, paths))
    return Promise.resolve({ set, held, texts: textsOf(records, set, held) })
  })
  if (before.held.length === 0) throw nothingFor(before.set, paths, 'holds')
  if (flags['yes'] !== true) {
    for (const { path, reason = '', after } of before.held) {
      terminal.note(`${toSafeLine(path)}: ${toSafeLine(reason)}${after === undefined ? ' (a removal)' : ''}`)
      const text = before.texts.get(path)
      if (text) printDiff(text, toSafeLine(path), { line: (each = '') => terminal.note(each), paint: terminal.paint })
    }
    if (before.held.some(({ reason }) => reason === 'it holds skills'))
      terminal.note('Skills in it become trusted together with the other skills of the workspace.')
    if (!terminal.isInteractive)
      throw errorOf('INVALID_ARGUMENT', 'Nothing was kept: nobody can be asked here.', 'Add --yes.')
    if ((await confirm(`Bring ${many(before.held.length, 'change')} into the workspace?`, invocation)) !== true)
      return { data: { id: before.set.id, outcomes: [] }, exit: 1, show: () => terminal.note('Nothing was kept.') }
  }
  // The set that was shown: another may be the newest by now.
  const shown = { ...invocation, positionals: [before.set.id, ...paths] }
  return moved(shown, 'kept', (at, set) => keep({ ...at, set }, { paths, force: flags['force'] === true }))
}

/** `nexus changes undo [id] [path…]`: restores what was there before. */
export async function undoChanges(invocation: Invocation): Promise<Answer> {
  const paths = invocation.positionals.slice(1)
  const force = invocation.flags['force'] === true
  return moved(invocation, 'restored', async (at, set) => {
    const outcomes = await undo({ ...at, set }, { paths, force })
    if (outcomes.length === 0) throw nothingFor(set, paths, 'has applied')
    return outcomes
  })
}

/** `nexus changes drop <id> [path…]`: gives up what is held. */
export async function dropChanges(invocation: Invocation): Promise<Answer> {
  const paths = invocation.positionals.slice(1)
  const { id, dropped } = await inSets(invocation, (at) => {
    const set = findSet(at.records, invocation)
    const found = drop({ ...at, set }, { paths })
    if (found.length === 0) throw nothingFor(set, paths, 'holds')
    return Promise.resolve({ id: set.id, dropped: found })
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
    return Promise.resolve(set.id)
  })
  return { data: { id }, show: () => invocation.terminal.note(`Forgot ${id}. It can no longer be undone.`) }
}

async function moved(
  invocation: Invocation,
  verb: 'kept' | 'restored',
  work: (at: SetsAt, set: ChangeSet) => Promise<Outcome[]>,
): Promise<Answer> {
  const { terminal } = invocation
  const { id, outcomes } = await inSets(invocation, async (at) => {
    const set = findSet(at.records, invocation)
    return { id: set.id, outcomes: await work(at, set) }
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

async function inSets<T>(invocation: Invocation, work: (at: SetsAt) => Promise<T>): Promise<T> {
  const { cwd, environment } = invocation
  const loaded: LoadedConfig = await loadConfig({ cwd, environment })
  const { directory } = loaded.workspace
  const done = await withChangeSets(directory, sandboxOptions(loaded), async (at) => ({ result: await work(at) }))
  if (done) return done.result
  const fix = 'Remove execution.sandbox: none from the settings.'
  throw errorOf('INVALID_ARGUMENT', 'Without a sandbox Nexus records no changes.', fix)
}

function counted(entries: readonly SetEntry[]): { applied: number; held: number } {
  const isFile = ({ before, after }: SetEntry): boolean => (after ?? before)?.kind !== 'directory'
  return {
    applied: entries.filter((entry) => entry.verdict === 'applied' && isFile(entry)).length,
    held: entries.filter(({ verdict }) => HELD.includes(verdict)).length,
  }
}

function isNamed({ path, unit }: SetEntry, paths: readonly string[]): boolean {
  return paths.length === 0 || paths.some((each) => each === unit || each === path || path.startsWith(`${each}/`))
}

interface Texts {
  readonly before: string
  readonly after: string
}

/** Both sides of the files of a set that are text, by path. */
function textsOf(records: Records, { id }: ChangeSet, entries: readonly SetEntry[]): Map<string, Texts> {
  const text = (side: Side | undefined): string | undefined => {
    if (side === undefined) return ''
    const bytes = side.kind === 'directory' ? undefined : records.bytes(id, side)
    return bytes === undefined || bytes.includes(0) ? undefined : new TextDecoder().decode(bytes)
  }
  return new Map(
    entries.flatMap(({ path, before, after }) => {
      const [old, now] = [text(before), text(after)]
      return old === undefined || now === undefined || old === now ? [] : [[path, { before: old, after: now }] as const]
    }),
  )
}

function timeOf(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ')
}
