import type { Diagnostic, Edit } from '../../kernel/index.ts'
import { FORMAT_LIMITS } from './limits.ts'
import { FORMAT_CODES, type Facts, type FormatCode, type Found, wordsOf } from './messages/messages.ts'
import { asMember } from './messages/words.ts'

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

/** Collects the diagnostics of one file, in the order found. */
export interface Report {
  add<C extends FormatCode>(code: C, where: Where, ...facts: Facts<C>): void
  addFound(found: FormatFound, where: Where): void
  readonly diagnostics: readonly Diagnostic[]
}

export function createReport(path: string): Report {
  const diagnostics: Diagnostic[] = []
  const counts = new Map<FormatCode, number>()
  const addFound = (found: FormatFound, { line, column, subject, edit }: Where): void => {
    const { code } = found
    const count = (counts.get(code) ?? 0) + 1
    counts.set(code, count)
    if (count > FORMAT_LIMITS.maxFindings) return
    const [message, fix] = wordsOf(found)
    diagnostics.push({
      code,
      severity: FORMAT_CODES[code],
      message: count === FORMAT_LIMITS.maxFindings ? `${message} ${LAST}` : message,
      path,
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
      ...asMember(fix),
      ...(subject === undefined ? {} : { subject }),
      ...(edit === undefined ? {} : { edit }),
    })
  }
  return { diagnostics, addFound, add: (code, where, ...facts) => addFound({ code, facts }, where) }
}

/** Ends the message of the last finding of a code. */
export const LAST = 'Further findings of this kind are not listed.'
