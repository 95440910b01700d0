import type { JsonObject, JsonValue } from '../../kernel/index.ts'
import type { Part } from '../document/finding.ts'
import { copyValue, partAt, type Path, removePart, withoutEmptyMaps } from '../document/path.ts'
import { nameOf } from '../document/shown-key.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { isWithin } from '../document/pattern.ts'
import { TRUST } from '../messages.ts'

/** What turns confinement off, or moves its bounds, or the state; with a `value`, only that one does. */
const USER_ONLY: readonly { readonly path: string; readonly value?: JsonValue }[] = [
  { path: 'execution.sandbox', value: 'none' },
  { path: 'execution.mode', value: 'none' },
  { path: 'skills.mode', value: 'none' },
  { path: 'execution.workspace' },
  { path: 'execution.uidBase' },
  { path: 'execution.filesystem.allowWrite' },
  // Else a repository could send all that is said and done to a server of its own.
  { path: 'store' },
]

/** Whether a place is one where a workspace's file may not loosen the sandbox. */
export function isUserOnly(path: Path): boolean {
  return USER_ONLY.some((row) => isWithin(row.path, path))
}

/**
 * Takes from a workspace's file, trusted or not, what only the user may say: a command that writes there could otherwise free
 * the next one.
 */
export function refuseUserOnly(checked: ConfigDocument, file: string): Part {
  const refused = USER_ONLY.filter(({ path, value }) => {
    const found = partAt(checked, path.split('.'))
    return found !== undefined && (value === undefined || found === value)
  }).map(({ path }) => path.split('.'))
  if (refused.length === 0) return { document: checked, findings: [] }
  const document = copyValue(checked as JsonValue) as JsonObject
  for (const path of refused) removePart(document, path)
  const findings = refused.map((at) => {
    return { file, at, severity: 'warning', ...TRUST.userOnly({ setting: nameOf(at) }) } as const
  })
  return { document: withoutEmptyMaps(document) as ConfigDocument, findings }
}
