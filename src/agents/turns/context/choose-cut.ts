/** choose-cut: which messages are left out, so that loaded skills, pairs of call and answer and the latest task stay. */
import { isJsonObject, type JsonObject } from '../../../kernel/index.ts'
import type { StoredMessage } from '../../../store/index.ts'
import { authorOf } from '../agent-messages.ts'
import { partsOf } from '../stored-message.ts'
import { estimateMessage } from '../tokens.ts'
import { type Cut, type CutBy, cutOf, type Kept, shownMessages } from './cuts.ts'

/** Messages that are left out together: one, or an answer with calls and all their results, or an earlier cut. */
interface Unit {
  readonly from: number
  to: number
  tokens: number
  readonly cut?: Cut
}

/** The names of the loaders on the wire. */
const LOADERS: readonly string[] = ['load_skill', 'Skill', 'skills_load']

/** The part of the target that the beginning may take, for `middle_out`. */
const HEAD = 0.3
/** The part of the target that the texts of skills may take. */
const SKILLS = 0.5

export interface ChosenCut {
  readonly cut: Cut
  /** How many messages the model no longer reads by it. */
  readonly messages: number
  /** Loaded skills whose text is not kept, because there is no room for it. */
  readonly unloaded: readonly string[]
}

/**
 * The cut after which the messages take at most `target` tokens, or as few as possible: the last unit always stays, unless `isAll`.
 * Undefined where nothing is left to cut.
 */
export function chooseCut(
  messages: readonly StoredMessage[],
  { by, target, isAll = false }: { readonly by: CutBy; readonly target: number; readonly isAll?: boolean },
): ChosenCut | undefined {
  const units = unitsOf(messages)
  const first = headOf(units, by, target)
  const head = sum(units.slice(0, first))
  // An earlier cut alone has nothing more to leave out.
  const least = first + (units[first]?.cut ? 2 : 1)
  const most = isAll ? units.length : units.length - 1
  const fits = (end: number, tokens: number): boolean => !isAll && head + tokens + sum(units.slice(end)) <= target
  let best: ChosenCut | undefined
  for (let end = least; end <= most; end++) {
    const range = { from: placeOf(units, first), to: units[end - 1]?.to ?? 0 }
    const { keep, unloaded, tokens } = keptIn(messages, range, target * SKILLS)
    best = { cut: { by, ...range, keep }, messages: countLeft(messages, range, keep), unloaded }
    if (fits(end, tokens)) break
  }
  return best && best.messages > 0 ? best : undefined
}

const placeOf = (units: readonly Unit[], index: number): number => units[index]?.from ?? 0

/** The number of units that stay at the beginning. A summary stays, unless a new one is made. */
function headOf(units: readonly Unit[], by: CutBy, target: number): number {
  if (by === 'compaction') return 0
  let first = units[0]?.cut?.by === 'compaction' ? 1 : 0
  if (by === 'oldest_first') return first
  for (let tokens = sum(units.slice(0, first)); first < units.length - 2; first++) {
    tokens += units[first]?.tokens ?? 0
    if (units[first]?.cut || tokens > target * HEAD) break
  }
  return first
}

function unitsOf(messages: readonly StoredMessage[]): Unit[] {
  const units: Unit[] = []
  let open = 0
  for (const { at, message, cut } of shownMessages(messages)) {
    const last = units.at(-1)
    const tokens = estimateMessage(message)
    if (last && (open > 0 || (cut && last.cut === cut))) {
      last.to = cut ? cut.to : at + 1
      last.tokens += tokens
    } else units.push(cut ? { from: cut.from, to: cut.to, tokens, cut } : { from: at, to: at + 1, tokens })
    if (!cut) open = Math.max(0, open + partsOf(message, 'tool-call').length - partsOf(message, 'tool-result').length)
  }
  return units
}

const sum = (units: readonly Unit[]): number => units.reduce((tokens, unit) => tokens + unit.tokens, 0)

type Range = Pick<Cut, 'from' | 'to'>

/** The loaded skills of the range, the newest first within their room, and the task where no later one follows. */
function keptIn(messages: readonly StoredMessage[], { from, to }: Range, room: number) {
  const keep: Kept[] = []
  const unloaded: string[] = []
  let tokens = 0
  const skills = loadedIn(messages)
  for (const skill of skills.filter((each) => each.call >= from && each.call < to).toReversed()) {
    if (tokens + skill.tokens > room) {
      unloaded.push(skill.name)
      continue
    }
    tokens += skill.tokens
    keep.push({ at: skill.call, calls: [skill.id] }, { at: skill.result, calls: [skill.id] })
  }
  const task = placeOfTask(messages)
  if (task >= from && task < to) {
    keep.push({ at: task })
    tokens += estimateMessage(messages[task] as StoredMessage)
  }
  return { keep: merged(keep), unloaded, tokens }
}

/** The last words of the user; where there are none, the first message of the agent that gave the task. */
function placeOfTask(messages: readonly StoredMessage[]): number {
  const isSaid = (message: StoredMessage): boolean => message.role === 'user' && !cutOf(message)
  const own = messages.findLastIndex((message) => isSaid(message) && authorOf(message) === undefined)
  return own >= 0 ? own : messages.findIndex(isSaid)
}

/** Two calls of one answer are one entry. */
function merged(keep: readonly Kept[]): Kept[] {
  const byPlace = new Map<number, Kept>()
  for (const { at, calls } of keep) {
    const known = byPlace.get(at)?.calls ?? []
    byPlace.set(at, calls ? { at, calls: [...known, ...calls] } : { at })
  }
  return [...byPlace.values()].sort((a, b) => a.at - b.at)
}

interface LoadedSkill {
  readonly name: string
  readonly id: string
  /** Positions of the call and of its result. */
  readonly call: number
  readonly result: number
  readonly tokens: number
}

/** Each skill where it was loaded last with success, the oldest first. */
function loadedIn(messages: readonly StoredMessage[]): LoadedSkill[] {
  const found = new Map<string, LoadedSkill>()
  for (const [call, message] of messages.entries()) {
    for (const part of partsOf(message, 'tool-call').filter(({ toolName }) => LOADERS.includes(String(toolName)))) {
      const id = String(part.toolCallId)
      const result = messages.findIndex((each, at) => at > call && resultOf(each, id) !== undefined)
      const answer = result < 0 ? undefined : resultOf(messages[result] as StoredMessage, id)
      if (!isJsonObject(answer?.output) || answer.output.type !== 'text') continue
      const input = isJsonObject(part.input) ? part.input : {}
      const name = String(input.name ?? input.skill ?? input.command ?? JSON.stringify(input))
      found.delete(name)
      found.set(name, { name, id, call, result, tokens: Math.ceil(JSON.stringify([part, answer]).length / 4) })
    }
  }
  return [...found.values()]
}

function resultOf(message: StoredMessage, id: string): JsonObject | undefined {
  return partsOf(message, 'tool-result').find((part) => part.toolCallId === id)
}

function countLeft(messages: readonly StoredMessage[], { from, to }: Range, keep: readonly Kept[]): number {
  const places = new Set(keep.map(({ at }) => at))
  return messages.slice(from, to).filter((message, index) => !cutOf(message) && !places.has(from + index)).length
}
