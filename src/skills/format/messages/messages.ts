import type { FormatCode } from '../codes.ts'
import type { StrictCode } from '../strict/codes.ts'
import type { WriteCode } from '../write/codes.ts'
import { FIELD_MESSAGES } from './fields.ts'
import { FILE_MESSAGES } from './file.ts'
import { STRICT_MESSAGES } from './strict.ts'
import type { Words } from './words.ts'
import { YAML_MESSAGES } from './yaml.ts'

/** Every sentence about a SKILL.md, one row a code: a function from the facts of a finding to its words. */
const MESSAGES = {
  ...FILE_MESSAGES,
  ...YAML_MESSAGES,
  ...FIELD_MESSAGES,
  ...STRICT_MESSAGES,
} satisfies Record<FormatCode | StrictCode | WriteCode, (...facts: never[]) => Words>

export type Code = keyof typeof MESSAGES

/** The facts that the words of a code need. */
export type Facts<C extends Code> = Parameters<(typeof MESSAGES)[C]>

/** A finding as data, before it has words. */
export interface Found {
  readonly code: Code
  readonly facts: readonly unknown[]
}

export function found<C extends Code>(code: C, ...facts: Facts<C>): { readonly code: C; readonly facts: Facts<C> } {
  return { code, facts }
}

export function wordsOf({ code, facts }: Found): Words {
  return (MESSAGES[code] as (...all: readonly unknown[]) => Words)(...facts)
}
