import { type Diagnostic, hasErrors, type JsonObject, type JsonValue, type SkillDocument } from '../kernel/index.ts'
import { readDescription } from './fields/description.ts'
import { readFlag } from './fields/flags.ts'
import { readAllowedTools, readArguments } from './fields/lists.ts'
import { readMetadata } from './fields/metadata.ts'
import { readName } from './fields/name.ts'
import { readCompatibility, readTextField } from './fields/text.ts'
import { type Frontmatter, readFrontmatter } from './frontmatter.ts'
import { FORMAT_LIMITS } from './limits.ts'
import { createReport, type Report } from './report.ts'
import { splitFrontmatter } from './split.ts'
import { readText } from './text.ts'

export interface ParseOptions {
  /** The path that diagnostics name; never opened. */
  readonly path: string
  /** Name of the skill's directory, to compare with the name; without it the two are not compared. */
  readonly directoryName?: string
  /** Default 1 MiB. */
  readonly maxBytes?: number
}

/** `document` is undefined exactly when a diagnostic is an error. */
export interface ParsedSkill {
  readonly document: SkillDocument | undefined
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Reads a SKILL.md leniently: whatever can be understood loads, and every deviation is a coded diagnostic with its line and fix.
 * Never throws, on any input. A document without description is still returned; the gate holds it. Source: decisions, "strictness".
 */
export function parseSkill(input: string | Uint8Array, options: ParseOptions): ParsedSkill {
  const report = createReport(options.path)
  try {
    const document = parse(input, options, report)
    return { document: hasErrors(report.diagnostics) ? undefined : document, diagnostics: report.diagnostics }
  } catch (error) {
    // The promise "never throws" holds even for a fault of ours or of the YAML library.
    report.add('parser-failed', `the parser failed: ${error instanceof Error ? error.message : String(error)}`, {
      fix: 'please report this file as a fault of Nexus',
    })
    return { document: undefined, diagnostics: report.diagnostics }
  }
}

function parse(input: string | Uint8Array, options: ParseOptions, report: Report): SkillDocument | undefined {
  const text = readText(input, report, options.maxBytes ?? FORMAT_LIMITS.maxFileBytes)
  if (text === undefined) return undefined
  const split = splitFrontmatter(text)
  if (split.kind === 'missing') {
    report.add('frontmatter-missing', split.message, { line: split.line, column: 1, fix: split.fix })
    return undefined
  }
  if (split.kind === 'unterminated') {
    report.add('frontmatter-unterminated', 'the frontmatter that begins here is never closed', {
      line: split.line,
      column: 1,
      fix: split.fix,
    })
    return undefined
  }
  const { yaml, firstLine, body } = split
  if (split.blankLines > 0) {
    report.add('leading-blank-lines', 'blank lines stand before the opening ---', {
      line: 1,
      column: 1,
      fix: 'remove them: other clients do not find the frontmatter',
    })
  }
  if (split.closedByDots) {
    const line = firstLine + yaml.split('\n').length - 1
    report.add('frontmatter-closed-by-dots', 'the frontmatter is closed by ...', {
      line,
      column: 1,
      fix: 'close it with a line of ---',
    })
  }
  if (split.loneCr)
    report.add('line-ends-cr', 'lines end in a lone CR', { line: 1, column: 1, fix: 'save the file with LF line ends' })
  const bytes = new TextEncoder().encode(yaml)
  if (bytes.length > FORMAT_LIMITS.maxFrontmatterBytes) {
    report.add(
      'frontmatter-too-large',
      `the frontmatter has ${bytes.length} bytes, the limit is ${FORMAT_LIMITS.maxFrontmatterBytes}`,
      {
        line: firstLine,
        column: 1,
        fix: 'move data into a file beside SKILL.md',
      },
    )
    return undefined
  }
  // A copy: substrings of the whole text would keep the body in memory for as long as a name lives.
  const front = readFrontmatter(new TextDecoder().decode(bytes), firstLine, report)
  return front && toDocument(front, body, { report, options })
}

function toDocument(
  front: Frontmatter,
  body: string,
  { report, options }: { report: Report; options: ParseOptions },
): SkillDocument {
  const name = readName(front, options.directoryName, report)
  const description = readDescription(front, report)
  const license = readTextField(front, 'license', report)
  const compatibility = readCompatibility(front, report)
  return {
    name,
    description,
    ...(license === undefined ? {} : { license }),
    ...(compatibility === undefined ? {} : { compatibility }),
    allowedTools: readAllowedTools(front, report),
    arguments: readArguments(front, report),
    invocation: {
      model: !readFlag(front, 'disable-model-invocation', { fallback: false, report }),
      user: readFlag(front, 'user-invocable', { fallback: true, report }),
    },
    metadata: readMetadata(front, report),
    frontmatter: asFrontmatter(front),
    body,
  }
}

/** All keys as parsed; `argument-hint: [issue]` is a list to YAML, but a hint to people: it stays as written. */
function asFrontmatter(front: Frontmatter): JsonObject {
  if (typeof front.values['argument-hint'] !== 'object' || front.values['argument-hint'] === null) return front.values
  const copy = Object.assign(Object.create(null) as Record<string, JsonValue>, front.values)
  copy['argument-hint'] = front.source('argument-hint')
  return copy
}
