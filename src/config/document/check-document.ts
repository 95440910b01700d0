import * as v from 'valibot'
import { type JsonObject, type JsonValue, isJsonObject } from '../../kernel/index.ts'
import { CONFIG_SCHEMA, type ConfigDocument } from '../schema/schema.ts'
import { isMap, memberOf, ROOT, type Schema, schemaFor, schemasAlong, unwrapped } from '../schema/walk.ts'
import type { Finding, Part } from './finding.ts'
import { copyValue, partAt, type Path, type PathKey, pathWithGaps, removePart, withoutGaps } from './path.ts'
import {
  type Issue,
  issueMessage,
  misplacedPolicy,
  policyWord,
  reservedName,
  unknownKey,
  type Worded,
  wrongType,
} from './invalid-setting.ts'
import { nameIn } from '../profiles.ts'

const MAX_ROUNDS = 10
const RESERVED = ['__proto__', 'constructor', 'prototype']

/** A part that cannot be used. */
interface Problem {
  readonly at: Path
  readonly message: Worded
}

/**
 * Compares a file with the schema. What does not fit is an error and is left out, together with what needs it; the rest stays.
 * A section with nothing below it is an empty one.
 */
export function checkDocument({
  path,
  value,
  isProfile = false,
}: {
  readonly path: string
  readonly value: JsonObject
  readonly isProfile?: boolean
}): Part {
  const findings: Finding[] = []
  const root = copyValue(value) as JsonObject
  // The first round finds everything; the others only make sure that what is left fits.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const problems = findProblems(root)
    if (problems.length === 0) return { document: root as ConfigDocument, findings }
    findings.push(
      ...problems.map(({ at, message }): Finding => ({
        ...message(nameIn({ isProfile })),
        severity: 'error',
        file: path,
        at,
      })),
    )
    for (const at of problems.map((problem) => partToRemove(root, problem.at))) removePart(root, at)
  }
  return { document: {}, findings }
}

function findProblems(root: JsonObject): Problem[] {
  const invalid = findInvalidParts(root, [], ROOT)
  const covered = new Set(invalid.map(({ at }) => JSON.stringify(at)))
  const isCovered = ({ at }: Problem): boolean =>
    at.some((_, index) => covered.has(JSON.stringify(at.slice(0, index + 1))))
  const { issues = [] } = v.safeParse(CONFIG_SCHEMA, withoutGaps(root))
  return [...invalid, ...issues.flatMap((issue) => toProblems(issue, root)).filter((found) => !isCovered(found))]
}

/** Valibot lets these pass: a list in place of a map, all unknown keys but the first, and names of object internals. Fills empty sections. */
function findInvalidParts(value: JsonValue, at: Path, outer: Schema): Problem[] {
  if (typeof value !== 'object' || value === null) return []
  const schema = schemaFor(outer, value)
  if (Array.isArray(value)) {
    if (isMap(schema))
      return [
        {
          at,
          message: wrongType(at, value, { wanted: isMap(unwrapped(outer)) ? 'a map' : 'a string or a map', schema }),
        },
      ]
    const { item } = schema
    return item ? value.flatMap((member, index) => findInvalidParts(member, [...at, index], item)) : []
  }
  return Object.entries(value).flatMap(([key, member]): Problem[] => {
    const here = [...at, key]
    if (schema.type === 'object_with_rest' && here.length === 2 && policyWord(key))
      return [{ at: here, message: misplacedPolicy(here) }]
    const next = memberOf(schema, key)
    if (schema.type === 'strict_object' && !next) return [{ at: here, message: unknownKey(here, schema) }]
    if (isMap(schema) && RESERVED.includes(key)) return [{ at: here, message: reservedName(here) }]
    if (!next) return []
    if (member === null && isMap(unwrapped(next))) (value as Record<string, JsonValue>)[key] = {}
    return findInvalidParts(member, here, next)
  })
}

/** The problems behind one issue: of a union, those of the form that was meant. */
function toProblems(issue: Issue, root: JsonObject, parent: Path = []): Problem[] {
  // An unknown key, which is found before.
  if (issue.type === 'strict_object' && issue.expected === 'never') return []
  const path = [...parent, ...(issue.path ?? []).map((item) => item.key as PathKey)]
  const inner = issue.type === 'union' ? (issue.issues ?? []) : []
  const isObject = isJsonObject(issue.input)
  const meant = inner.filter((one) => (isObject ? one.path !== undefined : one.kind === 'validation'))
  if (meant.length > 0) return meant.flatMap((one) => toProblems(one, root, path))
  const at = pathWithGaps(root, path)
  const schemas = schemasAlong(root, at)
  const around = schemas[at.length - 1]
  // In a variant the issue is about the key that chooses the option.
  const schema = around?.type === 'variant' && around.key === at.at(-1) ? around : schemas[at.length]
  return [{ at, message: issueMessage(issue, at, schema) }]
}

/** The part at `path`, or the largest one that cannot do without it. */
function partToRemove(root: JsonObject, path: Path): Path {
  const schemas = schemasAlong(root, path)
  let length = path.length
  while (length > 0 && isNeeded(schemas[length - 1], path[length - 1] ?? 0)) length -= 1
  return path.slice(0, length)
}

function isNeeded(holder: Schema | undefined, key: PathKey): boolean {
  const member = partAt(holder?.entries, [key]) as Schema | undefined
  return holder?.type === 'variant' || (member !== undefined && member.type !== 'optional')
}
