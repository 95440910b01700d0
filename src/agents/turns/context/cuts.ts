/** cuts: which messages of a history the model no longer reads. A cut is a message of the history: the whole of it stays in the store. */
import { isJsonObject, type JsonObject } from '../../../kernel/index.ts'
import type { StoredMessage } from '../../../store/index.ts'
import { notesOf } from '../stored-message.ts'

/** How messages were left out. */
export type CutBy = 'oldest_first' | 'middle_out' | 'compaction'

/** A message in a cut that is read all the same; of an answer with calls, and of their results, only those of `calls`. */
export type Kept = { readonly at: number; readonly calls?: readonly string[] }

/** Positions are of the stored history, from 0; `to` is the first after the cut. */
export type Cut = { readonly by: CutBy; readonly from: number; readonly to: number; readonly keep: readonly Kept[] }

/** The cut as a message: `text` is read in place of its messages. */
export function cutMessage(cut: Cut, text: string): StoredMessage {
  return {
    role: 'user',
    content: text,
    providerOptions: { nexus: { cut: { ...cut, keep: [...cut.keep] } as unknown as JsonObject } },
  }
}

/** The cut that a message records; undefined for any other message. */
export function cutOf(message: StoredMessage): Cut | undefined {
  const { cut } = notesOf(message)
  return isJsonObject(cut) ? (cut as unknown as Cut) : undefined
}

/** One message as the model reads it, with its place in the history. */
export interface ShownMessage {
  readonly at: number
  readonly message: StoredMessage
  /** The cut that it belongs to: its text, or a message that the cut keeps. */
  readonly cut?: Cut
}

/** The history without what is cut. A later cut replaces those that it overlaps. */
export function shownMessages(messages: readonly StoredMessage[]): ShownMessage[] {
  const cuts = cutsOf(messages)
  const shown: ShownMessage[] = []
  let open: Cut | undefined
  for (const [at, message] of messages.entries()) {
    const begins = cuts.get(at)
    if (begins) shown.push({ at, ...begins })
    if (begins || (open && at >= open.to)) open = begins?.cut
    if (!cutOf(message)) shown.push(...shownIn(open, at, message))
  }
  return shown
}

function shownIn(open: Cut | undefined, at: number, message: StoredMessage): ShownMessage[] {
  if (!open) return [{ at, message }]
  const kept = open.keep.find((each) => each.at === at)
  return kept ? [{ at, cut: open, message: partOf(message, kept) }] : []
}

interface RecordedCut {
  readonly cut: Cut
  readonly message: StoredMessage
}

/** The cuts that count, by the place where they begin. */
function cutsOf(messages: readonly StoredMessage[]): ReadonlyMap<number, RecordedCut> {
  const recorded = messages.flatMap((message): RecordedCut[] => {
    const cut = cutOf(message)
    return cut ? [{ cut, message }] : []
  })
  const counting = recorded.filter(({ cut }, at) => !recorded.slice(at + 1).some((later) => overlap(cut, later.cut)))
  return new Map(counting.map((each) => [each.cut.from, each]))
}

function overlap(a: Cut, b: Cut): boolean {
  return a.to > b.from && a.from < b.to
}

/** The calls, or the results, that are kept of a message. */
function partOf(message: StoredMessage, { calls }: Kept): StoredMessage {
  const { content } = message
  if (!calls || !Array.isArray(content)) return message
  return {
    ...message,
    content: content.filter((part) => isJsonObject(part) && calls.includes(String(part.toolCallId))),
  }
}
