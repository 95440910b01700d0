import { isUtf8 } from 'node:buffer'
import type { SkillDocument } from '../../kernel/index.ts'
import { splitToolList } from '../fields/tool-list.ts'
import { WORD } from '../glance/patterns.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import { type ParsedSkill, parseSkill } from '../parse.ts'
import { LF } from '../quick/bytes.ts'
import { createHeadReader, type QuickHead } from '../quick/head.ts'
import { asBuffer } from '../text.ts'
import { checkBody } from './body.ts'
import { checkLenient, type CheckOptions, checkStrict, type StrictOptions } from './check.ts'
import { createCollector } from './findings.ts'
import { createPlaces } from './places.ts'

/** Gives verdicts on many files. Not for two at once. */
export interface Checker {
  /** As `checkStrict`. */
  strict(input: Uint8Array, options: StrictOptions): Verdict
  /** As `checkLenient`. */
  lenient(input: Uint8Array, options: CheckOptions): Verdict
}

/** `name` is that of the document, which need not be read for it. */
export interface Verdict extends ParsedSkill {
  readonly name: string | undefined
}

/**
 * The same verdicts as `checkStrict` and `checkLenient`, sooner: of most files a glance shows that nothing can be said about their
 * frontmatter. Only their bodies are looked at then, and the document is read when it is asked for.
 */
export function createChecker(): Checker {
  const reader = createHeadReader()
  const glance = (bytes: Buffer, { directoryName, maxBytes = FORMAT_LIMITS.maxFileBytes }: CheckOptions) => {
    const end = bytes.length
    if (directoryName === undefined || end > maxBytes || end > FORMAT_LIMITS.largeFileBytes) return undefined
    const head = reader.glance(bytes, { start: 0, end, isWhole: true }, directoryName)
    if (!head?.isClean || !isUtf8(bytes) || bytes.includes(0)) return undefined
    return head
  }
  return {
    strict(input, options) {
      const bytes = asBuffer(input)
      const head = options.profile === 'spec' ? glance(bytes, options) : undefined
      return head && keepsSpec(bytes, head) ? bodyOnly(bytes, head, options) : named(checkStrict(input, options))
    },
    lenient(input, options) {
      const bytes = asBuffer(input)
      const head = glance(bytes, options)
      if (!head) return named(checkLenient(input, options))
      const isSound = head.isUngated || reader.isSound({ ...head, bytes, path: options.path, directoryName: '' })
      return isSound ? bodyOnly(bytes, head, { ...options, profile: 'spec' }) : named(checkLenient(input, options))
    },
  }
}

/** Keys of the specification, each on its line; below metadata texts. The syntax of the lines is known. */
const SPEC_HEAD = new RegExp(
  [
    `^(?:(?:name|description|license|compatibility|allowed-tools): [^\\n]*\\n`,
    `|metadata: *\\r?\\n(?: {2,8}[A-Za-z_][\\w.-]*: +(?:["']|(?!${WORD} *\\r?\\n)[A-Za-z_/($])[^\\n]*\\n)*)*$`,
  ].join(''),
)

function keepsSpec(bytes: Buffer, head: QuickHead): boolean {
  // Seen at the first glance, and plain: other forms are left to the rules.
  if (head.isWide || head.gatesFrom < 0 || !head.isUngated || head.form !== 'plain') return false
  const text = bytes.toString('latin1', head.from, head.to)
  if (!SPEC_HEAD.test(text)) return false
  const at = text.indexOf('\nallowed-tools:')
  if (at < 0) return !text.startsWith('allowed-tools:')
  const tools = text.slice(at + '\nallowed-tools:'.length, text.indexOf('\n', at + 1)).trim()
  return splitToolList(tools).tools.join(' ') === tools
}

function named(checked: ParsedSkill): Verdict {
  return { ...checked, name: checked.document?.name }
}

function bodyOnly(bytes: Buffer, { to, name }: QuickHead, options: StrictOptions): Verdict {
  let document: SkillDocument | undefined
  const read = (): SkillDocument | undefined => (document ??= parseSkill(bytes, options).document)
  const { add, found } = createCollector(options.path, options.profile, createPlaces(bytes))
  const body = bytes.toString('utf8', bytes.indexOf(LF, to) + 1)
  checkBody({ document: { body }, files: options.files, profile: options.profile, add })
  return {
    get document() {
      return read()
    },
    diagnostics: found,
    name,
  }
}
