import type { Stats } from 'node:fs'
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

/** Where a skill lies, and what its file was when it was read. */
export interface FoundAt {
  readonly shared: FoundIn
  readonly directory: string
  /** Name of the directory. */
  readonly label: string
  /** The real file, which lies elsewhere when SKILL.md is a link. */
  readonly file: string
  /** What to say about such a link. */
  readonly notes: readonly Diagnostic[]
  /** It is the directory that is searched, whose name somebody counts on. */
  readonly isRoot: boolean
  // The stamp of the file, for which few are asked.
  readonly mtimeMs: number
  readonly size: number
  readonly inode: number
  /** When its status changed; NaN, which equals nothing, where that says too little. */
  readonly changedMs: number
}

/** Everything that a text says. */
export interface Reading {
  readonly head: DocumentHead
  readonly diagnostics: readonly Diagnostic[]
}

const NO_BYTES = Buffer.alloc(0)

/** All that a skill is made of. One record in one private field: until it is optimized, code takes long to find private fields. */
interface Parts {
  readonly at: FoundAt
  /** What was seen at a glance, and the bytes it was seen in; undefined when the file was read whole. */
  readonly quick: QuickHead | undefined
  readonly bytes: Buffer
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

  private constructor(name: string, parts: Parts) {
    this.name = name
    this.directory = parts.at.directory
    this.#parts = parts
  }

  /** From a glance at bytes, which can become a whole reading. */
  static glanced(at: FoundAt, quick: QuickHead, bytes: Buffer): FoundSkill {
    const { name, description } = quick
    return new FoundSkill(name, {
      at,
      quick,
      bytes,
      description,
      reading: undefined,
      metadata: undefined,
      findings: undefined,
      digest: undefined,
    })
  }

  static read(at: FoundAt, reading: Reading): FoundSkill {
    const { name = at.label, description = '' } = reading.head
    return new FoundSkill(name, {
      at,
      quick: undefined,
      bytes: NO_BYTES,
      description,
      reading,
      metadata: undefined,
      findings: undefined,
      digest: undefined,
    })
  }

  /** True when the file is still the one that was read, as far as its state tells. */
  isOf({ ctimeMs, mtimeMs, size, ino }: Stats): boolean {
    const { at } = this.#parts
    return at.changedMs === ctimeMs && at.mtimeMs === mtimeMs && at.size === size && at.inode === ino
  }

  /** True when it took no more than a glance. */
  get isGlanced(): boolean {
    return this.#parts.quick !== undefined
  }

  get stamp(): FileStamp {
    const { mtimeMs, size, inode } = this.#parts.at
    return { mtimeMs, size, inode }
  }

  get origin(): SkillOrigin {
    return this.#parts.at.shared.origin
  }

  get file(): string {
    const { file, notes } = this.#parts.at
    return notes.length > 0 ? `${this.directory}/SKILL.md` : file
  }

  get linkedTo(): string | undefined {
    const { file, notes } = this.#parts.at
    return notes.length > 0 ? file : undefined
  }

  get description(): string {
    const parts = this.#parts
    return (parts.description ??= parts.at.shared.reader.describe(parts.quick as QuickHead, parts.bytes))
  }

  get isDescribed(): boolean {
    const { quick } = this.#parts
    return quick !== undefined && (quick.description === undefined || quick.description.trim() !== '')
  }

  get mayNameToolGroups(): boolean {
    const { quick, bytes } = this.#parts
    if (quick === undefined) return true
    const text = bytes.toString('latin1', quick.from, quick.to)
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
    return (parts.metadata ??= parts.at.shared.reader.readMetadata(this.#source()))
  }

  get frontmatter(): JsonObject {
    return this.#read().head.frontmatter
  }

  get diagnostics(): readonly Diagnostic[] {
    const parts = this.#parts
    parts.findings ??= this.#inPlace(this.#findings())
    const { notes } = parts.at
    return notes.length > 0 ? [...notes, ...parts.findings] : parts.findings
  }

  get fileDigest(): string {
    const parts = this.#parts
    if (parts.digest !== undefined) return parts.digest
    const made = fileDigest(parts.at.file, parts.at.shared.maxFileBytes)
    // The next look may meet this very skill again, so what was in its place for a moment must not stay.
    if (made && stampText(made.stamp) === stampText(this.stamp)) parts.digest = made.digest
    return made?.digest ?? ''
  }

  /** All of it, for JSON. */
  toJSON(): Skill {
    const { name, description, origin, directory, file, linkedTo, fileDigest: digest, stamp, diagnostics } = this
    const found = { ...{ name, description, origin, directory, file }, ...(linkedTo !== undefined && { linkedTo }) }
    return { ...this.#read().head, ...found, fileDigest: digest, stamp, diagnostics }
  }

  /** What is found out besides is not kept: lists ask all skills for their findings, and few for more. */
  #findings(): readonly Diagnostic[] {
    const { reading, quick, at } = this.#parts
    if (reading) return reading.diagnostics
    const isSound = quick?.isClean && (quick.isUngated || at.shared.reader.isSound(this.#source()))
    return isSound ? NOTHING : at.shared.reader.read(this.#source()).diagnostics
  }

  /** A difference of names is mended otherwise where the directory is searched by its name, and where the text belongs to another place as well. */
  #inPlace(findings: readonly Diagnostic[]): readonly Diagnostic[] {
    const { isRoot, notes, label } = this.#parts.at
    if (!isRoot && notes.length === 0) return findings
    const fix = isRoot
      ? 'nothing has to be done: the directory is one that is searched, and the name counts'
      : `nothing has to be done: the name counts; for another one put a file with name: ${label} in place of the link`
    return findings.map((found) => (found.code === 'name-differs' ? { ...found, fix } : found))
  }

  #read(): Reading {
    const parts = this.#parts
    return (parts.reading ??= parts.at.shared.reader.read(this.#source()))
  }

  /** Of a skill that was glanced at. */
  #source(): HeadSource {
    const { quick, bytes, at } = this.#parts
    const { from, to, gatesFrom } = quick as QuickHead
    const { directory, label: directoryName } = at
    return { bytes, from, to, gatesFrom, path: `${directory}/SKILL.md`, directoryName }
  }
}
