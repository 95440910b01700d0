import type { Diagnostic, Severity, SkillDocument } from '../../kernel/index.ts'
import { type ParsedSkill, parseSkill } from '../parse.ts'
import { checkBody } from './body.ts'
import { checkClaude } from './claude.ts'
import { type Profile, RAISED, RAISED_FOR_OPENCLAW } from './codes.ts'
import { createCollector, type Subject } from './findings.ts'
import { checkOpenclaw } from './openclaw.ts'
import { createPlaces } from './places.ts'
import { checkSpec } from './spec.ts'

export interface CheckOptions {
  /** The path that diagnostics name; never opened. */
  readonly path: string
  /** Name of the skill's directory: the name must equal it. Without it the two are not compared. */
  readonly directoryName?: string
  /** Paths of the skill's files, relative with forward slashes, to check links against; without them links are not checked. */
  readonly files?: readonly string[]
  /** Default 1 MiB. */
  readonly maxBytes?: number
}

export interface StrictOptions extends CheckOptions {
  readonly profile: Profile
}

const RULES: Readonly<Record<Profile, (subject: Subject) => void>> = {
  spec: checkSpec,
  claude: checkClaude,
  openclaw: checkOpenclaw,
}

/**
 * The strict verdict on a SKILL.md: everything that reading finds, with the severity of the profile, and the profile's own rules.
 * The skill is valid when no diagnostic is an error. `document` is what reading gives, also when the verdict is an error. Never throws.
 */
export function checkStrict(input: string | Uint8Array, options: StrictOptions): ParsedSkill {
  const { document, diagnostics } = parseSkill(input, options)
  const raised = diagnostics.map((diagnostic) =>
    withSeverity(diagnostic, strictSeverity(diagnostic, document, options)),
  )
  if (document === undefined) return { document, diagnostics: raised }
  return { document, diagnostics: [...raised, ...rulesFor(input, document, options)] }
}

/**
 * The lenient verdict for authors: what reading finds, and recommendations for the body. A skill without description is an error
 * here, because nothing would ever run it. Never throws.
 */
export function checkLenient(input: string | Uint8Array, options: CheckOptions): ParsedSkill {
  const { document, diagnostics } = parseSkill(input, options)
  const raised = diagnostics.map((diagnostic) =>
    withSeverity(diagnostic, isWithoutDescription(diagnostic, document) ? 'error' : diagnostic.severity),
  )
  if (document === undefined) return { document, diagnostics: raised }
  const { add, found } = createCollector(options.path, 'spec', createPlaces(input))
  checkBody({ document, files: options.files, profile: 'spec', add })
  return { document, diagnostics: [...raised, ...found] }
}

function rulesFor(
  input: string | Uint8Array,
  document: SkillDocument,
  { path, profile, files }: StrictOptions,
): readonly Diagnostic[] {
  const { add, found } = createCollector(path, profile, createPlaces(input))
  const subject: Subject = { document, front: document.frontmatter, files, profile, add }
  try {
    RULES[profile](subject)
    checkBody(subject)
  } catch (error) {
    // As in parseSkill: a fault of ours is a finding, not an exception.
    const message = `the validation failed: ${error instanceof Error ? error.message : String(error)}`
    found.push({ code: 'parser-failed', severity: 'error', message, path, fix: 'please report this file' })
  }
  return found
}

function strictSeverity(
  diagnostic: Diagnostic,
  document: SkillDocument | undefined,
  { profile }: StrictOptions,
): Severity {
  const { code, severity } = diagnostic
  if (RAISED.has(code) || isWithoutDescription(diagnostic, document)) return 'error'
  return profile === 'openclaw' && RAISED_FOR_OPENCLAW.has(code) ? 'error' : severity
}

function isWithoutDescription({ code }: Diagnostic, document: SkillDocument | undefined): boolean {
  if (code === 'description-missing') return true
  return code === 'description-not-text' && document !== undefined && document.description === undefined
}

function withSeverity(diagnostic: Diagnostic, severity: Severity): Diagnostic {
  return diagnostic.severity === severity ? diagnostic : { ...diagnostic, severity }
}
