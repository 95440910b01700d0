import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** The variables Nexus knows by name; an empty value counts as not set. */
export const ENVIRONMENT_NAMES = [
  'HOME',
  'NEXUS_HOME',
  'NEXUS_CONFIG',
  'NEXUS_MODEL',
  'NEXUS_STATE_DIR',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'SKILLS_PROMPT_CHAR_BUDGET',
  'SKILLS_REFRESH_ON_CALL',
  'NO_COLOR',
  'FORCE_COLOR',
  'TERM',
  'COLUMNS',
  'CI',
] as const

/** A variable Nexus knows by name. */
export type EnvironmentName = (typeof ENVIRONMENT_NAMES)[number]

/** A frozen copy of the process environment: what Nexus uses by name, and `get` for `${NAME}` in configuration. */
export interface Environment extends Readonly<Partial<Record<EnvironmentName, string>>> {
  readonly HOME: string
  /** Absolute path of the user's Nexus directory: `NEXUS_HOME`, else `~/.nexus`. */
  readonly nexusHome: string
  /** Absolute path of the directory with the state file: `NEXUS_STATE_DIR`, else `<nexusHome>/state`. */
  readonly stateDirectory: string
  /** Any variable as it was when the copy was made; undefined when unset or empty. */
  get(name: string): string | undefined
}

/** Copies the environment once; the only place that reads `process.env`. Tests pass their own variables. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>> = process.env): Environment {
  const copy = new Map(Object.entries(variables).filter((entry): entry is [string, string] => Boolean(entry[1])))
  const named = Object.fromEntries(ENVIRONMENT_NAMES.flatMap((name) => (copy.has(name) ? [[name, copy.get(name)]] : [])))
  const home = copy.get('HOME') ?? homedir()
  const nexusHome = resolve(expandHome(copy.get('NEXUS_HOME') ?? join(home, '.nexus'), home))
  const stateDirectory = resolve(expandHome(copy.get('NEXUS_STATE_DIR') ?? join(nexusHome, 'state'), home))
  return Object.freeze({ ...named, HOME: home, nexusHome, stateDirectory, get: (name: string) => copy.get(name) })
}

/** Replaces a leading `~` or `~/` by the home directory; other text is returned as it is. */
export function expandHome(path: string, home: string): string {
  if (path === '~') return home
  return path.startsWith('~/') ? join(home, path.slice(2)) : path
}
