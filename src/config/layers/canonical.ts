import type { JsonObject, JsonValue } from '../../kernel/index.ts'
import type { Layer } from '../config.ts'
import { copyValue, partAt, type Path, removePart } from '../document/path.ts'
import type { ConfigDocument } from '../schema/schema.ts'

/** Other names of one setting, and what their values mean. Source: seed 004, `skills.mode`. */
const ALIASES = [
  { name: ['skills', 'mode'], values: { remote: 'e2b' } },
  { name: ['execution', 'mode'], values: {} },
] as const
const SANDBOX = ['execution', 'sandbox'] as const

/** A document in which every setting has one name. */
export interface Canonical {
  readonly document: ConfigDocument
  readonly sandboxAt: Path
  /** Names of one setting that do not say the same. */
  readonly conflicts: readonly Path[]
}

/** Moves `skills.mode` and `execution.mode` to `execution.sandbox`. */
export function toCanonical(document: ConfigDocument): Canonical {
  const root = copyValue(document as JsonObject) as Record<string, JsonValue>
  const conflicts: Path[] = []
  let sandboxAt: Path = SANDBOX
  for (const { name, values } of ALIASES) {
    const written = partAt(root, name)
    if (typeof written !== 'string') continue
    removePart(root, name)
    const meant = (values as Readonly<Record<string, string>>)[written] ?? written
    const now = partAt(root, SANDBOX)
    if (now !== undefined && now !== meant) conflicts.push(name)
    if (now !== undefined) continue
    sandboxAt = name
    const execution = (root['execution'] ??= Object.create(null) as JsonObject) as Record<string, JsonValue>
    execution['sandbox'] = meant
  }
  return { document: root as ConfigDocument, sandboxAt, conflicts }
}

/** The place in the file of a part of a canonical document. */
export function pathInFile({ sandboxAt = SANDBOX }: Pick<Layer, 'sandboxAt'>, path: Path): Path {
  return path.join('.') === SANDBOX.join('.') ? sandboxAt : path
}
