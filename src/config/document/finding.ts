/** finding: what is wrong with a setting, first by its path, then by its line. */
import { byPlace, type Diagnostic, type Severity } from '../../kernel/index.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { type Path } from './path.ts'
import { moreFindings } from '../messages.ts'
import { inProfile, nameIn } from '../profiles.ts'

/** One fault of a setting, before its line is known. */
export interface Finding extends Omit<Diagnostic, 'path' | 'line' | 'column' | 'subject'> {
  readonly file: string
  /** The setting as it is called in the file. */
  readonly at: Path
}

/** A part of a file that counts, and what is said about the rest. */
export interface Part {
  readonly document: ConfigDocument
  readonly findings: readonly Finding[]
}

/** Further findings about one file are counted. */
const MAX_FINDINGS = 50

const RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }

/** The findings with their lines, by file and line. The parser that knows lines is loaded only when there are findings. */
export async function placeFindings(
  findings: readonly Finding[],
  fileOf: (file: string) => { readonly text?: string; readonly isProfile?: boolean } | undefined,
): Promise<Diagnostic[]> {
  const byFile = [...Map.groupBy(findings, ({ file }) => file)]
  return (await Promise.all(byFile.map(([file, found]) => placeInFile(found, file, fileOf(file))))).flat()
}

async function placeInFile(
  findings: readonly Finding[],
  path: string,
  { text, isProfile = false }: { readonly text?: string; readonly isProfile?: boolean } = {},
): Promise<Diagnostic[]> {
  const locate = text === undefined ? undefined : (await import('./parse-yaml.ts')).placesIn(text)
  const inFile = (at: Path): Path => (isProfile ? inProfile(at) : at)
  const placed = findings
    .map(({ file: _, at, ...words }): Diagnostic => ({
      ...words,
      path,
      ...locate?.(inFile(at)),
      subject: nameIn({ isProfile })(at),
    }))
    .toSorted(byPlace)
  // The sort keeps the order of lines within one severity.
  const ranked = placed.toSorted((a, b) => RANK[a.severity] - RANK[b.severity])
  const more = ranked.slice(MAX_FINDINGS)
  if (more.length === 0) return placed
  const severity = more[0]?.severity ?? 'info'
  return [...ranked.slice(0, MAX_FINDINGS).toSorted(byPlace), { severity, path, ...moreFindings(more.length) }]
}
