/** How the index of one agent's skills is written, from the tools that the agent may call. */
import { type Catalog, type IndexOptions, type PromptIndex, renderIndex, toSkillUri } from '../skills/catalog/index.ts'
import type { Store } from '../store/index.ts'
import type { Parts } from './types.ts'

export interface PromptIndexParts extends Pick<Parts, 'surface' | 'prompt'> {
  readonly catalog: Catalog
  /** Names of the tools that exist and that policy does not deny whatever their arguments are. */
  readonly tools: readonly string[]
  /** A confined command cannot see the host's path of a skill, so the model is given its address instead. */
  readonly isConfined: boolean
  /** In how many recent sessions each skill was loaded, by address; absent = none was. */
  readonly uses?: ReadonlyMap<string, number>
}

/** Tools that the model sees only when the surface names them, or, for `find_skills`, when the index is cut. */
export const SKILL_TOOLS = ['load_skill', 'read_skill_file', 'Skill', 'find_skills']
export const DEFAULT_SURFACE = ['load_skill', 'read_skill_file']

/** An agent with only these tools cannot read a skill. */
const READS_NO_FILE = ['status', 'sleep', 'web_fetch', 'web_search', 'list_directory', 'write_file']

/** The index, and the tools that it names; `loadTool` is false when the agent has none. */
export interface AgentIndex {
  readonly loadTool: 'Skill' | 'load_skill' | false
  readonly tools: Pick<IndexOptions, 'loadTool' | 'readTool'>
  readonly index: PromptIndex
}

export function createPromptIndex(parts: PromptIndexParts): AgentIndex {
  const { catalog, tools: usable, surface = DEFAULT_SURFACE, prompt, isConfined, uses } = parts
  const isOffered = (tool: string): boolean => surface.includes(tool) && usable.includes(tool)
  const loadTool: AgentIndex['loadTool'] = (['Skill', 'load_skill'] as const).find(isOffered) ?? false
  const readTool = loadTool === false ? readToolOf(parts, isOffered) : undefined
  const tools: AgentIndex['tools'] = { loadTool, readTool }
  const index = renderIndex(catalog, {
    usesOf: uses && ((skill) => uses.get(catalog.addressOf(skill)) ?? 0),
    ...prompt,
    style: loadTool === 'Skill' ? 'list' : prompt?.style,
    ...tools,
    findTool: usable.includes('find_skills') && 'find_skills',
    location: isConfined ? (skill) => toSkillUri(catalog.addressOf(skill)) : true,
  })
  return { loadTool, tools, index }
}

/** How it reads SKILL.md when no tool loads it: a name, false for not at all, undefined where it depends on the agent's own tools. */
function readToolOf(
  { tools, isConfined }: PromptIndexParts,
  isOffered: (tool: string) => boolean,
): 'read_skill_file' | false | undefined {
  if (isOffered('read_skill_file')) return 'read_skill_file'
  const others = tools.filter((tool) => !SKILL_TOOLS.includes(tool) && !READS_NO_FILE.includes(tool))
  return isConfined || others.length === 0 ? false : undefined
}

/** Sessions whose loaded skills are counted, those used last first. */
const COUNTED_SESSIONS = 100

/** In how many recent sessions of this scope each skill was loaded, by address. Empty when the store fails: its next write reports that. */
export async function countUses(
  { sessions }: Pick<Store, 'sessions'>,
  scope: string | undefined,
): Promise<ReadonlyMap<string, number>> {
  const uses = new Map<string, number>()
  for (const { loaded } of await sessions.list({ limit: COUNTED_SESSIONS, scope }).catch(() => []))
    for (const address of new Set(loaded.map((skill) => skill.address))) uses.set(address, (uses.get(address) ?? 0) + 1)
  return uses
}
