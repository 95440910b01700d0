import { type Diagnostic, isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { collectFindings } from '../document/findings.ts'
import { nameOf } from '../document/name-of.ts'
import { copyValue, partAt, removeParts } from '../document/parts.ts'
import type { PathKey, YamlFile } from '../document/read-yaml.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { isWithin } from './pattern.ts'

/** What turns confinement off, or moves its bounds; with a `value`, only that one does. */
const USER_ONLY: readonly { readonly path: string; readonly value?: JsonValue }[] = [
  { path: 'execution.sandbox', value: 'none' },
  { path: 'execution.mode', value: 'none' },
  { path: 'skills.mode', value: 'none' },
  { path: 'execution.workspace' },
  { path: 'execution.uidBase' },
  { path: 'execution.filesystem.allowWrite' },
]

/** Trusting the workspace would not help. */
export const USER_ONLY_FIX = 'Set it in your own ~/.nexus/nexus.yaml, or name a file with --config.'

/** Whether a place is one where a workspace's file may not loosen the sandbox. */
export function isUserOnly(keys: readonly PathKey[]): boolean {
  return USER_ONLY.some(({ path }) => isWithin(path, keys))
}

/**
 * Takes from a workspace's file, trusted or not, what only the user may say: a command that writes there could otherwise free
 * the next one. Each part is reported with its place.
 */
export function refuseUserOnly(
  checked: ConfigDocument,
  file: YamlFile,
): { document: ConfigDocument; diagnostics: readonly Diagnostic[] } {
  const refused = USER_ONLY.filter(({ path, value }) => {
    const found = partAt(checked, path.split('.'))
    return found !== undefined && (value === undefined || found === value)
  }).map(({ path }) => path.split('.'))
  if (refused.length === 0) return { document: checked, diagnostics: [] }
  const findings = collectFindings(file)
  for (const keys of refused) {
    const message = `${nameOf(keys)} is ignored: the nexus.yaml of a workspace never loosens the sandbox, whether it is trusted or not.`
    findings.add(keys, { code: 'config-user-only', severity: 'warning', message, fix: USER_ONLY_FIX })
  }
  const document = copyValue(checked as JsonValue) as JsonObject
  removeParts(document, refused)
  return { document: withoutEmpty(document) as ConfigDocument, diagnostics: findings.list() }
}

/** A section of which nothing is left is not there. */
function withoutEmpty(document: JsonObject): JsonObject {
  const kept = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of Object.entries(document)) {
    const member = isJsonObject(value) ? withoutEmpty(value) : value
    if (!isJsonObject(member) || Object.keys(member).length > 0) kept[key] = member
  }
  return kept
}
