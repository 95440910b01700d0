import { errorOf, MESSAGES } from './messages.ts'

export interface SkillTurn {
  readonly agentId: string
  readonly sessionId?: string | undefined
  readonly turnId?: string | undefined
}

/** A skill within a turn: its address, and its name for messages. */
export interface StackedSkill {
  readonly address: string
  readonly name: string
}

/** Remembers for each turn which skill's instructions asked for which. Bounded: the turns not used for longest are forgotten. */
export interface SkillStacks {
  /**
   * Notes that `skill` is about to be loaded because `calledBy` asks for it.
   * Throws INVALID_ARGUMENT when `calledBy` was not loaded in this turn, for a cycle, and beyond 5 skills.
   */
  enter(turn: SkillTurn, skill: StackedSkill, calledBy?: StackedSkill): SkillEntry
  /** Skills that the agent loaded in the session of that turn, at each place where it was, the latest last; without session only in the turn itself. */
  loadedIn(turn: SkillTurn): readonly LoadedInSession[]
  /** Addresses of the skills that were loaded in that very turn; none without a turn. */
  loadedInTurn(turn: SkillTurn): readonly string[]
  /** Takes what `loadedIn` gave in an earlier process; ignored for a session that is known here. */
  recall(turn: SkillTurn, loaded: readonly LoadedInSession[]): void
}

export interface SkillEntry {
  /** Names from the first skill to this one. */
  readonly stack: readonly string[]
  /** To be called when it was loaded: from then on it may ask for others, and commands may be run for it. */
  readonly loaded: (baseDir: string, treeDigest: string) => void
}

/** A skill that was loaded in some turn of a session, and where its commands see it. */
export interface LoadedInSession extends StackedSkill {
  readonly baseDir: string
  readonly treeDigest: string
}

/** Source: decisions, "skill loads skill". */
const MAX_DEPTH = 5
const MAX_TURNS = 500
const MAX_SKILLS_PER_TURN = 100
const MAX_LISTED = 20
/** A skill that is edited is placed anew with each edit. */
const MAX_PLACES = 20

interface Node extends StackedSkill {
  /** The longest way to it by which it was asked for, from the first skill to its caller. */
  above: readonly StackedSkill[]
  isLoaded: boolean
  /** Where its commands saw it, each time it was loaded, with the revision; the latest last. */
  readonly places: Map<string, string>
}
type Turn = Map<string, Node>

export function createSkillStacks(): SkillStacks {
  const turns = new Map<string, Turn>()

  /** The turn, moved to the end of the line of those that may be forgotten. */
  function turnOf(key: string): Turn {
    const turn: Turn = turns.get(key) ?? new Map()
    turns.delete(key)
    turns.set(key, turn)
    const [oldest] = turns.keys()
    if (turns.size > MAX_TURNS && oldest !== undefined) turns.delete(oldest)
    return turn
  }

  return {
    enter(turn, skill, calledBy) {
      const key = keyOf(turn)
      if (key === undefined) {
        if (!calledBy) return { stack: [skill.name], loaded: () => undefined }
        throw errorOf('INVALID_ARGUMENT', MESSAGES.outsideTurn(calledBy.name, skill.name))
      }
      const nodes = turnOf(key)
      const above = calledBy ? wayTo(callerOf(nodes, calledBy), skill) : []
      const node = nodes.get(skill.address) ?? newNode(skill)
      if (nodes.size < MAX_SKILLS_PER_TURN) nodes.set(skill.address, node)
      if (above.length > node.above.length) node.above = above
      return {
        stack: [...above, node].map(({ name }) => name),
        loaded: (baseDir, treeDigest) => {
          node.isLoaded = true
          place(node, baseDir, treeDigest)
        },
      }
    },
    loadedIn(turn) {
      const session = sessionOf(turn)
      if (session === undefined) return []
      const nodes = [...turns]
        .filter(([key]) => key.startsWith(session))
        .flatMap(([, turnNodes]) => [...turnNodes.values()])
      const found = new Map<string, LoadedInSession>()
      for (const { address, name, places } of nodes) {
        for (const [baseDir, treeDigest] of places) {
          const placeKey = JSON.stringify([address, baseDir])
          found.delete(placeKey)
          found.set(placeKey, { address, name, baseDir, treeDigest })
        }
      }
      return [...found.values()]
    },
    loadedInTurn(turn) {
      const nodes = turn.turnId === undefined ? undefined : turns.get(keyOf(turn) ?? '')
      return [...(nodes?.values() ?? [])].filter(({ isLoaded }) => isLoaded).map(({ address }) => address)
    },
    recall(turn, loaded) {
      const key = keyOf({ ...turn, turnId: undefined })
      if (key === undefined || this.loadedIn(turn).length > 0) return
      const nodes = turnOf(key)
      for (const { address, name, baseDir, treeDigest } of loaded.slice(-MAX_SKILLS_PER_TURN)) {
        const node = nodes.get(address) ?? newNode({ address, name })
        nodes.set(address, node)
        place(node, baseDir, treeDigest)
      }
    },
  }
}

function newNode(skill: StackedSkill): Node {
  return { ...skill, above: [], isLoaded: false, places: new Map() }
}

function place({ places }: Node, baseDir: string, treeDigest: string): void {
  places.delete(baseDir)
  const [oldest] = places.keys()
  if (places.size >= MAX_PLACES && oldest !== undefined) places.delete(oldest)
  places.set(baseDir, treeDigest)
}

/** A turn belongs to a session; a caller that has only one of the two is served all the same. */
function keyOf({ agentId, sessionId, turnId }: SkillTurn): string | undefined {
  if (sessionId === undefined && turnId === undefined) return undefined
  return JSON.stringify([agentId, sessionId ?? null, turnId ?? null])
}

/** The beginning of the keys of all turns of a session; without session the key of the turn itself. */
function sessionOf(turn: SkillTurn): string | undefined {
  const { agentId, sessionId } = turn
  return sessionId === undefined ? keyOf(turn) : JSON.stringify([agentId, sessionId]).replace(/]$/, ',')
}

/** The copy that was loaded in this turn, also when its name has come to mean another one since. */
function callerOf(nodes: Turn, { address, name }: StackedSkill): Node {
  const loaded = [...nodes.values()].filter(({ isLoaded }) => isLoaded)
  const caller = loaded.find((node) => node.address === address) ?? loaded.findLast((node) => node.name === name)
  if (caller) return caller
  const names = loaded.slice(-MAX_LISTED).map((node) => node.name)
  throw errorOf('INVALID_ARGUMENT', MESSAGES.callerNotLoaded(name, names))
}

/** From the first skill to the caller. Throws when the skill is on the way, or when the way is long enough. */
function wayTo(caller: Node, skill: StackedSkill): readonly StackedSkill[] {
  const above = [...caller.above, caller]
  const from = above.findIndex(({ address }) => address === skill.address)
  const names = [...above.slice(Math.max(0, from)), skill].map(({ name }) => name)
  if (from >= 0) throw errorOf('INVALID_ARGUMENT', MESSAGES.circle(names, skill.name))
  if (above.length >= MAX_DEPTH) throw errorOf('INVALID_ARGUMENT', MESSAGES.tooDeep(names, MAX_DEPTH))
  return above
}
