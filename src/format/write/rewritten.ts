import type { Diagnostic, JsonObject, SkillDocument } from '../../kernel/index.ts'
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

/** Reads what was written; undefined when it does not mean the same as before, keys of the frontmatter named apart. */
export function readBack(
  text: string,
  before: SkillDocument,
  { options, except }: { options: RewriteOptions; except: readonly string[] },
): ParsedSkill | undefined {
  const parsed = parseSkill(text, options)
  return parsed.document !== undefined && meaning(parsed.document, except) === meaning(before, except)
    ? parsed
    : undefined
}

/** Everything that is read of a document, as one text. */
function meaning(document: SkillDocument, except: readonly string[]): string {
  const { frontmatter, ...fields } = document
  return JSON.stringify([sorted(fields), others(frontmatter, except)])
}

function sorted(fields: object): readonly unknown[] {
  return Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))
}

function others(frontmatter: JsonObject, except: readonly string[]): readonly unknown[] {
  return Object.entries(frontmatter).filter(([key]) => !except.includes(key))
}
