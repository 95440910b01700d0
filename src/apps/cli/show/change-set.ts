/** change-set: change sets for people: which files changed, what is held, and the changed lines. */
import type { LoadedConfig } from '../../../config/index.ts'
import { nameOf } from '../../../machine/files/index.ts'
import {
  appliedFiles,
  type ChangeSet,
  HELD,
  type Records,
  type SetEntry,
  type Side,
} from '../../../machine/changes/index.ts'
import { toSafeLine } from '../../../kernel/index.ts'
import { sandboxOptions } from '../../../local/index.ts'
import { withChangeSets } from '../../../machine/sandbox/index.ts'
import { many } from '../failure.ts'
import type { Terminal } from '../terminal.ts'
import { printDiff } from './diff.ts'

/** A longer file is not read for its lines, so that a large set costs no more than what is shown of it. */
const MAX_SHOWN_BYTES = 256 * 1024
const LISTED = 5

/** A set in short. */
export interface SetInShort {
  readonly id: string
  readonly expiresAt: string
  /** Files and links that are in the workspace. */
  readonly applied: readonly string[]
  /** Places that wait for a person. */
  readonly held: readonly string[]
}

export function inShort({ id, expiresAt }: ChangeSet, entries: readonly SetEntry[]): SetInShort {
  const applied = appliedFiles(entries)
  const held = new Set(entries.filter(({ verdict }) => HELD.includes(verdict)).map(({ unit }) => unit))
  return { id, expiresAt, applied: applied.map(({ path }) => path), held: [...held] }
}

/** The sets of some calls, the oldest first; undefined without a sandbox, which records none. */
export async function setsOfCalls(loaded: LoadedConfig, calls: ReadonlySet<string>): Promise<SetInShort[] | undefined> {
  const { directory } = loaded.workspace
  return withChangeSets(directory, sandboxOptions(loaded), ({ records }) => {
    const sets = records.list().filter(({ call }) => call !== undefined && calls.has(call))
    return Promise.resolve(sets.toReversed().map((set) => inShort(set, records.entries(set.id))))
  })
}

/** Which files changed and what is held, a line each; nothing for no sets. */
export function noteSets(sets: readonly SetInShort[], { note, commandLine }: Terminal): void {
  const [only] = sets
  const command = (...words: readonly string[]): string => commandLine(['changes', ...words])
  const paths = [...new Set(sets.flatMap(({ applied }) => applied))]
  const one = sets.length === 1 && only ? only.id : undefined
  if (paths.length > 0)
    note(
      `Changed ${many(paths.length, 'file')}: ${firstOf(paths)}. To undo it: ${one ? command('undo', one) : command('list')}`,
    )
  const holding = sets.filter(({ held }) => held.length > 0)
  const [first] = holding
  if (!first) return
  const held = [...new Set(holding.flatMap((set) => set.held))]
  const where = holding.length === 1 ? command('keep', first.id) : command('list')
  note(`Held until ${first.expiresAt.slice(0, 10)}: ${firstOf(held)}. To see and take it: ${where}`)
}

function firstOf(paths: readonly string[]): string {
  const more = paths.length - LISTED
  return `${paths.slice(0, LISTED).map(toSafeLine).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Prints what changes in a file, link or mode. The pack is read for this entry alone. */
export function printChange(
  { records, set }: { readonly records: Records; readonly set: ChangeSet },
  entry: SetEntry,
  terminal: Pick<Terminal, 'line' | 'paint'>,
): void {
  const { path, before, after } = entry
  const name = toSafeLine(path)
  const [old, now] = [before, after].map((side) => textOf(records, set, side)?.replace(entry.git ? INDEX : '', ''))
  if (before && after && before.kind === after.kind && before.mode !== after.mode)
    terminal.line(`${name}: mode ${before.mode.toString(8)} → ${after.mode.toString(8)}`)
  if (typeof old === 'string' && typeof now === 'string') {
    if (old !== now) printDiff({ before: old, after: now }, name, terminal)
  } else terminal.line(`${name}: ${[before, after].map(sizeOf).join(' → ')}, no text that can be shown`)
}

function sizeOf(side: Side | undefined): string {
  return side ? `${side.kind} of ${many(side.size, 'byte')}` : 'nothing'
}

/** Lines of the index in what git moved: the files themselves are shown. */
const INDEX = /^"index .*\n/gm

/** Empty for what has no text of its own; undefined for bytes that are not shown. */
function textOf(records: Records, { id }: ChangeSet, side: Side | undefined): string | undefined {
  if (side === undefined || side.kind === 'directory') return ''
  if (side.size > MAX_SHOWN_BYTES) return undefined
  const bytes = bytesOf(records, id, side)
  if (bytes === undefined || bytes.includes(0)) return undefined
  return side.kind === 'link' ? `link to ${nameOf(Buffer.from(bytes))}\n` : new TextDecoder().decode(bytes)
}

function bytesOf(records: Records, id: string, side: Side): Uint8Array | undefined {
  try {
    return records.bytes(id, side)
  } catch {
    // Another process forgot the set meanwhile.
    return undefined
  }
}

/** Whether a path is in a place whose skills are trusted together. */
export function isOfSkills({ path }: SetEntry): boolean {
  return /^skills(?:\/|$)|(?:^|\/)\.[^/]+\/skills(?:\/|$)|(?:^|\/)skill\.md$/i.test(path)
}
