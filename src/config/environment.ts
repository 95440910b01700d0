import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Our names for the variables Nexus knows. */
const VARIABLES = {
  configPath: 'NEXUS_CONFIG',
  model: 'NEXUS_MODEL',
  openaiApiKey: 'OPENAI_API_KEY',
  openaiBaseUrl: 'OPENAI_BASE_URL',
  anthropicApiKey: 'ANTHROPIC_API_KEY',
  anthropicBaseUrl: 'ANTHROPIC_BASE_URL',
  skillsPromptCharBudget: 'SKILLS_PROMPT_CHAR_BUDGET',
  skillsRefreshOnCall: 'SKILLS_REFRESH_ON_CALL',
  // Conventions of terminals, under their own names.
  NO_COLOR: 'NO_COLOR',
  FORCE_COLOR: 'FORCE_COLOR',
  TERM: 'TERM',
} as const

type Named = Readonly<Partial<Record<keyof typeof VARIABLES, string>>>

/** A frozen copy of the process environment; a variable that is unset or empty is absent. */
export interface Environment extends Named {
  readonly home: string
  /** Absolute path of the user's Nexus directory: `NEXUS_HOME`, else `~/.nexus`. */
  readonly nexusHome: string
  /** Absolute path of the directory with the state file: `NEXUS_STATE_DIR`, else `<nexusHome>/state`. */
  readonly stateDirectory: string
  /** Any variable as it was when the copy was made, for `${NAME}` in configuration. */
  get(name: string): string | undefined
}

/** Copies the environment once; the only place that reads `process.env`. Tests pass their own variables. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>> = process.env): Environment {
  const copy = new Map(Object.entries(variables).filter((entry): entry is [string, string] => Boolean(entry[1])))
  const named: Record<string, string> = {}
  for (const [ours, name] of Object.entries(VARIABLES)) {
    const value = copy.get(name)
    if (value !== undefined) named[ours] = value
  }
  const home = copy.get('HOME') ?? homedir()
  const nexusHome = resolve(expandHome(copy.get('NEXUS_HOME') ?? join(home, '.nexus'), home))
  const stateDirectory = resolve(expandHome(copy.get('NEXUS_STATE_DIR') ?? join(nexusHome, 'state'), home))
  return Object.freeze({ ...named, home, nexusHome, stateDirectory, get: (name: string) => copy.get(name) })
}

/** Replaces a leading `~` or `~/` by the home directory; other text is returned as it is. */
export function expandHome(path: string, home: string): string {
  if (path === '~') return home
  return path.startsWith('~/') ? join(home, path.slice(2)) : path
}
