import type { Severity } from '../../../kernel/index.ts'
import { FIELD_FINDINGS } from './fields.ts'
import { FILE_FINDINGS } from './file.ts'
import { STRICT_FINDINGS, WRITE_FINDINGS } from './strict.ts'
import { type Profile, type Row, type StrictRow, type Words } from './words.ts'
import { YAML_FINDINGS } from './yaml.ts'

const READING = { ...FILE_FINDINGS, ...YAML_FINDINGS, ...FIELD_FINDINGS }
/** Every finding about a SKILL.md, one row a code: its severity, and a function from its facts to its words. */
const FINDINGS = { ...READING, ...STRICT_FINDINGS, ...WRITE_FINDINGS }

export type Code = keyof typeof FINDINGS
/** A finding of reading. */
export type FormatCode = keyof typeof READING
/** A finding of strict validation alone. */
export type StrictCode = keyof typeof STRICT_FINDINGS
type WriteCode = keyof typeof WRITE_FINDINGS

/** The severities; docs/errors.md explains each code. */
export const FORMAT_CODES: Readonly<Record<FormatCode, Severity>> = severities(READING)
export const WRITE_CODES: Readonly<Record<WriteCode, Severity>> = severities(WRITE_FINDINGS)
export const STRICT_CODES = Object.fromEntries(
  Object.entries(STRICT_FINDINGS).map(([code, row]) => [code, row.under]),
) as Readonly<Record<StrictCode, Readonly<Record<Profile, Severity | 'off'>>>>

function severities<C extends string>(table: Readonly<Record<C, Row<unknown>>>): Readonly<Record<C, Severity>> {
  const rows = Object.entries<Row<unknown>>(table).map(([code, { severity }]) => [code, severity])
  return Object.fromEntries(rows) as Record<C, Severity>
}

export function severityOf(code: Code, profile: Profile): Severity | 'off' {
  const row: Row<unknown> | StrictRow<unknown> = FINDINGS[code]
  return 'under' in row ? row.under[profile] : row.severity
}

/** True for a finding of reading that strict validation makes an error. */
export function isRefusedBy(profile: Profile, code: string): boolean {
  return Object.hasOwn(READING, code) && READING[code as FormatCode].refusedBy.includes(profile)
}

/** The facts that the words of a code need. */
export type Facts<C extends Code> = Parameters<(typeof FINDINGS)[C]['words']>

/** A finding as data, before it has words. */
export interface Found {
  readonly code: Code
  readonly facts: readonly unknown[]
}

export function found<C extends Code>(code: C, ...facts: Facts<C>): { readonly code: C; readonly facts: Facts<C> } {
  return { code, facts }
}

export function wordsOf({ code, facts }: Found): Words {
  return (FINDINGS[code].words as (...all: readonly unknown[]) => Words)(...facts)
}
