import { type JsonValue, membersOf, toSafeLine } from '../../kernel/index.ts'
import type { Layer } from '../config.ts'
import type { Finding } from '../document/finding.ts'
import { type Path } from '../document/path.ts'
import { nameIn } from '../profiles.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import type { Unused } from '../schema/parts.ts'
import { memberOf, ROOT, rulesOf, type Schema, schemaFor } from '../schema/walk.ts'

/** Source: seed 002, "Built-in Skills". */
const BUILTINS = ['web_search', 'file_ops', 'shell']

/** Settings of a file that have no effect in this version: one finding a rule, and for each built-in skill that does not exist. */
export function findUnused(document: ConfigDocument, layer: Layer): Finding[] {
  const first = new Map<Unused, Path>()
  for (const { at, unused } of unusedIn(document as JsonValue, [], ROOT)) if (!first.has(unused)) first.set(unused, at)
  const unused = [...first].map(([{ what, severity, instead = '' }, at]): Finding => ({
    file: layer.path,
    at,
    severity,
    code: 'config-not-used',
    message: `${nameIn(layer)(at)} has no effect yet. This version does not ${what}${instead === '' ? '' : `: ${instead}`}.`,
    fix: 'Remove it, or keep it for a later version.',
  }))
  const unknown = [...(document.skills?.builtin ?? []).entries()]
    .filter(([, name]: [number, string | undefined]) => name !== undefined && !BUILTINS.includes(name))
    .map(([index, name]): Finding => {
      const known = BUILTINS.join(', ')
      return {
        file: layer.path,
        at: ['skills', 'builtin', index],
        severity: 'warning',
        code: 'config-unknown-builtin',
        message: `Unknown built-in skill: ${toSafeLine(name)}. Available: [${known}]`,
        fix: `Use one of: ${known}.`,
      }
    })
  return [...unused, ...unknown]
}

function* unusedIn(
  value: JsonValue | undefined,
  at: Path,
  schema: Schema | undefined,
): Generator<{ at: Path; unused: Unused }> {
  if (value === undefined || schema === undefined) return
  const { unused } = rulesOf(schema)
  if (unused && (unused.value === undefined || unused.value === value)) return yield { at, unused }
  const form = schemaFor(schema, value)
  for (const [key, member] of membersOf(value)) yield* unusedIn(member, [...at, key], memberOf(form, key))
}
