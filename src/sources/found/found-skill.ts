import type { DocumentHead, HeadReader, QuickHead } from '../../format/index.ts'
import type {
  Diagnostic,
  FileStamp,
  JsonObject,
  Skill,
  SkillDocument,
  SkillMetadata,
  SkillOrigin,
} from '../../kernel/index.ts'
import { fileDigest } from './file-digest.ts'

const NOTHING: readonly never[] = Object.freeze([])
const NO_METADATA: SkillMetadata = Object.freeze({
  os: NOTHING,
  requires: Object.freeze({ bins: NOTHING, anyBins: NOTHING, env: NOTHING, config: NOTHING }),
  install: NOTHING,
  always: false,
})
const BY_BOTH: SkillDocument['invocation'] = Object.freeze({ model: true, user: true })

/** Where a skill lies. */
export interface FoundPlace {
  readonly origin: SkillOrigin
  readonly directory: string
  /** Name of the directory. */
  readonly label: string
  readonly file: string
  readonly stamp: FileStamp
  /** Findings about the file, apart from those about its text. */
  readonly notes: readonly Diagnostic[]
  readonly maxFileBytes: number
}

/** Everything that a text says. */
export interface Reading {
  readonly head: DocumentHead
  readonly diagnostics: readonly Diagnostic[]
}

/** A frontmatter that was looked at, and can be read. */
export interface Glanced {
  readonly quick: QuickHead
  readonly bytes: Buffer
  readonly reader: HeadReader
}

/**
 * A skill in a folder. Most of what a frontmatter says is never asked for, so it is read when it is: from the bytes that were checked
 * when the skill was found, not from the file. Only the digest comes from the file. Properties are those of `Skill`.
 */
export class FoundSkill implements Skill {
  readonly name: string
  readonly description: string
  readonly origin: SkillOrigin
  readonly directory: string
  readonly file: string
  readonly stamp: FileStamp
  readonly #place: FoundPlace
  readonly #glanced: Glanced | undefined
  #reading: Reading | undefined
  #metadata: SkillMetadata | undefined
  #digest: string | undefined

  /** From a whole reading, or from a glance that can become one. */
  constructor(place: FoundPlace, from: Reading | Glanced) {
    this.origin = place.origin
    this.directory = place.directory
    this.file = place.file
    this.stamp = place.stamp
    this.#place = place
    if ('quick' in from) {
      this.name = from.quick.name
      this.description = from.quick.description
      this.#glanced = from
    } else {
      this.name = from.head.name ?? place.label
      this.description = from.head.description ?? ''
      this.#reading = from
    }
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
    return this.#glanced?.quick.isClean ? NOTHING : this.#read().head.arguments
  }

  get invocation(): SkillDocument['invocation'] {
    return this.#glanced?.quick.isUngated ? BY_BOTH : this.#read().head.invocation
  }

  get metadata(): SkillMetadata {
    if (this.#reading) return this.#reading.head.metadata
    if (!this.#glanced || this.#glanced.quick.isUngated) return NO_METADATA
    return (this.#metadata ??= this.#glanced.reader.readMetadata(sourceOf(this.#glanced, this.#place)))
  }

  get frontmatter(): JsonObject {
    return this.#read().head.frontmatter
  }

  get diagnostics(): readonly Diagnostic[] {
    const { notes } = this.#place
    const own = this.#glanced?.quick.isClean ? NOTHING : this.#read().diagnostics
    return notes.length === 0 ? own : [...notes, ...own]
  }

  get fileDigest(): string {
    return (this.#digest ??= fileDigest(this.file, this.#place.maxFileBytes))
  }

  #read(): Reading {
    if (this.#reading) return this.#reading
    const glanced = this.#glanced as Glanced
    return (this.#reading = glanced.reader.read(sourceOf(glanced, this.#place)))
  }

  /** All of it, for JSON. */
  toJSON(): Skill {
    const { name, description, origin, directory, file, stamp, diagnostics } = this
    const { name: _name, description: _description, ...head } = this.#read().head
    return { name, description, ...head, origin, directory, file, fileDigest: this.fileDigest, stamp, diagnostics }
  }
}

function sourceOf({ quick, bytes }: Glanced, { file, label }: FoundPlace): Parameters<HeadReader['read']>[0] {
  return { bytes, from: quick.from, to: quick.to, path: file, directoryName: label }
}
