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

/** All that a skill is made of. One record in one private field: until it is optimized, code takes long to find private fields. */
interface Parts {
  readonly shared: FoundIn
  readonly at: FoundAt
  /** What was seen at a glance; undefined when the file was read whole. */
  readonly quick: QuickHead | undefined
  /** What it was seen in, and where its offsets count from. */
  readonly bytes: Buffer
  readonly shift: number
  description: string | undefined
  reading: Reading | undefined
  metadata: SkillMetadata | undefined
  /** Of the text. */
  findings: readonly Diagnostic[] | undefined
  digest: string | undefined
}

/**
 * A skill in a folder. Most of what a frontmatter says is never asked for, so it is read when it is: from the bytes that were checked
 * when the skill was found, not from the file. Only the digest comes from the file. Properties are those of `Skill`.
 */
export class FoundSkill implements Skill {
  readonly name: string
  readonly directory: string
  readonly #parts: Parts

  /** From a whole reading, or from a glance that can become one. */
  constructor(shared: FoundIn, at: FoundAt, from: Reading | Glanced) {
    const isRead = 'head' in from
    this.name = isRead ? (from.head.name ?? at.label) : from.quick.name
    this.directory = at.directory
    this.#parts = {
      shared,
      at,
      quick: isRead ? undefined : from.quick,
      bytes: isRead ? NO_BYTES : from.kept.bytes,
      shift: isRead ? 0 : from.kept.shift,
      description: isRead ? (from.head.description ?? '') : from.quick.description,
      reading: isRead ? from : undefined,
      metadata: undefined,
      findings: undefined,
      digest: undefined,
    }
  }

  get stamp(): FileStamp {
    return this.#parts.at.stamp
  }

  get origin(): SkillOrigin {
    return this.#parts.shared.origin
  }

  get file(): string {
    return this.#parts.at.link?.file ?? `${this.directory}/SKILL.md`
  }

  get description(): string {
    const parts = this.#parts
    return (parts.description ??= parts.shared.reader.describe(parts.quick as QuickHead, parts.bytes, parts.shift))
  }

  get isDescribed(): boolean {
    const { quick } = this.#parts
    return quick !== undefined && (quick.description === undefined || quick.description.trim() !== '')
  }

  get mayNameToolGroups(): boolean {
    const { quick, bytes, shift } = this.#parts
    if (quick === undefined) return true
    const text = bytes.toString('latin1', quick.from + shift, quick.to + shift)
    // With a backslash the word may be written in other ways.
    return text.includes('toolGroups') || text.includes('\\')
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
    return this.#parts.quick?.isClean ? NOTHING : this.#read().head.arguments
  }

  get invocation(): SkillDocument['invocation'] {
    return this.#parts.quick?.isForBoth ? BY_BOTH : this.#read().head.invocation
  }

  get metadata(): SkillMetadata {
    const parts = this.#parts
    const { reading, quick } = parts
    if (reading) return reading.head.metadata
    if (quick?.isUngated) return NO_METADATA
    return (parts.metadata ??= parts.shared.reader.readMetadata(this.#source()))
  }

  get frontmatter(): JsonObject {
    return this.#read().head.frontmatter
  }

  get diagnostics(): readonly Diagnostic[] {
    const parts = this.#parts
    parts.findings ??= this.#findings()
    return parts.at.link ? [...parts.at.link.notes, ...parts.findings] : parts.findings
  }

  get fileDigest(): string {
    const parts = this.#parts
    if (parts.digest !== undefined) return parts.digest
    const made = fileDigest(this.file, parts.shared.maxFileBytes)
    // The next look may meet this very skill again, so what was in its place for a moment must not stay.
    if (made && stampText(made.stamp) === stampText(this.stamp)) parts.digest = made.digest
    return made?.digest ?? ''
  }

  /** All of it, for JSON. */
  toJSON(): Skill {
    const { name, description, origin, directory, file, fileDigest: digest, stamp, diagnostics } = this
    return { ...this.#read().head, name, description, origin, directory, file, fileDigest: digest, stamp, diagnostics }
  }

  /** What is found out besides is not kept: lists ask all skills for their findings, and few for more. */
  #findings(): readonly Diagnostic[] {
    const { reading, quick, shared } = this.#parts
    if (reading) return reading.diagnostics
    const isSound = quick?.isClean && (quick.isUngated || shared.reader.isSound(this.#source()))
    return isSound ? NOTHING : shared.reader.read(this.#source()).diagnostics
  }

  #read(): Reading {
    const parts = this.#parts
    return (parts.reading ??= parts.shared.reader.read(this.#source()))
  }

  /** Of a skill that was glanced at. */
  #source(): HeadSource {
    const { quick, bytes, shift, at } = this.#parts
    const { from, to, gatesFrom } = quick as QuickHead
    return {
      bytes,
      from: from + shift,
      to: to + shift,
      gatesFrom: gatesFrom < 0 ? -1 : gatesFrom + shift,
      path: `${at.directory}/SKILL.md`,
      directoryName: at.label,
    }
  }
}
