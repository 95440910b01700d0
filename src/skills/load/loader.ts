import { type Catalog, shownName, shownText } from '../catalog/index.ts'
import { type Skill, SKILL_FILE, stampText } from '../../kernel/index.ts'
import type { LeftOut } from '../../machine/skill-files/index.ts'
import { expand } from './expand.ts'
import { errorOf, MESSAGES } from './messages.ts'
import { findSkill } from './not-found.ts'
import { cancellable, type PlaceFiles, readWhole } from './read-whole.ts'
import { isHidden, readSkillFile, type SkillFile } from './skill-file.ts'
import { createSkillStacks, type SkillStacks, type SkillTurn, type StackedSkill } from './skill-stacks.ts'

export interface LoaderParts {
  /** The catalog at the moment of the call: it may be swapped between calls. */
  readonly catalog: () => Catalog
  /** Makes the skill's files visible to commands; without it commands are expected to see the skill's own directory. */
  readonly place?: PlaceFiles | undefined
  /** Most bytes of one reference file; default 204,800. Source: contracts §5.6. */
  readonly maxFileBytes?: number
  /** Which skill asked for which, over all loaders of a runtime; default of its own. */
  readonly stacks?: SkillStacks
}

export interface LoadOptions {
  readonly args?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Without one nothing is known of what was loaded before, and `calledBy` is refused. */
  readonly turn?: SkillTurn
  /** Name or address of the skill whose instructions ask for this one; it must have been loaded in this turn. */
  readonly calledBy?: string | undefined
  /** The only revision that may be loaded, as a tree digest; absent: the present one. */
  readonly revision?: string | undefined
}

export interface LoadedFile {
  /** Relative to the skill's directory, with forward slashes. */
  readonly path: string
  readonly size: number
  readonly executable: boolean
}

/** A skill with its instructions, all of one revision. */
export interface LoadedSkill {
  readonly skill: Skill
  /** The name of this copy in further calls: its own, or its address when the name means another one. */
  readonly callName: string
  /** The skill's directory as its commands see it. */
  readonly baseDir: string
  readonly content: string
  /** The revision of all its files at this moment. */
  readonly treeDigest: string
  /** Every file but the SKILL.md itself and hidden ones, in byte order. */
  readonly files: readonly LoadedFile[]
  /** Links and special files in its directory: no part of the skill, so neither read nor placed. Without hidden ones. */
  readonly leftOut: readonly LeftOut[]
  /** True when the SKILL.md was written since the catalog looked at it: the catalog should be refreshed. */
  readonly isStale: boolean
  /** Names from the first skill to this one, as far as they called each other; only this one when none asked for it. */
  readonly stack: readonly string[]
}

/** Loads skills of one catalog. Nothing is cached: each call reads the files as they are. */
export interface Loader {
  /** True when there is a skill to load. Asked on every look, so no names are made for it. */
  hasSkills(): boolean
  /** Names that load a skill, in the order of the catalog. */
  names(): readonly string[]
  /**
   * Reads a skill by name or `source/name`. Throws SKILL_NOT_FOUND, SKILL_INVALID, CONFLICT when it keeps changing meanwhile or is not of `revision`,
   * LIMIT_EXCEEDED, PATH_OUTSIDE, CANCELLED, INVALID_ARGUMENT for a bad `calledBy` or a circle, and what placing it throws.
   */
  load(nameOrAddress: string, options?: LoadOptions): Promise<LoadedSkill>
  /** Reads a file of a skill by relative path or bare name. Throws as `load`, and FILE_NOT_FOUND with the files there are. */
  readFile(nameOrAddress: string, filePath: string, options?: { readonly signal?: AbortSignal }): Promise<SkillFile>
}

const DEFAULT_MAX_FILE_BYTES = 204_800
const MAX_CALLER_CHARS = 200

/** Makes a loader over a catalog. It keeps no text, only where each skill was last placed. */
export function createLoader(parts: LoaderParts): Loader {
  const { catalog, place, maxFileBytes = DEFAULT_MAX_FILE_BYTES, stacks = createSkillStacks() } = parts
  /** By the skill's own directory. */
  const placedAt = new Map<string, string>()

  async function load(nameOrAddress: string, options: LoadOptions = {}): Promise<LoadedSkill> {
    const skill = findSkill(catalog(), nameOrAddress)
    const { turn = { agentId: '' }, calledBy } = options
    const entry = stacks.enter(turn, stacked(skill, catalog()), callerIn(catalog(), calledBy))
    const { document, manifest, placed, stamp } = await readWhole(skill, place, options.signal)
    if (options.revision !== undefined && options.revision !== manifest.treeDigest)
      throw errorOf('CONFLICT', MESSAGES.otherRevision(shownName(skill)), { path: skill.directory })
    const baseDir = placed?.baseDir ?? skill.directory
    placedAt.set(skill.directory, baseDir)
    entry.loaded(baseDir, manifest.treeDigest)
    return {
      skill,
      callName: catalog().callName(skill),
      baseDir,
      content: expand(document.body, { args: options.args ?? '', argumentNames: document.arguments, baseDir }),
      treeDigest: manifest.treeDigest,
      files: manifest.files
        .filter(({ path }) => path !== SKILL_FILE && !isHidden(path))
        .map(({ path, size, executable }) => ({ path, size, executable })),
      leftOut: manifest.leftOut.filter(({ path }) => !isHidden(path)),
      isStale: stampText(stamp) !== stampText(skill.stamp),
      stack: entry.stack,
    }
  }

  async function readFile(
    nameOrAddress: string,
    filePath: string,
    options: { signal?: AbortSignal } = {},
  ): Promise<SkillFile> {
    const skill = findSkill(catalog(), nameOrAddress)
    const aliases = ['{baseDir}', placedAt.get(skill.directory)].filter((alias) => alias !== undefined)
    return cancellable(options.signal, () =>
      readSkillFile(skill, { filePath, maxBytes: maxFileBytes, aliases, ...options }),
    )
  }

  return {
    hasSkills: () => catalog().skills.length > 0,
    names: () => catalog().skills.map((skill) => catalog().callName(skill)),
    load,
    readFile,
  }
}

function stacked(skill: Skill, catalog: Catalog): StackedSkill {
  return { address: catalog.addressOf(skill), name: shownName(skill) }
}

/** A caller that is gone by now is known by what it was called. */
function callerIn(catalog: Catalog, calledBy: string | undefined): StackedSkill | undefined {
  const wanted = calledBy?.trim() ?? ''
  if (wanted === '') return undefined
  const skill = catalog.find(wanted)
  const name = shownText(wanted.replace(/^\$/, '')).slice(0, MAX_CALLER_CHARS).toWellFormed()
  return skill ? stacked(skill, catalog) : { address: name, name }
}
