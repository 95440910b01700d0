import { userPlaces, type UserPlaces } from './home.ts'

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
  FORCE_COLOR: 'FORCE_COLOR',
  TERM: 'TERM',
} as const

type Named = Readonly<Partial<Record<keyof typeof VARIABLES, string>>>

/**
 * A frozen copy of the process environment; a variable that is unset or empty is absent. Its places are never relative to where
 * the process was started, and throw CONFIG_INVALID when no variable says where they are.
 */
export interface Environment extends Named, UserPlaces {
  /** The account that asks for the configuration, and how. */
  readonly caller: Caller
  /** Any variable as it was when the copy was made, for `${NAME}` in configuration. */
  get(name: string): string | undefined
  /** Whether a variable is set, be it to nothing. */
  isSet(name: string): boolean
}

/** The command line of this process, for fixes that repeat it; a library has none. */
export interface Caller {
  /** Without Node and the script. */
  readonly argv?: readonly string[]
  /** Root uses files of other accounts: the user said `--as-root`. */
  readonly asRoot?: boolean
}

/** Copies the environment once; the only place that reads `process.env`. Tests pass their own variables. Never throws. */
export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>> = process.env,
  caller: Caller = {},
): Environment {
  const copy = new Map(Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined))
  const get = (name: string): string | undefined => copy.get(name) || undefined
  const named: Record<string, string> = {}
  for (const [ours, name] of Object.entries(VARIABLES)) {
    const value = get(name)
    if (value !== undefined) named[ours] = value
  }
  const places = userPlaces(get)
  return Object.freeze({
    ...named,
    caller,
    get home() {
      return places.home
    },
    get nexusHome() {
      return places.nexusHome
    },
    get stateDirectory() {
      return places.stateDirectory
    },
    get,
    isSet: (name: string) => copy.has(name),
  })
}
