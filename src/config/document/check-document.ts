import * as v from 'valibot'
import type { Diagnostic, JsonObject } from '../../kernel/index.ts'
import { CONFIG_SCHEMA, type ConfigDocument } from '../schema/schema.ts'
import { collectFindings } from './findings.ts'
import { copyValue, removeParts } from './parts.ts'
import { type Issue, misfitProblem, type Problem, toProblems } from './problems.ts'
import type { YamlFile } from './read-yaml.ts'
import { findMisfits, partToRemove } from './schema-walk.ts'

const MAX_ROUNDS = 10

/**
 * Holds a file against the schema. What does not fit is an error with its place and is left out, together with what
 * needs it; the rest stays. A section with nothing below it is an empty one. Values of secrets are never shown.
 */
export function checkDocument(file: YamlFile): { document: ConfigDocument; diagnostics: readonly Diagnostic[] } {
  const findings = collectFindings(file)
  const root = copyValue(file.value) as JsonObject
  // The first round finds everything; the others only make sure that what is left fits.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    fillEmptySections(root)
    const problems = findProblems(root)
    if (problems.length === 0)
      return { document: root as ConfigDocument, diagnostics: findings.list().toSorted(byPlace) }
    for (const { keys, ...problem } of problems) findings.add(keys, { ...problem, severity: 'error' })
    removeParts(
      root,
      problems.map(({ keys }) => partToRemove(root, keys)),
    )
  }
  return { document: {}, diagnostics: findings.list().toSorted(byPlace) }
}

/** What has no place comes last. */
const LAST = Number.MAX_SAFE_INTEGER

function byPlace(a: Diagnostic, b: Diagnostic): number {
  return (a.line ?? LAST) - (b.line ?? LAST) || (a.column ?? 0) - (b.column ?? 0)
}

function findProblems(root: JsonObject): Problem[] {
  const misfits = findMisfits(root)
  const result = v.safeParse(CONFIG_SCHEMA, root)
  const problems = result.success ? [] : result.issues.flatMap((issue) => toProblems(issue))
  const covered = new Set(misfits.map(({ keys }) => JSON.stringify(keys)))
  const isCovered = ({ keys }: Problem): boolean =>
    keys.some((_, index) => covered.has(JSON.stringify(keys.slice(0, index + 1))))
  return [...misfits.map((misfit) => misfitProblem(misfit, root)), ...problems.filter((problem) => !isCovered(problem))]
}

/** `skills:` with nothing below it holds null; where only a map can stand that means an empty map. */
function fillEmptySections(root: JsonObject): void {
  const result = v.safeParse(CONFIG_SCHEMA, root)
  const empty = (result.issues ?? []).filter((issue: Issue) => issue.input === null && issue.expected === 'Object')
  for (const issue of empty) {
    const last = issue.path?.at(-1)
    if (last?.type === 'object') (last.input as Record<string, unknown>)[String(last.key)] = Object.create(null)
  }
}
