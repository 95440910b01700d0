import { createHash } from 'node:crypto'
import { closeSync } from 'node:fs'
import { compareUtf8, treeDigest } from '../../format/index.ts'
import { type Manifest, type ManifestEntry, NexusError } from '../../kernel/index.ts'
import { createPace, type Pace } from '../pace.ts'
import { type Holding, type OpenDirectory, openRoot } from './beneath.ts'
import { kindOf, type OpenedFile, readInto } from './open.ts'

/** Limits of a skill's files. Source: reference/security §2.3, contracts §2.5. */
export const MANIFEST_LIMITS = {
  maxFiles: 2_000,
  maxTotalBytes: 52_428_800,
  maxFileBytes: 10_485_760,
  /** Levels of directories, and bytes of one path. */
  maxDepth: 16,
  maxPathBytes: 512,
} as const

/** `MANIFEST_LIMITS` with other numbers. */
export type ManifestLimits = { readonly [name in keyof typeof MANIFEST_LIMITS]: number }

export interface ReadManifestOptions {
  readonly signal?: AbortSignal
  readonly limits?: Partial<ManifestLimits>
  /** How directories are held; for tests. Default: what works here. */
  readonly holding?: Holding
}

/** No part of a skill: the history of a checkout and what a file browser leaves. They are neither hashed nor placed. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.DS_Store'])

const UNUSABLE_NAME = /[\p{Cc}\\]/u

interface Walk {
  readonly root: string
  readonly limits: ManifestLimits
  readonly pace: Pace
  readonly files: ManifestEntry[]
  readonly buffer: Uint8Array
  totalBytes: number
}

/**
 * Every file of a skill with its size, executable bit and sha256, and the digest over them. Hidden files and node_modules count;
 * only `.git` and `.DS_Store` do not. `directory` is a real path. Throws SKILL_INVALID for links, special files and unusable names,
 * each by its path, LIMIT_EXCEEDED, FILE_NOT_FOUND, PATH_OUTSIDE, CANCELLED.
 */
export async function readManifest(directory: string, options: ReadManifestOptions = {}): Promise<Manifest> {
  const walk: Walk = {
    root: directory,
    limits: { ...MANIFEST_LIMITS, ...options.limits },
    pace: createPace(options.signal),
    files: [],
    buffer: new Uint8Array(262_144),
    totalBytes: 0,
  }
  await walk.pace()
  await addDirectory(walk, openRoot(directory, options.holding), { prefix: '', depth: 0 })
  const files = walk.files.sort((a, b) => compareUtf8(a.path, b.path))
  return { files, treeDigest: treeDigest(files) }
}

async function addDirectory(
  walk: Walk,
  directory: OpenDirectory,
  { prefix, depth }: { prefix: string; depth: number },
): Promise<void> {
  try {
    for (const name of directory.names().sort(compareUtf8)) {
      if (LEFT_OUT.has(name)) continue
      const path = `${prefix}${name}`
      checkPath(walk, path, name)
      const stats = directory.look(name)
      if (stats?.isDirectory()) {
        if (depth + 1 >= walk.limits.maxDepth)
          throw exceeded(walk, `has more than ${walk.limits.maxDepth} levels of directories`)
        await addDirectory(walk, directory.directory(name), { prefix: `${path}/`, depth: depth + 1 })
      } else if (stats === undefined || stats.isFile()) {
        await addFile(walk, directory.file(name), path)
      } else {
        throw invalid(walk, path, `is ${kindOf(stats)}; a skill holds regular files only`)
      }
    }
  } finally {
    directory.close()
  }
}

async function addFile(walk: Walk, file: OpenedFile, path: string): Promise<void> {
  const { limits, files, buffer } = walk
  try {
    if (files.length >= limits.maxFiles) throw exceeded(walk, `has more than ${limits.maxFiles} files`)
    const hash = createHash('sha256')
    let size = 0
    for (let count = buffer.length; count === buffer.length;) {
      count = readInto(file.fd, buffer, size)
      size += count
      if (Math.max(size, file.stats.size) > limits.maxFileBytes) {
        throw exceeded(
          walk,
          `has a file of ${Math.max(size, file.stats.size)} bytes, ${JSON.stringify(path)}; the limit is ${limits.maxFileBytes}`,
        )
      }
      if (walk.totalBytes + size > limits.maxTotalBytes)
        throw exceeded(walk, `has more than ${limits.maxTotalBytes} bytes in all`)
      hash.update(buffer.subarray(0, count))
      // The shared buffer is used up before anything else can run.
      await walk.pace()
    }
    walk.totalBytes += size
    files.push({ path, size, executable: (file.stats.mode & 0o111) !== 0, sha256: hash.digest('hex') })
  } finally {
    closeSync(file.fd)
  }
}

function checkPath(walk: Walk, path: string, name: string): void {
  if (UNUSABLE_NAME.test(name)) {
    throw invalid(walk, path, 'has a name with a control character or a backslash')
  }
  if (Buffer.byteLength(path) > walk.limits.maxPathBytes)
    throw exceeded(walk, `has a path longer than ${walk.limits.maxPathBytes} bytes`)
}

function invalid(walk: Walk, path: string, what: string): NexusError {
  return new NexusError('SKILL_INVALID', `${JSON.stringify(path)} in ${JSON.stringify(walk.root)} ${what}`, {
    fix: 'replace or remove it',
  })
}

function exceeded(walk: Walk, what: string): NexusError {
  return new NexusError('LIMIT_EXCEEDED', `the skill ${JSON.stringify(walk.root)} ${what}`)
}
