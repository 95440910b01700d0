import type { Diagnostic } from '../../kernel/index.ts'
import type { PathKey, YamlFile } from './read-yaml.ts'

/** More findings about one file help nobody; the rest is counted. */
const MAX_FINDINGS = 50

/** A finding before its place is known. */
export type Finding = Omit<Diagnostic, 'path' | 'line' | 'column'>

/** Collects findings about one file; looks up places only for those that are shown. */
export interface Findings {
  add(keys: readonly PathKey[], finding: Finding): void
  /** In the order they were added; the last one says how many more there are. */
  list(): Diagnostic[]
}

/** Makes an empty collection for a file. */
export function collectFindings({ path, locate }: Pick<YamlFile, 'path' | 'locate'>): Findings {
  const shown: Diagnostic[] = []
  const more = { count: 0, severity: 'warning' as 'warning' | 'error' }
  return {
    add(keys, finding) {
      if (shown.length < MAX_FINDINGS) {
        shown.push({ ...finding, path, ...locate(keys) })
        return
      }
      more.count += 1
      if (finding.severity === 'error') more.severity = 'error'
    },
    list() {
      if (more.count === 0) return shown
      const message = `${more.count} more findings in this file are not shown.`
      return [...shown, { code: 'config-more', severity: more.severity, message, path, fix: 'Correct these first.' }]
    },
  }
}
