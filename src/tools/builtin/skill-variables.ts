import { CLIENT_BLOCKS, isJsonObject, type JsonValue, ownValue, type Skill } from '../../kernel/index.ts'

/** What the configuration contains for the commands of one skill: `skills.entries.<key>`. Names only; values are secrets. */
export interface ConfiguredVariables {
  /** Names of `env`. */
  readonly env: readonly string[]
  readonly hasApiKey: boolean
}

/** What becomes of one configured variable. */
export interface VariableVerdict {
  readonly name: string
  /** The key of the entry that contains its value. */
  readonly from: 'apiKey' | 'env'
  /** `set`: the sandbox sets it already. `undeclared`: the skill does not say that it uses it. */
  readonly verdict: 'given' | 'set' | 'refused' | 'undeclared'
  /** Completes "the variable is not given: it …"; absent when it is given. */
  readonly why?: string
}

/** What the verdicts depend on besides. */
export interface VariableGround {
  /** Whether the sandbox sets that variable for every command. */
  readonly isSet: (name: string) => boolean
  /** Why no command may be given that variable; undefined when it may. */
  readonly refused: (name: string) => string | undefined
}

/**
 * Which of the configured variables the commands of a skill get: those it declares, that are not refused, and that nothing sets already.
 * `apiKey` gives the `primaryEnv` and for nothing else; `env` goes before it. The skill must be a trusted copy: that is the caller's business.
 * Source: decisions, "env injection".
 */
export function judgeVariables(
  skill: Skill,
  { env, hasApiKey }: ConfiguredVariables,
  ground: VariableGround,
): readonly VariableVerdict[] {
  if (env.length === 0 && !hasApiKey) return []
  const declared = new Set(declaredVariables(skill))
  const { primaryEnv } = skill.metadata
  const verdicts = env.map((name) => judge({ name, from: 'env' }, { declared, ground }))
  if (!hasApiKey || primaryEnv === undefined || env.includes(primaryEnv)) return verdicts
  return [...verdicts, judge({ name: primaryEnv, from: 'apiKey' }, { declared, ground })]
}

function judge(
  of: Pick<VariableVerdict, 'name' | 'from'>,
  { declared, ground }: { declared: ReadonlySet<string>; ground: VariableGround },
): VariableVerdict {
  const refused = ground.refused(of.name)
  if (refused !== undefined) return { ...of, verdict: 'refused', why: refused }
  if (!declared.has(of.name)) return { ...of, verdict: 'undeclared', why: 'is not declared by the skill' }
  if (ground.isSet(of.name)) return { ...of, verdict: 'set', why: 'is set by the sandbox already' }
  return { ...of, verdict: 'given' }
}

/** The variables that a skill says it uses: `primaryEnv`, `requires.env`, and `envVars` (names, or maps with a `name`) of its metadata. */
export function declaredVariables({ metadata, frontmatter }: Skill): readonly string[] {
  const { primaryEnv, requires } = metadata
  const block = ownValue(frontmatter, 'metadata')
  const places = isJsonObject(block) ? [block, ...CLIENT_BLOCKS.map((name) => ownValue(block, name))] : []
  const optional = places.flatMap((place) => (isJsonObject(place) ? namesIn(ownValue(place, 'envVars')) : []))
  return [...new Set([...(primaryEnv === undefined ? [] : [primaryEnv]), ...requires.env, ...optional])]
}

function namesIn(value: JsonValue | undefined): string[] {
  if (!Array.isArray(value)) return []
  const items: readonly JsonValue[] = value
  return items
    .map((item) => (isJsonObject(item) ? ownValue(item, 'name') : item))
    .filter((name) => typeof name === 'string')
    .map((name) => name.trim())
}
