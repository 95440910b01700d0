import type { Diagnostic, Severity } from '../../../kernel/index.ts'
import type { DocumentHead } from '../document.ts'
import { isRefusedBy, wordsOf } from '../messages/messages.ts'
import { type ParsedSkill, readSkill, type SkillReading } from '../parse.ts'
import { checkBody } from './body.ts'
import { checkClaude } from './claude.ts'
import { createCollector, type Places, placesIn, type Subject } from './findings.ts'
import { checkOpenclaw } from './openclaw.ts'
import { checkSpec, SPEC_KEYS } from './spec.ts'
import { asMember, type Profile } from '../messages/words.ts'

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
  const reading = readSkill(input, options)
  const { document, diagnostics } = reading
  const subject = subjectOf(reading)
  return { document, diagnostics: subject ? strictFindings(subject, options) : raised(diagnostics, options) }
}

/**
 * The lenient verdict for authors: what reading finds, and recommendations for the body. A skill without description is an error
 * here, because nothing would ever run it. Never throws.
 */
export function checkLenient(input: string | Uint8Array, options: CheckOptions): ParsedSkill {
  const reading = readSkill(input, options)
  const { document, diagnostics } = reading
  const subject = subjectOf(reading)
  return { document, diagnostics: subject ? lenientFindings(subject, options) : asLenient(diagnostics) }
}

/** What reading has given, for the rules to look at. */
interface ReadSubject {
  readonly head: DocumentHead
  readonly diagnostics: readonly Diagnostic[]
  readonly body: string
  readonly places: Places
}

function subjectOf({ document, diagnostics, source }: SkillReading): ReadSubject | undefined {
  if (document === undefined || source === undefined) return undefined
  const { body } = document
  const places = placesIn(source.front, { text: source.text, body })
  return { head: document, diagnostics, body, places }
}

/** All findings of the strict verdict. */
function strictFindings({ head, diagnostics, body, places }: ReadSubject, options: StrictOptions): Diagnostic[] {
  const { profile, files } = options
  const found = collect(options, places, (add) => {
    RULES[profile]({ document: head, front: head.frontmatter, profile, add })
    checkBody({ body, files, profile, add })
  })
  return [...raised(diagnostics, options), ...found]
}

/** All findings of the lenient verdict. */
function lenientFindings({ diagnostics, body, places }: ReadSubject, options: CheckOptions): Diagnostic[] {
  const { files } = options
  const profile = 'spec'
  const found = collect({ ...options, profile }, places, (add) => checkBody({ body, files, profile, add }))
  return [...asLenient(diagnostics), ...found]
}

/** What rules find; a fault of ours is a finding, as in `parseSkill`, not an exception. */
function collect(
  { path, profile }: Pick<StrictOptions, 'path' | 'profile'>,
  places: Places,
  rules: (add: Subject['add']) => void,
): Diagnostic[] {
  const { add, found } = createCollector(path, profile, places)
  try {
    rules(add)
  } catch (error) {
    const facts = [error instanceof Error ? error.message : String(error)]
    const [message, fix] = wordsOf({ code: 'parser-failed', facts })
    found.push({ code: 'parser-failed', severity: 'error', message, path, ...asMember(fix) })
  }
  return found
}

function raised(diagnostics: readonly Diagnostic[], options: StrictOptions): Diagnostic[] {
  return diagnostics.map((diagnostic) => withSeverity(diagnostic, strictSeverity(diagnostic, options)))
}

function asLenient(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.map((each) => (each.code === 'description-missing' ? withSeverity(each, 'error') : each))
}

const SPEC_ROOTS: ReadonlySet<string> = new Set([...SPEC_KEYS, 'allowed_tools'])

function strictSeverity(diagnostic: Diagnostic, { profile }: StrictOptions): Severity {
  const { code, severity, subject = '' } = diagnostic
  // A key that the specification does not know is free.
  if (profile === 'spec' && code === 'field-type' && !SPEC_ROOTS.has(subject.split('.', 1)[0] ?? '')) return severity
  return isRefusedBy(profile, code) ? 'error' : severity
}

function withSeverity(diagnostic: Diagnostic, severity: Severity): Diagnostic {
  return diagnostic.severity === severity ? diagnostic : { ...diagnostic, severity }
}
