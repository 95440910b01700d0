import type { DocumentHead, HeadReader, HeadSource, QuickHead } from '../../format/index.ts'
import {
  type Diagnostic,
  type FileStamp,
  type JsonObject,
  type Skill,
  type SkillDocument,
  type SkillMetadata,
  type SkillOrigin,
  stampText,
} from '../../kernel/index.ts'
import { fileDigest } from './file-digest.ts'
import type { KeptHead } from './head-buffer.ts'

const NOTHING: readonly never[] = Object.freeze([])
const NO_METADATA: SkillMetadata = Object.freeze({
  os: NOTHING,
  requires: Object.freeze({ bins: NOTHING, anyBins: NOTHING, env: NOTHING, config: NOTHING }),
  install: NOTHING,
  always: false,
})
const BY_BOTH: SkillDocument['invocation'] = Object.freeze({ model: true, user: true })

/** What all skills of one source share. They live as long as one of them. */
export interface FoundIn {
  readonly origin: SkillOrigin
  readonly reader: HeadReader
  readonly maxFileBytes: number
}

/** Where a skill lies. */
export interface FoundAt {
  readonly directory: string
  /** Name of the directory. */
  readonly label: string
  readonly stamp: FileStamp
  /** The real file when SKILL.md is a link, and what to say about that. */
  readonly link?: { readonly file: string; readonly notes: readonly Diagnostic[] }
}

/** Everything that a text says. */
export interface Reading {
  readonly head: DocumentHead
  readonly diagnostics: readonly Diagnostic[]
}

/** What was seen at a glance, and the bytes it was seen in. */
export interface Glanced {
  readonly quick: QuickHead
  readonly kept: KeptHead
}

const NO_BYTES = Buffer.alloc(0)

/**
 * A skill in a folder. Most of what a frontmatter says is never asked for, so it is read when it is: from the bytes that were checked
 * when the skill was found, not from the file. Only the digest comes from the file. Properties are those of `Skill`.
 */
export class FoundSkill implements Skill {
  readonly name: string
  readonly directory: string
  readonly stamp: FileStamp
  readonly #in: FoundIn
  readonly #link: FoundAt['link']
  /** What was seen at a glance; undefined when the file was read whole. */
  readonly #quick: QuickHead | undefined
  /** What it was seen in, and where its offsets count from. */
  readonly #bytes: Buffer
  readonly #shift: number
  #description: string | undefined
  #reading: Reading | undefined
  #metadata: SkillMetadata | undefined
  #digest: string | undefined

  /** From a whole reading, or from a glance that can become one. */
  constructor(shared: FoundIn, at: FoundAt, from: Reading | Glanced) {
    this.#in = shared
    this.directory = at.directory
    this.stamp = at.stamp
    this.#link = at.link
    this.#metadata = undefined
    this.#digest = undefined
    if ('head' in from) {
      this.name = from.head.name ?? at.label
      this.#quick = undefined
      this.#bytes = NO_BYTES
      this.#shift = 0
      this.#description = from.head.description ?? ''
      this.#reading = from
    } else {
      this.name = from.quick.name
      this.#quick = from.quick
      this.#bytes = from.kept.bytes
      this.#shift = from.kept.shift
      this.#description = from.quick.description
      this.#reading = undefined
    }
  }

  get origin(): SkillOrigin {
    return this.#in.origin
  }

  get file(): string {
    return this.#link?.file ?? `${this.directory}/SKILL.md`
  }

  get description(): string {
    return (this.#description ??= this.#in.reader.describe(this.#quick as QuickHead, this.#bytes, this.#shift))
  }

  get isDescribed(): boolean {
    return this.#quick !== undefined && (this.#quick.description === undefined || this.#quick.description.trim() !== '')
  }

  get license(): string | undefined {
    return this.#read().head.license
  }

  get compatibility(): string | undefined {
    return this.#read().head.compatibility
  }

  get allowedTools(): readonly string[] {
    return this.#read().head.allowedTools
  }

  get arguments(): readonly string[] {
    return this.#quick?.isClean ? NOTHING : this.#read().head.arguments
  }

  get invocation(): SkillDocument['invocation'] {
    return this.#quick?.isForBoth ? BY_BOTH : this.#read().head.invocation
  }

  get metadata(): SkillMetadata {
    if (this.#reading) return this.#reading.head.metadata
    const quick = this.#quick as QuickHead
    if (quick.isUngated) return NO_METADATA
    return (this.#metadata ??= this.#in.reader.readMetadata(this.#source(quick)))
  }

  get frontmatter(): JsonObject {
    return this.#read().head.frontmatter
  }

  get diagnostics(): readonly Diagnostic[] {
    const own = this.#isSound() ? NOTHING : this.#read().diagnostics
    return this.#link ? [...this.#link.notes, ...own] : own
  }

  get fileDigest(): string {
    if (this.#digest !== undefined) return this.#digest
    const made = fileDigest(this.file, this.#in.maxFileBytes)
    // The next look may meet this very skill again, so what was in its place for a moment must not stay.
    if (made && stampText(made.stamp) === stampText(this.stamp)) this.#digest = made.digest
    return made?.digest ?? ''
  }

  /** All of it, for JSON. */
  toJSON(): Skill {
    const { name, description, origin, directory, file, fileDigest: digest, stamp, diagnostics } = this
    return { ...this.#read().head, name, description, origin, directory, file, fileDigest: digest, stamp, diagnostics }
  }

  /** True when nothing can be reported about the text. */
  #isSound(): boolean {
    const quick = this.#quick
    return quick !== undefined && quick.isClean && (quick.isUngated || this.#in.reader.isSound(this.#source(quick)))
  }

  #read(): Reading {
    return (this.#reading ??= this.#in.reader.read(this.#source(this.#quick as QuickHead)))
  }

  #source({ from, to, gatesFrom }: QuickHead): HeadSource {
    const { directory } = this
    const shift = this.#shift
    return {
      bytes: this.#bytes,
      from: from + shift,
      to: to + shift,
      gatesFrom: gatesFrom < 0 ? -1 : gatesFrom + shift,
      path: `${directory}/SKILL.md`,
      directoryName: directory.slice(directory.lastIndexOf('/') + 1),
    }
  }
}
