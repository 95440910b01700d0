import type { Severity } from '../../../kernel/index.ts'

/** Findings of a rewrite beyond what reading finds. docs/errors.md explains each. */
export const WRITE_CODES = {
  'migrate-outweighed': 'warning',
  'migrate-refused': 'warning',
} as const satisfies Record<string, Severity>

/** A name in the table of rewrite findings. */
export type WriteCode = keyof typeof WRITE_CODES
