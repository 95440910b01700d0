import { compareUtf8, type ManifestEntry, sha256, SKILL_FILE, type SkillDocument } from '../../kernel/index.ts'
import { MANIFEST_LIMITS, treeDigest } from '../../machine/skill-files/index.ts'
import { parseSkill } from '../format/index.ts'
import { isPortable } from './archive/limits.ts'
import { directoryName } from './names.ts'
import { installError, MESSAGES } from './messages.ts'

/** One file of a package, whole. */
export interface PackedFile {
  readonly path: string
  readonly bytes: Uint8Array
  readonly executable: boolean
}

/** A skill that was found at a source, not read yet. */
export interface Candidate {
  /** Directory in the source; empty for its root. */
  readonly path: string
  readonly name: string
  readonly description: string
  /** Name of the directory in which it will be placed. */
  readonly directory: string
}

/** A skill whose files were read and checked. */
export interface Package extends Candidate {
  readonly files: readonly PackedFile[]
  readonly manifest: readonly ManifestEntry[]
  readonly digest: string
  readonly document: SkillDocument
  /** Links and submodules, which are not placed. */
  readonly leftOut: readonly string[]
}

/** A directory whose SKILL.md gives no skill, and why. */
interface Refusal {
  readonly path: string
  readonly why: string
}

/** The skills of SKILL.md files. */
export function candidatesOf(skillFiles: readonly Pick<PackedFile, 'path' | 'bytes'>[]): {
  readonly candidates: readonly Candidate[]
  readonly refused: readonly Refusal[]
} {
  const read = skillFiles.map(candidateOf)
  return { candidates: read.filter((each) => 'name' in each), refused: read.filter((each) => 'why' in each) }
}

/** The directory of a SKILL.md; empty for the root. */
export function directoryOf(path: string): string {
  return path === SKILL_FILE ? '' : path.slice(0, -SKILL_FILE.length - 1)
}

function candidateOf({ path: file, bytes }: Pick<PackedFile, 'path' | 'bytes'>): Candidate | Refusal {
  const path = directoryOf(file)
  const directory = path.slice(path.lastIndexOf('/') + 1)
  const { document, diagnostics } = parseSkill(bytes, { path: file })
  if (!document)
    return { path, why: diagnostics.find(({ severity }) => severity === 'error')?.message ?? 'cannot be read' }
  const name = document.name ?? directory
  const placed = directoryName(name) ?? directoryName(directory)
  if (placed === undefined) return { path, why: 'its name gives no name of a directory' }
  return { path, name, description: document.description ?? '', directory: placed }
}

/** Checks the files of a skill by the rules for every door. Throws SKILL_INVALID, LIMIT_EXCEEDED. */
export function packageOf(candidate: Candidate, all: readonly PackedFile[], leftOut: readonly string[]): Package {
  const files = all.filter(({ path }) => !isIgnored(path)).sort((a, b) => compareUtf8(a.path, b.path))
  checkNames(candidate, files)
  checkRepositories(candidate, files)
  let total = 0
  for (const { path, bytes } of files) {
    total += bytes.length
    if (bytes.length > MANIFEST_LIMITS.maxFileBytes)
      throw installError('LIMIT_EXCEEDED', MESSAGES.fileTooLarge(path, bytes.length))
  }
  if (total > MANIFEST_LIMITS.maxTotalBytes) throw installError('LIMIT_EXCEEDED', MESSAGES.tooMuch(total))
  const skillFile = files.find(({ path }) => path === SKILL_FILE)
  const document = skillFile && parseSkill(skillFile.bytes, { path: SKILL_FILE }).document
  if (!document) throw installError('SKILL_INVALID', MESSAGES.noSkillFile(candidate.name))
  const manifest = files.map(({ path, bytes, executable }) => ({
    ...{ path, executable, size: bytes.length, sha256: sha256(bytes) },
  }))
  return { ...candidate, files, manifest, digest: treeDigest(manifest), document, leftOut }
}

/** Names that every system can hold, and that no two systems read differently. */
function checkNames({ name }: Candidate, files: readonly PackedFile[]): void {
  if (files.length > MANIFEST_LIMITS.maxFiles)
    throw installError('LIMIT_EXCEEDED', MESSAGES.tooManyFiles(name, files.length))
  const taken = new Map<string, string>()
  for (const { path } of files) {
    const parts = path.split('/')
    const isBad = !parts.every(isPortable)
    const isLong = Buffer.byteLength(path) > MANIFEST_LIMITS.maxPathBytes || parts.length > MANIFEST_LIMITS.maxDepth
    if (isBad || isLong) throw installError('SKILL_INVALID', MESSAGES.badFileName(name, path))
    parts.forEach((_, index) => {
      const above = parts.slice(0, index + 1).join('/')
      const key = above.normalize('NFC').toLowerCase()
      const isFile = index === parts.length - 1
      const before = taken.get(key)
      const same = isFile ? undefined : `${above}/`
      if (before !== undefined && before !== same)
        throw installError('SKILL_INVALID', MESSAGES.namesCollide(name, before, above))
      taken.set(key, isFile ? above : `${above}/`)
    })
  }
}

/** A directory that git takes for a repository: any git command inside of it would run programs that its configuration names. */
function checkRepositories({ name }: Candidate, files: readonly PackedFile[]): void {
  for (const { path } of files) {
    const above = /^(|.*\/)HEAD$/.exec(path)?.[1]
    if (above === undefined) continue
    const isOne = ['objects/', 'refs/'].every((part) => files.some((file) => file.path.startsWith(`${above}${part}`)))
    if (isOne) throw installError('SKILL_INVALID', MESSAGES.embeddedRepository(name, above))
  }
}

/** The manifest of a placed copy leaves them out too, or other systems add them to an archive. */
function isIgnored(path: string): boolean {
  return path.split('/').some((part) => part === '.DS_Store' || part === '__MACOSX')
}
