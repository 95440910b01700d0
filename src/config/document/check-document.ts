import * as v from 'valibot'
import type { Diagnostic, JsonObject } from '../../kernel/index.ts'
import { CONFIG_SCHEMA, type ConfigDocument } from '../schema.ts'
import { copyValue, removeParts } from './parts.ts'
import { type Issue, misfitProblem, type Problem, toProblems } from './problems.ts'
import type { YamlFile } from './read-yaml.ts'
import { findMisfits, partToRemove } from './schema-walk.ts'

const MAX_ROUNDS = 10
const MAX_PROBLEMS = 50

/**
 * Holds a file against the schema. What does not fit is an error with its place and is left out, together with what
 * needs it; the rest stays. A section with nothing below it is an empty one. Values of secrets are never shown.
 */
export function checkDocument(file: YamlFile): { document: ConfigDocument; diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const root = copyValue(file.value) as JsonObject
  // The first round finds everything; the others only make sure that what is left fits.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    fillEmptySections(root)
    const problems = findProblems(root)
    if (problems.length === 0) return { document: root as ConfigDocument, diagnostics: diagnostics.toSorted(byPlace) }
    for (const { keys, code, message, fix } of problems.slice(0, MAX_PROBLEMS)) {
      const place = file.locate(keys)
      diagnostics.push({
        code,
        severity: 'error',
        message,
        path: file.path,
        ...place,
        ...(fix !== undefined && { fix }),
      })
    }
    removeParts(
      root,
      problems.map(({ keys }) => partToRemove(root, keys)),
    )
  }
  return { document: {}, diagnostics: diagnostics.toSorted(byPlace) }
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
}

function findProblems(root: JsonObject): Problem[] {
  const misfits = findMisfits(root)
  const result = v.safeParse(CONFIG_SCHEMA, root)
  const problems = result.success ? [] : result.issues.flatMap((issue) => toProblems(issue))
  const isBelow = ({ keys }: Problem): boolean =>
    misfits.some((misfit) => misfit.keys.every((key, index) => keys[index] === key))
  return [...misfits.map((misfit) => misfitProblem(misfit, root)), ...problems.filter((problem) => !isBelow(problem))]
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
