/** hosts: what a skill's files and earlier commands say about the hosts that it needs. */
import { existsSync } from 'node:fs'
import {
  configKey,
  isJsonObject,
  isNexusError,
  type JsonValue,
  listsHost,
  readHostRule,
  readHostRules,
  type Skill,
  shownHost,
} from '../../../kernel/index.ts'
import { type Inspection, stateFile } from '../../../local/index.ts'
import type { Catalog } from '../../../skills/catalog/index.ts'
import { listFiles, readOfSkill } from '../../../machine/skill-files/index.ts'
import { type Facts, hostsIn, type ProposedHost, type ReadFile } from '../../../skills/diagnose/index.ts'
import type { Invocation } from '../command.ts'
import { openStored } from '../stored.ts'

type Seen = Pick<Inspection, 'loaded' | 'facts'> & { readonly catalog: Catalog }

const SCRIPT = /(?:^|\/)SKILL\.md$|\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|mts|rb|pl|php|go|rs)$|(?:^|\/)[^./]+$/i
const MAX_FILES = 60
const MAX_FILE_BYTES = 256 * 1024
/** Commands that are looked at for hosts that were refused. */
const MAX_CALLS = 300

/** For skills of trusted sources, where commands reach no other machine by themselves. */
export async function hostsNeeded(
  skills: readonly Skill[],
  seen: Seen,
  invocation: Invocation,
): Promise<NonNullable<Facts['hosts']>> {
  const found = new Map<Skill, { key: string; known: readonly string[]; proposed: readonly ProposedHost[] }>()
  const { catalog, facts, loaded } = seen
  const trusted = skills.filter(({ origin }) => origin.trusted)
  if (facts.network !== false || trusted.length === 0) return found
  const refused = await refusedBefore(seen, invocation)
  const { allowedDomains, deniedDomains } = loaded.config.execution.network
  for (const skill of trusted) {
    const key = configKey(skill)
    const known = loaded.config.skills.entries.get(key)?.network ?? []
    const lists = { allowed: readHostRules([...allowedDomains, ...known]), denied: readHostRules(deniedDomains) }
    const named = hostsIn(await filesOf(skill, invocation.signal))
    const before = (refused.get(catalog.addressOf(skill)) ?? []).map((host) => ({ host, from: 'refused before' }))
    const asked = new Set(skill.metadata.requires.network)
    const proposed = [...new Map([...before, ...named].map((each) => [each.host, each])).values()].filter(
      ({ host }) => {
        const rule = readHostRule(host)
        return rule !== undefined && !asked.has(host) && !listsHost(lists, rule)
      },
    )
    if (proposed.length > 0) found.set(skill, { key, known: [...known, ...asked], proposed })
  }
  return found
}

async function filesOf(skill: Skill, signal: AbortSignal): Promise<readonly ReadFile[]> {
  try {
    const { files } = await listFiles(skill, { signal })
    const read: ReadFile[] = []
    for (const { path, size } of files
      .filter((file) => SCRIPT.test(file.path) && file.size <= MAX_FILE_BYTES)
      .slice(0, MAX_FILES)) {
      const { bytes } = await readOfSkill(skill, path, { maxBytes: size + 1, signal })
      if (!bytes.includes(0)) read.push({ path, text: new TextDecoder().decode(bytes) })
    }
    return read.toSorted((a, b) => Number(/SKILL\.md$/i.test(a.path)) - Number(/SKILL\.md$/i.test(b.path)))
  } catch (error) {
    if (!isNexusError(error) || error.code === 'CANCELLED') throw error
    // Another finding says that it cannot be read.
    return []
  }
}

/** Hosts that were refused to commands of each skill, by its address. Nothing is made where nothing was recorded. */
async function refusedBefore(
  { loaded }: Seen,
  invocation: Invocation,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const hosts = new Map<string, string[]>()
  const { type, path } = loaded.config.store
  if (type !== 'sqlite' || !existsSync(path ?? stateFile(invocation.environment))) return hosts
  await using opened = await openStored(invocation)
  for (const { outcome } of await opened.store.ledger.list({ limit: MAX_CALLS })) {
    const { skill, hosts: seen } = outcome?.data ?? {}
    if (typeof skill !== 'string' || !isJsonObject(seen)) continue
    const refused = (Array.isArray(seen['refused']) ? seen['refused'] : []).flatMap(notAllowed)
    hosts.set(skill, [...new Set([...(hosts.get(skill) ?? []), ...refused])])
  }
  return hosts
}

function notAllowed(row: JsonValue): string[] {
  if (!isJsonObject(row) || row['because'] !== 'not-allowed') return []
  return [shownHost({ host: String(row['host']), port: Number(row['port']) })]
}
