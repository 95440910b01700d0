import { statSync } from 'node:fs'
import { partState, readSmall, Tree } from '../../machine/files/index.ts'
import { MANIFEST_LIMITS, treeDigest } from '../../machine/skill-files/index.ts'
import { type ManifestEntry, sha256, SKILL_FILE } from '../../kernel/index.ts'
import { parseSkill } from '../format/index.ts'
import type { Package, PackedFile } from './found.ts'
import { type LockedSkill, nameOfPlace } from './lock-file.ts'
import { installError, MESSAGES } from './messages.ts'
import { privateDirectory, type Scope } from './scope.ts'

/** A kept revision is one file: a line of JSON with path, size and executable bit of each file, then their bytes. To write many small files twice took a third of an install. */
type Head = readonly (readonly [path: string, size: number, executable: boolean])[]

const MAX_BYTES = MANIFEST_LIMITS.maxTotalBytes + 4 * 1024 * 1024

interface Revision {
  readonly files: readonly PackedFile[]
  readonly manifest: readonly ManifestEntry[]
}

/** Whether a revision is kept; not whether it is whole. */
export function hasRevision(nexusHome: string, digest: string): boolean {
  return statSync(revisionPath(nexusHome, digest), { throwIfNoEntry: false })?.isFile() === true
}

/** The files of a revision, checked against its digest; undefined when it is not kept, or no longer what it was. */
export function readRevision(nexusHome: string, digest: string): Revision | undefined {
  if (!hasRevision(nexusHome, digest)) return undefined
  try {
    const { bytes } = readSmall(revisionPath(nexusHome, digest), { maxBytes: MAX_BYTES })
    let at = bytes.indexOf(10) + 1
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, at))) as Head
    const files = head.map(([path, size, executable]) => ({
      path,
      bytes: bytes.subarray(at, (at += size)),
      executable,
    }))
    const manifest = files.map(({ path, bytes: own, executable }) => ({
      ...{ path, executable, size: own.length, sha256: sha256(own) },
    }))
    return treeDigest(manifest) === digest ? { files, manifest } : undefined
  } catch {
    // Another program wrote into it.
    return undefined
  }
}

/** The package of a revision that is kept. Throws CONFLICT when it is damaged; then it is no longer kept. */
export async function packageOfRevision({ nexusHome }: Pick<Scope, 'nexusHome'>, skill: LockedSkill): Promise<Package> {
  const { place, digest } = skill
  const name = nameOfPlace(place)
  const revision = readRevision(nexusHome, digest)
  const text = revision?.files.find(({ path }) => path === SKILL_FILE)?.bytes
  const document = text && parseSkill(text, { path: SKILL_FILE }).document
  if (revision && document) return { ...revision, ...{ path: '', name, description: '', directory: name, digest, document, leftOut: [] } } // oxfmt-ignore
  using tree = openRevisions(nexusHome)
  await tree.removeAll(nameOf(digest))
  throw installError('CONFLICT', MESSAGES.revisionDamaged(name))
}

/** Keeps a revision, so that it can be placed again without its source. */
export async function keepRevision(
  nexusHome: string,
  { digest, files }: Pick<Package, 'digest' | 'files'>,
): Promise<void> {
  if (hasRevision(nexusHome, digest)) return
  const head: Head = files.map(({ path, bytes, executable }) => [path, bytes.length, executable])
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...files.map((file) => file.bytes)])
  using tree = openRevisions(nexusHome)
  await tree.write(nameOf(digest), { bytes, mode: 0o600 })
}

/** Another process may have a revision under way that no lock has yet. */
const YOUNG_MS = 3_600_000

/** Removes the revisions that no lock and no memory refers to, and what dead processes left. */
export async function collectRevisions(nexusHome: string, used: ReadonlySet<string> | undefined): Promise<void> {
  if (used === undefined) return
  const directory = privateDirectory(nexusHome, 'revisions')
  using tree = new Tree(directory)
  for (const { name } of (await tree.list('')).entries) {
    const hex = /^([0-9a-f]{64})\.files$/.exec(name)?.[1]
    const isUsed = hex === undefined ? partState(name) === 'writing' : used.has(`sha256:${hex}`)
    if (!isUsed && (partState(name) === 'left' || isOld(`${directory}/${name}`))) await tree.removeAll(name)
  }
}

function isOld(path: string): boolean {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= YOUNG_MS
}

function revisionPath(nexusHome: string, digest: string): string {
  return `${privateDirectory(nexusHome, 'revisions')}/${nameOf(digest)}`
}

function openRevisions(nexusHome: string): Tree {
  return new Tree(privateDirectory(nexusHome, 'revisions'))
}

function nameOf(digest: string): string {
  return `${digest.slice('sha256:'.length)}.files`
}
