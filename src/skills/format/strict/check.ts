import type { Diagnostic, Severity } from '../../../kernel/index.ts'
import { isRefusedBy } from '../messages/messages.ts'
import type { Profile } from '../messages/words.ts'
import { type ParsedSkill, type ParseOptions, readSkill } from '../parse.ts'
import { createReport } from '../report.ts'
import { placeOf } from '../text.ts'
import { checkBody } from './body.ts'
import { checkClaude } from './claude.ts'
import { checkOpenclaw } from './openclaw.ts'
import { checkSpec, SPEC_KEYS, type Subject } from './spec.ts'

export interface CheckOptions extends ParseOptions {
  /** Paths of the skill's files, relative with forward slashes, to check links against; without them links are not checked. */
  readonly files?: readonly string[]
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
  return check(input, options, options.profile)
}

/**
 * The lenient verdict for authors: what reading finds, and recommendations for the body. A skill without description is an error
 * here, because nothing would ever run it. Never throws.
 */
export function checkLenient(input: string | Uint8Array, options: CheckOptions): ParsedSkill {
  return check(input, options)
}

function check(input: string | Uint8Array, options: CheckOptions, given?: Profile): ParsedSkill {
  const { document, diagnostics, source } = readSkill(input, options)
  const profile = given ?? 'spec'
  const report = createReport(options.path, profile)
  try {
    if (document !== undefined && source !== undefined) {
      const { text, front } = source
      const bodyStart = text.length - document.body.length
      const subject: Subject = {
        ...{ document, profile, front: document.frontmatter },
        add(code, at, ...facts) {
          const [key = '', ...below] = 'key' in at ? at.key : []
          report.addFound({ code, facts }, () =>
            'key' in at ? front.place(String(key), below) : placeOf(text, bodyStart + at.body),
          )
        },
      }
      if (given !== undefined) RULES[given](subject)
      checkBody(subject, options.files)
    }
  } catch (error) {
    // A fault of ours is a finding, as in `parseSkill`, not an exception.
    report.add('parser-failed', {}, error instanceof Error ? error.message : String(error))
  }
  const found = diagnostics.map((each) => ({ ...each, severity: severityUnder(each, given) }))
  return { document, diagnostics: [...found, ...report.diagnostics] }
}

const SPEC_ROOTS: ReadonlySet<string> = new Set([...SPEC_KEYS, 'allowed_tools'])

function severityUnder({ code, severity, subject = '' }: Diagnostic, profile: Profile | undefined): Severity {
  if (profile === undefined) return code === 'description-missing' ? 'error' : severity
  // A key that the specification does not know is free.
  if (profile === 'spec' && code === 'field-type' && !SPEC_ROOTS.has(subject.split('.', 1)[0] ?? '')) return severity
  return isRefusedBy(profile, code) ? 'error' : severity
}
