import { existsSync, statSync } from 'node:fs'
import { isOwnerGone, ownerToken, Tree } from '../../machine/files/index.ts'
import { MANIFEST_LIMITS, treeDigest } from '../../machine/skill-files/index.ts'
import { sha256 } from '../../kernel/index.ts'
import type { Package, PackedFile } from './found.ts'
import { randomHex } from './names.ts'
import { writeFiles } from './place.ts'
import { privateDirectory } from './scope.ts'

/** The files of a revision, checked against its digest; undefined when it is not kept, or no longer what it was. */
export async function readRevision(nexusHome: string, digest: string): Promise<readonly PackedFile[] | undefined> {
  const directory = revisionPath(nexusHome, digest)
  if (!existsSync(directory)) return undefined
  const tree = new Tree(directory)
  try {
    const paths: { path: string; executable: boolean }[] = []
    await tree.walk({
      visit: ({ path, kind }) => {
        if (kind === 'file') paths.push({ path, executable: ((tree.entry(path)?.mode ?? 0) & 0o111) !== 0 })
      },
    })
    const files: PackedFile[] = []
    for (const { path, executable } of paths) {
      const { bytes } = await tree.read(path, { maxBytes: MANIFEST_LIMITS.maxFileBytes })
      files.push({ path, bytes, executable })
    }
    const entries = files.map(({ path, bytes, executable }) => ({
      ...{ path, executable, size: bytes.length, sha256: sha256(bytes) },
    }))
    return treeDigest(entries) === digest ? files : undefined
  } finally {
    tree.close()
  }
}

/** Keeps a revision, so that it can be placed again without its source. */
export async function keepRevision(
  nexusHome: string,
  { digest, files }: Pick<Package, 'digest' | 'files'>,
): Promise<void> {
  const tree = openRevisions(nexusHome)
  const part = `.new-${ownerToken()}-${randomHex()}`
  try {
    if (tree.entry(nameOf(digest)) !== undefined) return
    await writeFiles(tree, part, files)
    tree.rename(part, nameOf(digest))
  } catch (error) {
    await tree.removeAll(part)
    if (tree.entry(nameOf(digest)) === undefined) throw error
  } finally {
    tree.close()
  }
}

/** Another process may have a revision under way that no lock has yet. */
const YOUNG_MS = 3_600_000

/** Removes the revisions that no lock and no memory refers to, and what dead processes left. */
export async function collectRevisions(nexusHome: string, used: ReadonlySet<string> | undefined): Promise<void> {
  if (used === undefined) return
  const tree = openRevisions(nexusHome)
  try {
    const { entries } = await tree.list('')
    for (const { name } of entries) {
      const owner = /^\.new-(\d+-\d+-\d+)-[0-9a-f]{8}$/.exec(name)?.[1]
      const isLeft =
        owner === undefined
          ? /^[0-9a-f]{64}$/.test(name) && !used.has(`sha256:${name}`) && !isYoung(nexusHome, name)
          : isOwnerGone(owner)
      if (isLeft) await tree.removeAll(name)
    }
  } finally {
    tree.close()
  }
}

function isYoung(nexusHome: string, name: string): boolean {
  const stats = statSync(`${privateDirectory(nexusHome, 'revisions')}/${name}`, { throwIfNoEntry: false })
  return Date.now() - (stats?.mtimeMs ?? 0) < YOUNG_MS
}

/** Where a kept revision is. */
export function revisionPath(nexusHome: string, digest: string): string {
  return `${privateDirectory(nexusHome, 'revisions')}/${nameOf(digest)}`
}

function openRevisions(nexusHome: string): Tree {
  return new Tree(privateDirectory(nexusHome, 'revisions'))
}

function nameOf(digest: string): string {
  return digest.slice('sha256:'.length)
}
