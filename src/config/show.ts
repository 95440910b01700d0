import { createRedactor, isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import { type Config, SECRETS } from './config.ts'

const MASK = '[secret]'
const SECRET_KEYS = ['apiKey', 'auth']

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
  const secrets: string[] = [...((config as { [SECRETS]?: readonly string[] })[SECRETS] ?? [])]
  const masked = mask(plain, [], secrets) as JsonObject
  return createRedactor(secrets)(masked)
}

function mask(value: JsonValue, keys: readonly string[], secrets: string[]): JsonValue {
  if (Array.isArray(value)) return value.map((item) => mask(item, keys, secrets))
  if (isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, mask(member, [...keys, key], secrets)]),
    )
  }
  if (typeof value !== 'string') return value
  if (SECRET_KEYS.includes(keys.at(-1) ?? '') || (keys[1] === 'entries' && keys[3] === 'env')) {
    secrets.push(value)
    return MASK
  }
  // User and password in an address.
  return value.replace(/\/\/[^/@\s]+@/g, `//${MASK}@`)
}
