import { createRedactor, isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import { type Config, type LoadedConfig, type Origin, SECRETS } from './config.ts'
import type { PathKey } from './document/read-yaml.ts'
import type { SourceLines } from './document/source-lines.ts'
import { asSecretCommand, isSecretText } from './secrets/places.ts'

const MASK = '[secret]'

/**
 * Whether the dotted path leads to something true: not false, 0, null or blank text. Only own properties count.
 * What skills ask for in `requires.config`. Source: seed 001 §1.4.
 */
export function configTruthy(config: Pick<Config, 'values'>, path: string): boolean {
  let value: JsonValue | undefined = config.values
  for (const key of path.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return false
    value = value[key]
  }
  return typeof value === 'string' ? value.trim() !== '' : Boolean(value)
}

/** The configuration as plain data for people, with every secret blanked: keys, `env` values, and copies of them. */
export function maskConfig(config: Config): JsonObject {
  const { values: _, skills, tools, ...rest } = config
  const plain = {
    ...rest,
    skills: { ...skills, entries: Object.fromEntries(skills.entries) },
    tools: { ...tools.settings, groups: Object.fromEntries(tools.groups) },
  } as unknown as JsonObject
  return maskAll(plain, config)
}

/** The effective settings in the form of a file. */
export interface ExplainedConfig {
  /** All defaults filled in, secrets blanked, one name for each setting. */
  readonly document: JsonObject
  /** Where the value at these keys was written; undefined when the default holds. */
  originOf(keys: readonly (string | number)[]): Origin | undefined
}

/** What holds, and which file and line said so. Never shows a secret, runs nothing. */
export async function explainConfig(loaded: LoadedConfig): Promise<ExplainedConfig> {
  const { explain } = await import('./layers/explain.ts')
  const { document, originOf } = explain(loaded)
  return { document: maskAll(document, loaded.config), originOf }
}

/**
 * The lines of a nexus.yaml for showing beside a finding: what is not known to be harmless is `[hidden]`, comments too.
 * Undefined for a file that was not read.
 */
export async function sourceOf(
  { textOf, secrets }: Pick<LoadedConfig, 'textOf' | 'secrets'>,
  path: string,
): Promise<SourceLines | undefined> {
  const text = textOf(path)
  if (text === undefined) return undefined
  const { shownLines } = await import('./document/source-lines.ts')
  return shownLines(text, secrets)
}

function maskAll(plain: JsonObject, config: Config): JsonObject {
  const secrets: string[] = [...((config as { [SECRETS]?: readonly string[] })[SECRETS] ?? [])]
  const masked = mask(plain, [], secrets) as JsonObject
  return createRedactor(secrets)(masked)
}

function mask(value: JsonValue, keys: readonly PathKey[], secrets: string[]): JsonValue {
  if (Array.isArray(value)) return value.map((item, index) => mask(item, [...keys, index], secrets))
  const command = isSecretText(keys) ? asSecretCommand(value) : undefined
  // Arguments of a program may be secrets themselves.
  if (command !== undefined) return `${MASK} from ${command.command[0] ?? 'a command'}`
  if (isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, mask(member, [...keys, key], secrets)]),
    )
  }
  if (isSecretText(keys) && value !== null) {
    secrets.push(String(value))
    return MASK
  }
  // User and password in an address.
  return typeof value === 'string' ? value.replace(/\/\/[^/@\s]+@/g, `//${MASK}@`) : value
}
