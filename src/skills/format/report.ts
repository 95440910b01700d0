import { type Diagnostic, type Edit, words } from '../../kernel/index.ts'
import { FORMAT_LIMITS } from './limits.ts'
import { type Code, type Facts, type FormatCode, type Found, severityOf, wordsOf } from './messages/messages.ts'
import type { Profile } from './messages/words.ts'

/** Where a finding is, and what `validate --fix` writes; line and column from 1. */
export interface Where {
  readonly line?: number | undefined
  readonly column?: number | undefined
  readonly subject?: string | undefined
  readonly edit?: Edit | undefined
}

/** A finding of reading, before it has words. */
export interface FormatFound extends Found {
  readonly code: FormatCode
}

/** A fault in a YAML text with its words as data; `offset` counts UTF-16 units from its start. */
export interface YamlProblem extends FormatFound {
  readonly offset: number
  /** Where the same key was before; its line becomes the last fact. */
  readonly first?: number
}

/** Collects the diagnostics of one file, in the order found, at most `maxFindings` of one code. A place is only looked for when it is shown. */
export interface Report {
  add<C extends Code>(code: C, where: Where | (() => Where), ...facts: Facts<C>): void
  addFound(found: Found, where: Where | (() => Where)): void
  readonly diagnostics: readonly Diagnostic[]
}

export function createReport(path: string, profile: Profile = 'spec'): Report {
  const diagnostics: Diagnostic[] = []
  const counts = new Map<Code, number>()
  const addFound: Report['addFound'] = (found, where) => {
    const { code } = found
    const severity = severityOf(code, profile)
    const count = (counts.get(code) ?? 0) + 1
    counts.set(code, count)
    if (severity === 'off' || count > FORMAT_LIMITS.maxFindings) return
    const [said, fix] = wordsOf(found)
    const { message, ...next } = words(count === FORMAT_LIMITS.maxFindings ? `${said} ${LAST}` : said, fix)
    const { line, column, subject, edit } = typeof where === 'function' ? where() : where
    diagnostics.push({ code, severity, message, path, line, column, ...next, subject, edit })
  }
  return { diagnostics, addFound, add: (code, where, ...facts) => addFound({ code, facts }, where) }
}

/** Ends the message of the last finding of a code. */
const LAST = 'Further findings of this kind are not listed.'
