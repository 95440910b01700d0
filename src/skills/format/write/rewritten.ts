import type { Diagnostic, JsonObject, SkillDocument } from '../../../kernel/index.ts'
import { type ParsedSkill, parseSkill } from '../parse.ts'
import type { Change } from './layout.ts'

export interface RewriteOptions {
  /** The path that diagnostics name; never opened. */
  readonly path: string
  /** Name of the skill's directory. */
  readonly directoryName?: string
}

/** A text after a rewrite, what was changed, and what reading it finds. Without changes the text is the one that was given. */
export interface Rewritten {
  readonly text: string
  readonly changes: readonly Change[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Nothing was changed. */
export function unchanged(text: string, diagnostics: readonly Diagnostic[]): Rewritten {
  return { text, changes: [], diagnostics }
}

/** What may differ. */
interface Allowed {
  /** Keys of the frontmatter that may be others. */
  readonly except: readonly string[]
  /** What is read that may be something else. */
  readonly free?: readonly string[]
}

export interface ReadBackOptions extends Allowed {
  readonly options: RewriteOptions
}

/** Reads what was written; undefined when it does not mean the same as before. */
export function readBack(text: string, before: SkillDocument, wishes: ReadBackOptions): ParsedSkill | undefined {
  const parsed = parseSkill(text, wishes.options)
  return parsed.document !== undefined && isReadAlike(before, parsed.document, wishes) ? parsed : undefined
}

/** True when two documents say the same. */
export function isReadAlike(a: SkillDocument, b: SkillDocument, allowed: Allowed): boolean {
  return meaning(a, allowed) === meaning(b, allowed)
}

/** Everything that is read of a document, as one text. */
function meaning(document: SkillDocument, { except, free = [] }: Allowed): string {
  const { frontmatter, ...fields } = document
  return JSON.stringify([sorted(fields).filter(([field]) => !free.includes(field)), others(frontmatter, except)])
}

function sorted(fields: object): readonly [string, unknown][] {
  return (Object.entries(fields) as [string, unknown][]).sort(([a], [b]) => (a < b ? -1 : 1))
}

function others(frontmatter: JsonObject, except: readonly string[]): readonly unknown[] {
  return sorted(frontmatter).filter(([key]) => !except.includes(key))
}
