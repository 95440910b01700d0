import { lstatSync, readlinkSync, realpathSync, statfsSync, statSync, accessSync, constants } from 'node:fs'
import { basename, dirname, resolve, relative, sep } from 'node:path'
import { isInside } from '../skill-file.ts'
import { type SourceFolder, isLeftOut } from '../source.ts'

/** Where a root is now, and where one would notice that it comes, goes or is replaced. */
export interface Location {
  /** Real path; undefined while there is no such directory, or it leads out of its source. */
  readonly path: string | undefined
  /** Another string means another directory, or another way to it. */
  readonly identity: string
  /** Real paths of directories, each with the names in it that lead to the root. */
  readonly anchors: ReadonlyMap<string, ReadonlySet<string>>
}

/** Looks at the path of a source's folder. Never throws. */
export function locate({ path, within }: SourceFolder): Location {
  const asked = resolve(path)
  const anchors = new Map<string, Set<string>>()
  anchorsOf(asked, { anchors, linksLeft: 20 })
  let found: { readonly real: string; readonly identity: string } | undefined
  try {
    const real = realpathSync.native(asked)
    anchor(real, anchors)
    const stats = statSync(real)
    const isOurs = stats.isDirectory() && (within === undefined || isInside(real, realpathSync.native(within)))
    if (isOurs) found = { real, identity: `${stats.dev}:${stats.ino}:${stats.birthtimeMs}` }
  } catch {
    // Not there, or closed to us: the scan says which; we wait for it.
  }
  const way = [...anchors].map(([directory, names]) => [directory, ...names])
  return { path: found?.real, identity: JSON.stringify([found, way]), anchors }
}

/** Every part of a path that could be exchanged by an entry of a directory: the last part, links on the way, the first one missing. */
function anchorsOf(path: string, search: { readonly anchors: Map<string, Set<string>>; linksLeft: number }): void {
  for (let part = path, isLast = true; part !== dirname(part); part = dirname(part), isLast = false) {
    const stats = statsOf(part)
    if (isLast || stats === undefined || stats.isSymbolicLink()) anchor(part, search.anchors)
    if (stats?.isSymbolicLink() && search.linksLeft-- > 0) anchorsOf(targetOf(part), search)
  }
}

function anchor(path: string, anchors: Map<string, Set<string>>): void {
  if (dirname(path) === path) return
  try {
    const directory = realpathSync.native(dirname(path))
    const names = anchors.get(directory) ?? new Set()
    anchors.set(directory, names.add(basename(path)))
  } catch {
    // Missing as well: then a directory further up is watched.
  }
}

function statsOf(path: string): ReturnType<typeof lstatSync> {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // A part of it is a file or closed to us: for us it is not there.
    return undefined
  }
}

function targetOf(link: string): string {
  try {
    return resolve(dirname(link), readlinkSync(link))
  } catch {
    // It changed meanwhile; the root's own path is watched in any case.
    return dirname(link)
  }
}

/** Types of file systems whose content others change without the kernel here knowing: NFS, SMB, 9p, FUSE, Ceph, AFS. */
const REMOTE = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x00c36400, 0x5346414f])

/** True when the kernel does not give events for every change below a path. Linux only; elsewhere false. */
export function isRemote(path: string): boolean {
  if (process.platform !== 'linux') return false
  try {
    return REMOTE.has(statfsSync(path).type >>> 0)
  } catch {
    // Gone again: then its parent is watched.
    return false
  }
}

/** Levels below a root that are watched. The scan ends earlier; this counts the folders inside a skill too. */
const MAX_DEPTH = 16

export interface Area {
  readonly directory: string
  /** Entries of the directory that are on the way to the root. */
  readonly names: ReadonlySet<string>
  /** The directory whose whole content counts: this one or one in it. */
  readonly content: string | undefined
}

/** One area for each directory on the way; that of the root's parent has the root's content. */
export function areasOf({ path, anchors }: Location): Area[] {
  const above = path === undefined ? undefined : dirname(path)
  const holder = above !== undefined && anchors.has(above) && isReadable(above) ? above : path
  const areas = [...anchors].map(([directory, names]) => ({
    directory,
    names,
    content: directory === holder ? path : undefined,
  }))
  return path !== undefined && holder === path
    ? [...areas, { directory: path, names: new Set(), content: path }]
    : areas
}

function isReadable(directory: string): boolean {
  try {
    accessSync(directory, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** True for what counts as content of the root, and for the root itself. */
export function isContent({ content }: Area, path: string): boolean {
  return content !== undefined && isBelow(content, path)
}

/** True for an entry that leads to the root, if only by a link. */
export function isOnTheWay({ directory, names }: Area, path: string): boolean {
  return dirname(path) === directory && names.has(basename(path))
}

/** True for the directory and what is in it, hidden directories left out. */
export function isBelow(directory: string, path: string): boolean {
  if (!isInside(path, directory)) return false
  const parts = relative(directory, path).split(sep)
  return parts.length <= MAX_DEPTH + 1 && !parts.slice(0, -1).some(isLeftOut)
}

export function isHidden(directory: string): boolean {
  return isLeftOut(basename(directory))
}
