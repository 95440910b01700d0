/** entries: `skills.entries` of nexus.yaml as names for gating, values for commands of skills, and findings for its author. */
import { type Config, type LoadedConfig, type Secrets, type SkillEntry } from '../config/index.ts'
import type { EntryRules, GateRules } from '../skills/gate/index.ts'
import { type Diagnostic, MIN_SECRET_CHARS, readHostRules, toSafeLine } from '../kernel/index.ts'
import { ENTRIES, placed, type SettingFinding } from './messages.ts'
import { refusedVariable } from '../machine/sandbox/index.ts'
import type { SkillEntryValues } from '../tools/index.ts'

/** Facts about the entries for gating: names, and values that cannot be had. */
export function entryRules({ skills }: Config): Pick<GateRules, 'entries' | 'refusedVariable'> {
  return { entries: new Map([...skills.entries].map(([key, entry]) => [key, toRules(key, entry)])), refusedVariable }
}

function toRules(key: string, { hasApiKey, env, enabled, broken, network, setup }: SkillEntry): EntryRules {
  // A variable that is empty counts as missing, as everywhere.
  const names = Object.entries(env).filter(([, value]) => value !== '')
  return {
    hasApiKey,
    env: new Set(names.map(([name]) => name)),
    enabled,
    setup,
    hosts: readHostRules(network),
    broken: new Map(broken.map(({ at, problem, fix }) => [at, `skills.entries.${key}.${at} ${problem}. ${fix}`])),
  }
}

/** The values, read when a command needs them: a program that gives an `apiKey` is run only then, and once. */
export function entryValues(
  { skills }: Config,
  secrets: Pick<Secrets, 'read'>,
): (key: string) => SkillEntryValues | undefined {
  return (key) => {
    const entry = skills.entries.get(key)
    if (!entry) return undefined
    // The signal of one command must not end the reading that others wait for as well; it has a time limit of its own.
    const apiKey = (): Promise<string | undefined> => secrets.read(['skills', 'entries', key, 'apiKey'])
    const { env, hasApiKey, network, setup, keyHosts } = entry
    const masked = entry.isMasked === true && { maskedFor: readHostRules(keyHosts ?? []) }
    return { env, apiKey: hasApiKey ? apiKey : undefined, hosts: readHostRules(network), setup, ...masked }
  }
}

/** Variables that no command will ever get, and secrets too short to be hidden, each with its place. */
export async function readEntries(loaded: LoadedConfig): Promise<readonly Diagnostic[]> {
  const { skills, agents, execution } = loaded.config
  const found = [
    ...[...skills.entries].flatMap(([key, entry]) => [
      ...addressAsKey(key),
      ...findingsOf(key, entry),
      ...masksOf(key, entry, execution.sandbox),
    ]),
    ...agents.flatMap((agent, index) => (agent.skills ?? []).flatMap((item, at) => twinInList(item, [index, at]))),
  ]
  return placed(found, loaded)
}

/** Entries go by name or `skillKey`, so that what is configured for a skill does not depend on where it lies. */
function addressAsKey(key: string): SettingFinding[] {
  const name = key.slice(key.lastIndexOf('/') + 1)
  if (name === key || name === '') return []
  // The address of a service may hold a password.
  const keys = ['skills', 'entries', key]
  if (key.includes('://')) return [{ ...ENTRIES.serviceAddress(), keys }]
  return [{ ...ENTRIES.address({ key, name }), keys }]
}

/** `source/name~2` is an address that moves, and no allow-list knows it. */
function twinInList(item: string, [index, at]: readonly [agent: number, item: number]): SettingFinding[] {
  const address = /^(.*\/[^/]+)~\d+$/.exec(item.trim())?.[1]
  if (address === undefined) return []
  const words = ENTRIES.numberedCopy({ setting: `agents[${index}].skills`, item: toSafeLine(item), address })
  return [{ ...words, keys: ['agents', index, 'skills', at] }]
}

function isShort(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value.length < MIN_SECRET_CHARS
}

function findingsOf(key: string, { env, apiKey, isMasked }: SkillEntry): SettingFinding[] {
  const place = ['skills', 'entries', key]
  const refused = Object.keys(env).flatMap((name): SettingFinding[] => {
    const why = refusedVariable(name)
    if (why === undefined) return []
    const words = ENTRIES.refusedVariable({ setting: `${place.join('.')}.env.${name}`, why })
    return [{ ...words, keys: [...place, 'env', name] }]
  })
  const values = isMasked === true ? Object.entries(env).map(([name, value]) => [['env', name], value] as const) : []
  const short = [...values, [['apiKey'], apiKey] as const].filter(([, value]) => isShort(value))
  const words = isMasked === true ? ENTRIES.shortMask : ENTRIES.shortSecret
  return [
    ...refused,
    ...short.map(([at]) => {
      const keys = [...place, ...at]
      return { ...words({ setting: keys.join('.') }, MIN_SECRET_CHARS), keys }
    }),
  ]
}

/** Names of keys with which clients sign, and which they send to no server. */
const SIGNING = /^AWS_(?:SECRET_ACCESS_KEY|ACCESS_KEY_ID|SESSION_TOKEN)$|PRIVATE_KEY|SIGNING|HMAC|JWT|CERTIFICATE/i

function masksOf(key: string, entry: SkillEntry, sandbox: Config['execution']['sandbox']): SettingFinding[] {
  if (entry.isMasked !== true) return []
  const [keys, name] = [['skills', 'entries', key, 'credentials'], `skills.entries.${toSafeLine(key)}`]
  const unused = sandbox === 'none' ? [ENTRIES.maskWithoutSandbox({ entry: name })] : []
  const { env, network, keyHosts = [] } = entry
  const hostless = sandbox !== 'none' && keyHosts.length === 0 ? [ENTRIES.maskWithoutHost({ entry: name })] : []
  const signers = Object.keys(env).filter((variable) => SIGNING.test(variable))
  const signing = signers.map((variable) => ENTRIES.maskOfSigner({ entry: name, name: variable }))
  const others = [...network.entries()].filter(([, host]) => !keyHosts.includes(host))
  return [
    ...[...unused, ...hostless, ...signing].map((words) => ({ ...words, keys })),
    ...others.map(([index, host]) => ({
      ...ENTRIES.maskForWorkspace({ entry: name, host: toSafeLine(host) }),
      keys: ['skills', 'entries', key, 'network', index],
    })),
  ]
}
