import type { DiagnosticRow } from '../codes.ts'

/** What a rewrite can find beyond what reading finds. `docs/format.md` lists the same rows; a test keeps the two equal. */
export const WRITE_CODES = {
  'migrate-outweighed': {
    severity: 'warning',
    means: 'a field that never counted, because another place gives it too, was left out',
  },
  'migrate-refused': {
    severity: 'warning',
    means: 'the form was not changed, because the result would be read differently',
  },
} as const satisfies Record<string, DiagnosticRow>

/** A name in the table of rewrite findings. */
export type WriteCode = keyof typeof WRITE_CODES
