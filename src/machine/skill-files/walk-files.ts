import { closeSync, type Stats } from 'node:fs'
import {
  bytesOf,
  type Directory,
  type Holding,
  kindOf,
  listNames,
  type OpenedFile,
  openRoot,
  type Pace,
  readInto,
} from '../files/index.ts'
import {
  compareUtf8,
  createSha256,
  isNexusError,
  type ManifestEntry,
  NexusError,
  sha256,
  SKILL_FILE,
} from '../../kernel/index.ts'
import { asSkillFailure, createPace } from './failures.ts'

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
  readonly signal?: AbortSignal | undefined
  readonly limits?: Partial<ManifestLimits>
  /** How directories are held; for tests. Default: what works here. */
  readonly holding?: Holding
}

/** Something in a skill's directory that is not a regular file: neither read nor placed, so not part of the skill. */
export interface LeftOut {
  /** Relative to the skill's directory, with forward slashes. */
  readonly path: string
  /** Such as `a link`. */
  readonly kind: string
}

/** One file; the digest is missing where contents were not asked for. */
export type WalkedFile = Omit<ManifestEntry, 'sha256'> & { readonly sha256?: string }

export interface Walked {
  readonly files: readonly WalkedFile[]
  readonly leftOut: readonly LeftOut[]
  /** The fault that ended the walk; files met until then count. */
  readonly problem?: NexusError
}

export interface WalkOptions extends ReadManifestOptions {
  /** False: nothing is read, so there are no digests. */
  readonly contents: boolean
  /** For a SKILL.md that is a link: opens the file that counts as it. */
  readonly openSkillFile?: (() => OpenedFile) | undefined
}

/** No part of a skill: the history of a checkout and what a file browser leaves. They are neither hashed nor placed. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.DS_Store'])
const READABLE_BY_ALL = 0o444

interface Walk extends Pick<WalkOptions, 'contents' | 'openSkillFile'> {
  readonly root: string
  readonly limits: ManifestLimits
  readonly pace: Pace
  readonly files: WalkedFile[]
  readonly leftOut: LeftOut[]
  readonly buffer: Uint8Array
  totalBytes: number
}

/** Every file below a directory (a real path), in no order. Throws only CANCELLED; anything else that is wrong ends the walk as its `problem`. */
export async function walkFiles(directory: string, options: WalkOptions): Promise<Walked> {
  const { contents, openSkillFile } = options
  const walk: Walk = {
    root: directory,
    contents,
    openSkillFile,
    limits: { ...MANIFEST_LIMITS, ...options.limits },
    pace: createPace(options.signal),
    files: [],
    leftOut: [],
    // To fill a new one with zeros took a tenth of the time of a small skill.
    buffer: Buffer.allocUnsafeSlow(contents ? 65_536 : 0),
    totalBytes: 0,
  }
  const { files, leftOut } = walk
  try {
    await walk.pace()
    await addDirectory(walk, openRoot(directory, { isReal: true, holding: options.holding }), '', 0)
    return { files, leftOut }
  } catch (cause) {
    const error = asSkillFailure(cause)
    if (!isNexusError(error) || error.code === 'CANCELLED') throw error
    return { files, leftOut, problem: error }
  }
}

async function addDirectory(walk: Walk, directory: Directory, prefix: string, depth: number): Promise<void> {
  try {
    const { entries } = await listNames(directory, { pace: walk.pace })
    for (const { name, kind } of entries.sort((a, b) => compareUtf8(a.name, b.name))) {
      if (LEFT_OUT.has(name)) continue
      const path = `${prefix}${name}`
      checkPath(walk, path, name)
      // A file that is read is looked at when it is open.
      const stats = walk.contents && kind === 'file' ? undefined : directory.look(name)
      if (stats?.isDirectory()) {
        if (depth + 1 >= walk.limits.maxDepth) throw tooDeep(walk, path)
        await addDirectory(walk, directory.directory(name), `${path}/`, depth + 1)
      } else if (stats === undefined || stats.isFile()) {
        await addFile(walk, path, stats, () => directory.file(name))
      } else if (path === SKILL_FILE && walk.openSkillFile) {
        await addFile(walk, path, undefined, walk.openSkillFile)
      } else {
        countOne(walk)
        walk.leftOut.push({ path, kind: kindOf(stats) })
      }
    }
  } finally {
    directory.close()
  }
}

/** `stats` is undefined when only opening the file shows them. */
async function addFile(walk: Walk, path: string, stats: Stats | undefined, open: () => OpenedFile): Promise<void> {
  countOne(walk)
  // Readable for all, so it need not be opened to find out.
  if (!walk.contents && stats && (stats.mode & READABLE_BY_ALL) === READABLE_BY_ALL) return addSize(walk, path, stats)
  const file = open()
  try {
    if (walk.contents) await addContents(walk, path, file)
    else await addSize(walk, path, file.stats)
  } finally {
    closeSync(file.fd)
  }
}

