import * as v from 'valibot'
import type { Diagnostic, JsonObject } from '../../kernel/index.ts'
import { CONFIG_SCHEMA, type ConfigDocument } from '../schema/schema.ts'
import { collectFindings } from './findings.ts'
import { withoutParts } from './left-out.ts'
import { copyValue, removeParts } from './parts.ts'
import { type Issue, misfitProblem, type Problem, toProblems } from './problems.ts'
import type { YamlFile } from './read-yaml.ts'
import { findMisfits, partToRemove } from './schema-walk.ts'

const MAX_ROUNDS = 10

/** What of a file counts, and the file as seen from there. */
export interface Part {
  readonly document: ConfigDocument
  readonly diagnostics: readonly Diagnostic[]
  readonly file: YamlFile
}

/**
 * Holds a file against the schema. What does not fit is an error with its place and is left out, together with what
 * needs it; the rest stays. A section with nothing below it is an empty one. Values of secrets are never shown.
 */
export function checkDocument(whole: YamlFile): Part {
  let file = whole
  const findings = collectFindings(whole)
  const root = copyValue(file.value) as JsonObject
  // The first round finds everything; the others only make sure that what is left fits.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const problems = findProblems(root, file.inFile)
    if (problems.length === 0)
      return { document: root as ConfigDocument, diagnostics: findings.list().toSorted(byPlace), file }
    for (const { keys, ...problem } of problems) findings.add(file.inFile(keys), { ...problem, severity: 'error' })
    const parts = problems.map(({ keys }) => partToRemove(root, keys))
    removeParts(root, parts)
    file = withoutParts(file, parts)
  }
  return { document: {}, diagnostics: findings.list().toSorted(byPlace), file }
}

/** What has no place comes last. */
const LAST = Number.MAX_SAFE_INTEGER

function byPlace(a: Diagnostic, b: Diagnostic): number {
  return (a.line ?? LAST) - (b.line ?? LAST) || (a.column ?? 0) - (b.column ?? 0)
}

function findProblems(root: JsonObject, inFile: YamlFile['inFile']): Problem[] {
  let issues = issuesOf(root)
  if (fillEmptySections(issues)) issues = issuesOf(root)
  const misfits = findMisfits(root)
  const problems = issues.flatMap((issue) => toProblems(issue, { inFile }))
  const covered = new Set(misfits.map(({ keys }) => JSON.stringify(keys)))
  const isCovered = ({ keys }: Problem): boolean =>
    keys.some((_, index) => covered.has(JSON.stringify(keys.slice(0, index + 1))))
  return [
    ...misfits.map((misfit) => misfitProblem(misfit, { root, inFile })),
    ...problems.filter((problem) => !isCovered(problem)),
  ]
}

function issuesOf(root: JsonObject): readonly Issue[] {
  return v.safeParse(CONFIG_SCHEMA, root).issues ?? []
}

/** `skills:` with nothing below it holds null; where only a map can stand that means an empty map. Whether there was one. */
function fillEmptySections(issues: readonly Issue[]): boolean {
  const empty = issues.filter((issue) => issue.input === null && issue.expected === 'Object')
  for (const issue of empty) {
    const last = issue.path?.at(-1)
    if (last?.type === 'object') (last.input as Record<string, unknown>)[String(last.key)] = Object.create(null)
  }
  return empty.length > 0
}
