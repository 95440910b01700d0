import { createRedactor, isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import { type Config, type LoadedConfig, type Origin, SECRETS } from './config.ts'
import type { SourceLines } from './document/source-lines.ts'
import { maskValue, type Shown } from './secrets/mask.ts'

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

/**
 * The configuration as plain data for people. Secrets are `[secret]`, and whatever else might be one (addresses, free settings,
 * arguments) is `[hidden]`, as in the lines of `sourceOf`. `explainConfig` shows more.
 */
export function maskConfig(config: Config): JsonObject {
  const { values: _, skills, tools, ...rest } = config
  const plain = {
    ...rest,
    skills: { ...skills, entries: Object.fromEntries(skills.entries) },
    tools: { ...tools.settings, groups: Object.fromEntries(tools.groups) },
  } as unknown as JsonObject
  return maskAll(plain, config, 'harmless')
}

/** The effective settings in the form of a file. */
export interface ExplainedConfig {
  /** All defaults filled in, secrets blanked, one name for each setting. */
  readonly document: JsonObject
  /** Where the value at these keys was written; undefined when the default holds. */
  originOf(keys: readonly (string | number)[]): Origin | undefined
}

/**
 * What holds, and which file and line said so; runs nothing. Secrets are blanked by place, by name in free settings, in addresses (user,
 * password, values of the query), and where they look like the key of a service.
 */
export async function explainConfig(loaded: LoadedConfig): Promise<ExplainedConfig> {
  const { explain } = await import('./layers/explain.ts')
  const { document, originOf } = explain(loaded)
  const masked = maskAll(document, loaded.config, 'known')
  return { document: masked, originOf: (keys) => originOf(writtenKeys(keys, masked, document)) }
}

/** The keys as they were written, of keys as they are shown: a secret among them is blanked, and stands where it stood. */
function writtenKeys(keys: readonly (string | number)[], shown: JsonValue, written: JsonValue): (string | number)[] {
  let [from, to]: (JsonValue | undefined)[] = [shown, written]
  return keys.map((key) => {
    const own = isJsonObject(from) && isJsonObject(to) ? Object.keys(to)[Object.keys(from).indexOf(String(key))] : key
    from = isJsonObject(from) ? from[key] : Array.isArray(from) ? from[Number(key)] : undefined
    to = isJsonObject(to) ? to[own ?? key] : Array.isArray(to) ? to[Number(key)] : undefined
    return own ?? key
  })
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

function maskAll(plain: JsonObject, config: Config, shown: Shown): JsonObject {
  const secrets: string[] = [...((config as { [SECRETS]?: readonly string[] })[SECRETS] ?? [])]
  const masked = maskValue(plain, { shown, secrets }) as JsonObject
  return createRedactor(secrets)(masked)
}
