import type { Diagnostic, SkillDocument } from '../../kernel/index.ts'
import { Outliner } from '../glance/outline.ts'
import { type ParsedSkill, parseSkill } from '../parse.ts'
import { createQuickReader } from '../quick/reading.ts'
import { asBuffer, type FileText, placeOf, placeOfByte, plainFile } from '../text.ts'
import { type Body, checkBody } from './body.ts'
import {
  checkLenient,
  type CheckOptions,
  checkStrict,
  collect,
  lenientFindings,
  type ReadSubject,
  strictFindings,
  type StrictOptions,
} from './check.ts'
import type { Places } from './places.ts'
import { checkSpec, nearestSpecKey } from './spec.ts'

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
 * The same verdicts as `checkStrict` and `checkLenient`, sooner. Of most files a glance shows that reading has nothing to report, and what
 * the rules ask for; nearly all others are read where they lie. The document is made when it is asked for.
 */
export function createChecker(): Checker {
  const outliner = new Outliner()
  const read = createQuickReader()
  const meant = createMeant()

  const atAGlance = (file: FileText, options: CheckOptions, strictness: 'strict' | 'lenient'): Verdict | undefined => {
    const { path, directoryName, files } = options
    const profile = 'spec'
    const outline = directoryName === undefined ? undefined : outliner.read(file, directoryName)
    if (outline === undefined) return undefined
    const { allowedTools, isQuiet } = outline
    const from = file.latin1.indexOf('\n', outline.to) + 1
    const { body, placeOfBody } = bodyIn(file, from, files)
    const places: Places = { key: (path) => placeOfByte(file, outline.offsetOf(path)), body: placeOfBody }
    const diagnostics = collect({ path, profile }, places, (add) => {
      if (strictness === 'strict' && !isQuiet)
        checkSpec({ document: { allowedTools }, front: outline.front(), add, meant })
      checkBody({ body, files, profile, add })
    })
    return new QuickVerdict({ diagnostics, name: directoryName }, () => parseSkill(file.bytes, options).document)
  }

  const whereItLies = (
    file: FileText,
    options: CheckOptions,
    judge: (subject: ReadSubject) => Diagnostic[],
  ): Verdict | undefined => {
    const reading = read(file, options)
    if (reading === undefined) return undefined
    const { head, diagnostics, front, bodyFrom } = reading
    const { body, placeOfBody } = bodyIn(file, bodyFrom, options.files)
    const places: Places = { key: ([key = '', ...below]) => front.place(String(key), below), body: placeOfBody }
    const found = judge({ head, diagnostics, body, places })
    return new QuickVerdict({ diagnostics: found, name: head.name }, () => ({
      ...head,
      body: file.bytes.toString('utf8', bodyFrom),
    }))
  }

  return {
    strict(input, options) {
      const quick = quickly(input, options, (file) => {
        const glanced = options.profile === 'spec' ? atAGlance(file, options, 'strict') : undefined
        return glanced ?? whereItLies(file, options, (subject) => strictFindings(subject, options))
      })
      return quick ?? named(checkStrict(input, options))
    },
    lenient(input, options) {
      const quick = quickly(
        input,
        options,
        (file) =>
          atAGlance(file, options, 'lenient') ??
          whereItLies(file, options, (subject) => lenientFindings(subject, options)),
      )
      return quick ?? named(checkLenient(input, options))
    },
  }
}

function quickly(
  input: Uint8Array,
  { maxBytes }: CheckOptions,
  judge: (file: FileText) => Verdict | undefined,
): Verdict | undefined {
  try {
    const file = plainFile(asBuffer(input), maxBytes)
    return file && judge(file)
  } catch {
    // A fault of ours. The whole reading goes another way; when it meets the fault too, it reports it.
    return undefined
  }
}

/** Unknown keys come again and again. */
const MAX_REMEMBERED = 500

function createMeant(): (key: string) => string | undefined {
  const known = new Map<string, string | undefined>()
  return (key) => {
    if (known.has(key)) return known.get(key)
    const meant = nearestSpecKey(key)
    if (known.size < MAX_REMEMBERED) known.set(key, meant)
    return meant
  }
}

/** The body from a byte on, decoded only where it must be: Latin-1 is enough to find braces and count lines. */
function bodyIn(
  file: FileText,
  from: number,
  files: readonly string[] | undefined,
): { readonly body: Body; readonly placeOfBody: Places['body'] } {
  const { bytes, latin1 } = file
  const raw = latin1.slice(from)
  const isEnough = /[!-~]/.test(raw) && (files === undefined || !raw.includes(']('))
  const text = isEnough ? raw : bytes.toString('utf8', from)
  const placeOfBody: Places['body'] = (offset) => {
    if (isEnough) return placeOfByte(file, from + offset)
    const whole = bytes.toString('utf8')
    return placeOf(whole, whole.length - text.length + offset)
  }
  return { body: { text, bytes: () => bytes.subarray(from) }, placeOfBody }
}

function named(checked: ParsedSkill): Verdict {
  return { ...checked, name: checked.document?.name }
}

/** A class, because an object with a getter of its own gets a hidden class of its own, which keeps all that the getter sees. */
class QuickVerdict implements Verdict {
  readonly diagnostics: readonly Diagnostic[]
  readonly name: string | undefined
  readonly #make: () => SkillDocument | undefined
  #document: SkillDocument | undefined

  constructor({ diagnostics, name }: Omit<Verdict, 'document'>, make: () => SkillDocument | undefined) {
    this.diagnostics = diagnostics
    this.name = name
    this.#make = make
  }

  /** Made when it is asked for. */
  get document(): SkillDocument | undefined {
    return (this.#document ??= this.#make())
  }
}
