/** profiles: agents in files of their own, `agents/<id>.yaml` in the user's directory and in `.nexus` of a workspace. */
import { basename, join } from 'node:path'
import type { JsonObject } from '../kernel/index.ts'
import { namesIn } from '../machine/files/index.ts'
import type { Layer } from './config.ts'
import type { Path } from './document/path.ts'
import { nameOf } from './document/shown-key.ts'
import { CONFIG_DEFAULTS } from './schema/defaults.ts'
import type { ConfigDocument } from './schema/schema.ts'

const SUFFIX = '.yaml'
/** In a workspace; the user's own are below a directory that a variable may name. */
const IN_WORKSPACE = /[/\\]\.nexus[/\\]agents[/\\][^/\\]+\.yaml$/
/** Files that one directory may have: a workspace is not trusted to have few. */
export const MAX_PROFILES = 100

/** Paths of the profiles of one directory, by name; those beyond the limit are left out, which `hasMore` says. */
export function profilesIn(directory: string): { readonly paths: readonly string[]; readonly hasMore: boolean } {
  const names = namesIn(directory).filter((name) => name.endsWith(SUFFIX) && !name.startsWith('.'))
  const paths = names.toSorted().map((name) => join(directory, name))
  return { paths: paths.slice(0, MAX_PROFILES), hasMore: paths.length > MAX_PROFILES }
}

/** Whether a file of a workspace is a profile. */
export function isProfilePath(path: string): boolean {
  return IN_WORKSPACE.test(path)
}

/** A profile in the form of a nexus.yaml: one agent, called as its file unless it says `id`. */
export function fromProfile(value: JsonObject, path: string): JsonObject {
  return { agents: [{ id: basename(path, SUFFIX), ...value }] }
}

/** Where a setting of that form is in the file of the profile. */
export function inProfile([section, , ...keys]: Path): Path {
  return section === 'agents' ? keys : []
}

/** How a file calls its settings: a profile has no `agents[0]`. */
export function nameIn({ isProfile = false }: { readonly isProfile?: boolean }): (path: Path) => string {
  return isProfile ? (path) => nameOf(inProfile(path)) || 'This agent' : nameOf
}

/** The agents with those of profiles last: the first one is the default, and a profile never becomes it by its mere presence. */
export function withProfilesLast(document: ConfigDocument, layers: readonly Layer[]): ConfigDocument {
  const { agents = [] } = document
  const profiles = new Set(layers.filter(({ isProfile }) => isProfile).flatMap(idsIn))
  if (profiles.size === 0) return document
  const others = new Set(layers.filter(({ isProfile }) => !isProfile).flatMap(idsIn))
  const first = others.size > 0 ? others : new Set<string>([CONFIG_DEFAULTS.agentId])
  const main = others.size === 0 && !profiles.has(CONFIG_DEFAULTS.agentId) ? [{ id: CONFIG_DEFAULTS.agentId }] : []
  const isFirst = ({ id }: { readonly id: string }): boolean => first.has(id)
  return { ...document, agents: [...main, ...agents.filter(isFirst), ...agents.filter((agent) => !isFirst(agent))] }
}

/** The file that has an agent of that id already, for a clash. */
export function fileWithAgent(id: string, layers: readonly Layer[]): string | undefined {
  return layers.find((layer) => idsIn(layer).includes(id))?.path
}

function idsIn({ document }: Layer): string[] {
  const { agents = [] } = document as ConfigDocument
  return agents.flatMap((agent) => (agent as typeof agent | undefined)?.id ?? [])
}
