/** trusted-settings: which settings of a workspace's file the user trusted, and which of those in the file now are not among them. */
import { commandFix, isJsonObject, type JsonValue, sha256 } from '../kernel/index.ts'
import { checkDocument } from './document/check-document.ts'
import type { Finding } from './document/finding.ts'
import { parseSettings } from './document/parse.ts'
import { type Path } from './document/path.ts'
import { nameOf } from './document/shown-key.ts'
import { holdsTightening } from './schema/walk.ts'
import { findWidening, pointerTo, type Widening } from './layers/widening.ts'
import { STRICTER } from './messages.ts'
import { fromProfile, isProfilePath, nameIn } from './profiles.ts'
import type { ConfigDocument } from './schema/schema.ts'

/** Each setting of one file that may widen what is allowed, as a JSON pointer, with the `sha256:…` of its value as written. */
export type TrustedSettings = Readonly<Record<string, string>>

export interface RecordedTrust {
  readonly settings: TrustedSettings
  /** Completes "Run: nexus trust". */
  readonly argument?: readonly string[]
}

/** The settings that trust in this text covers. Nothing is resolved: references and paths count as they are written. */
export async function settingsToTrust(text: string, path: string): Promise<TrustedSettings> {
  return digests(findWidening(await readChecked(text, path)))
}

/** The settings of a file that fit the schema, as written. */
export async function readChecked(text: string, path: string): Promise<ConfigDocument> {
  const { value } = await parseSettings(text, path)
  return checkDocument({ path, value: isProfilePath(path) ? fromProfile(value, path) : value }).document
}

const CHANGES = {
  added: 'is not applied. It was added after you trusted this workspace.',
  changed: 'is not applied. It changed after you trusted this workspace.',
  removed: 'was removed after you trusted this workspace.',
} as const

/** One finding for each setting that was added, changed or removed since the workspace was trusted. */
export function findLost(document: ConfigDocument, file: string, recorded: RecordedTrust): Finding[] {
  const widening = findWidening(document)
  const now = digests(widening)
  const { settings, argument = [] } = recorded
  const lost = (at: Path, how: keyof typeof CHANGES): Finding => {
    const setting = nameIn({ isProfile: isProfilePath(file) })(at)
    return {
      file,
      at,
      severity: 'warning',
      code: 'config-changed-since-trust',
      message: `${setting} ${CHANGES[how]} Until you trust it again, ${STRICTER}`,
      ...commandFix('Run:', 'trust', ...argument),
    }
  }
  const present = widening.flatMap(({ at, pointer }) => {
    if (settings[pointer] === now[pointer]) return []
    return [Object.hasOwn(settings, pointer) ? lost(at, 'changed') : lost(wholeOf(at, settings), 'added')]
  })
  const removed = Object.keys(settings)
    .filter((pointer) => !Object.hasOwn(now, pointer))
    .map((pointer) => lost(pathOf(pointer, document), 'removed'))
  return [...new Map([...present, ...removed].map((each) => [nameOf(each.at), each])).values()]
}

/** The largest part around a new setting of which nothing was there: a new map is named once. */
function wholeOf(at: Path, settings: TrustedSettings): Path {
  const above = at.slice(0, -1)
  if (above.length === 0 || holdsTightening(above)) return at
  const prefix = `${pointerTo(above)}/`
  return Object.keys(settings).some((pointer) => pointer.startsWith(prefix)) ? at : wholeOf(above, settings)
}

function digests(widening: readonly Widening[]): TrustedSettings {
  return Object.fromEntries(widening.map(({ pointer, value }) => [pointer, `sha256:${sha256(inOrder(value))}`]))
}

/** JSON with the keys of each map in order. */
function inOrder(value: JsonValue): string {
  return JSON.stringify(value, (_key, part: JsonValue) =>
    isJsonObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}

/** The keys of a pointer; an agent is known by its id there, and by its position in the file. */
function pathOf(pointer: string, { agents = [] }: ConfigDocument): Path {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keys[0] !== 'agents' || keys.length === 1) return keys
  const index = agents.findIndex((agent) => (agent as typeof agent | undefined)?.id === keys[1])
  return index === -1 ? keys : ['agents', index, ...keys.slice(2)]
}
