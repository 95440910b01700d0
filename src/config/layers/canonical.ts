import type { JsonObject, JsonValue } from '../../kernel/index.ts'
import { copyValue, partAt, removeParts } from '../document/parts.ts'
import type { PathKey, YamlFile } from '../document/read-yaml.ts'
import type { ConfigDocument } from '../schema/schema.ts'

/** Other names of one setting, and what their values mean. Source: seed 004, `skills.mode`. */
const ALIASES = [
  { name: ['skills', 'mode'], values: { remote: 'e2b' } },
  { name: ['execution', 'mode'], values: {} },
] as const
const SANDBOX = ['execution', 'sandbox'] as const

/** A document in which every setting has one name, and where its parts are in the file. */
export interface Canonical {
  readonly document: ConfigDocument
  readonly locate: YamlFile['locate']
  /** Names of one setting that do not say the same. */
  readonly conflicts: readonly (readonly PathKey[])[]
}

/** Moves `skills.mode` and `execution.mode` to `execution.sandbox`. */
export function toCanonical(document: ConfigDocument, locate: YamlFile['locate']): Canonical {
  const root = copyValue(document as JsonObject) as Record<string, JsonValue>
  const conflicts: (readonly PathKey[])[] = []
  let writtenAt: readonly PathKey[] = SANDBOX
  for (const { name, values } of ALIASES) {
    const written = partAt(root, name)
    if (typeof written !== 'string') continue
    removeParts(root, [name])
    const meant = (values as Readonly<Record<string, string>>)[written] ?? written
    const now = partAt(root, SANDBOX)
    if (now !== undefined && now !== meant) conflicts.push(name)
    if (now !== undefined) continue
    writtenAt = name
    const execution = (root['execution'] ??= Object.create(null) as JsonObject) as Record<string, JsonValue>
    execution['sandbox'] = meant
  }
  const isSandbox = (keys: readonly PathKey[]): boolean => keys.join('.') === SANDBOX.join('.')
  return {
    document: root as ConfigDocument,
    locate: (keys) => locate(isSandbox(keys) ? writtenAt : keys),
    conflicts,
  }
}