async function addSize(walk: Walk, path: string, { size, mode }: Stats): Promise<void> {
  checkSize(walk, path, size)
  walk.totalBytes += size
  walk.files.push({ path, size, executable: (mode & 0o111) !== 0 })
  await walk.pace()
}

async function addContents(walk: Walk, path: string, { fd, stats }: OpenedFile): Promise<void> {
  const { buffer } = walk
  let size = 0
  // The shared buffer is used up before anything else can run.
  const next = (): Uint8Array => {
    const count = readInto(fd, buffer, { position: size, size: stats.size - size })
    size += count
    checkSize(walk, path, Math.max(size, stats.size))
    return buffer.subarray(0, count)
  }
  const first = next()
  const digest = first.length < buffer.length ? sha256(first) : await hashRest(walk, first, next)
  walk.totalBytes += size
  walk.files.push({ path, size, executable: (stats.mode & 0o111) !== 0, sha256: digest })
  const pause = walk.pace()
  if (pause) await pause
}

async function hashRest({ pace, buffer }: Walk, first: Uint8Array, next: () => Uint8Array): Promise<string> {
  const hash = createSha256().update(first)
  for (let part = first; part.length === buffer.length;) {
    await pace()
    part = next()
    hash.update(part)
  }
  return hash.digest('hex')
}

function checkPath(walk: Walk, path: string, name: string): void {
  if (!name.isWellFormed()) throw notUtf8(`${walk.root}/${path}`, name)
  if (/[\p{Cc}\\]/u.test(name)) {
    throw new NexusError(
      'SKILL_INVALID',
      `${JSON.stringify(path)} in ${JSON.stringify(walk.root)} has a name with a control character or a backslash`,
      { path: `${walk.root}/${path}`, fix: 'rename it, or remove it' },
    )
  }
  if (Buffer.byteLength(path) > walk.limits.maxPathBytes) {
    throw exceeded(walk, `has a path longer than ${walk.limits.maxPathBytes} bytes`, {
      path: `${walk.root}/${path}`,
      fix: 'give it and the directories around it shorter names',
    })
  }
}

function notUtf8(path: string, name: string): NexusError {
  const directory = path.slice(0, -name.length - 1)
  const shown = Buffer.from(bytesOf(name)).toString('latin1')
  return new NexusError(
    'SKILL_INVALID',
    `${JSON.stringify(directory)} holds a file whose name is not UTF-8: ${JSON.stringify(shown)}`,
    { path: directory, fix: 'rename the file' },
  )
}

function countOne(walk: Walk): void {
  const { maxFiles } = walk.limits
  if (walk.files.length + walk.leftOut.length < maxFiles) return
  throw tooMuch(walk, `has more than ${maxFiles} files`, () => 1)
}

function checkSize(walk: Walk, path: string, size: number): void {
  const { maxFileBytes, maxTotalBytes } = walk.limits
  if (size > maxFileBytes) {
    throw exceeded(walk, `has a file of ${size} bytes, ${JSON.stringify(path)}; the limit is ${maxFileBytes}`, {
      path: `${walk.root}/${path}`,
      fix: 'make it smaller, or move it out of the skill and have the skill fetch it when it is needed',
    })
  }
  if (walk.totalBytes + size <= maxTotalBytes) return
  throw tooMuch(walk, `has more than ${maxTotalBytes} bytes in all`, (file) => file.size)
}

function tooDeep(walk: Walk, path: string): NexusError {
  return exceeded(walk, `has more than ${walk.limits.maxDepth} levels of directories`, {
    path: `${walk.root}/${path}`,
    fix: 'move what lies that deep further up',
  })
}

/** Names the directory directly below the skill that weighs most, unless most lies beside the SKILL.md. */
function tooMuch(walk: Walk, what: string, weigh: (file: WalkedFile) => number): NexusError {
  const weights = new Map<string, number>()
  for (const file of walk.files) {
    const slash = file.path.indexOf('/')
    const top = slash < 0 ? '' : file.path.slice(0, slash)
    weights.set(top, (weights.get(top) ?? 0) + weigh(file))
  }
  const [most] = [...weights].reduce((heaviest, each) => (each[1] > heaviest[1] ? each : heaviest), ['', 0])
  if (most === '')
    return exceeded(walk, what, {
      path: walk.root,
      fix: 'remove what the skill does not need, or pack many files into one',
    })
  const fix = `most of it lies in ${JSON.stringify(most)}: move that out of the directory of skills, or remove it`
  return exceeded(walk, what, { path: `${walk.root}/${most}`, fix })
}

function exceeded(walk: Walk, what: string, how: { path: string; fix: string }): NexusError {
  return new NexusError('LIMIT_EXCEEDED', `the skill ${JSON.stringify(walk.root)} ${what}`, how)
}
