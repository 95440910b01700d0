import { accessSync, constants } from 'node:fs'
import { basename, dirname, relative, sep } from 'node:path'
import { isLeftOut } from '../listing.ts'
import { isInside } from '../skill-file.ts'
import type { Location } from './roots.ts'

/** Levels below a root that are watched. The scan ends earlier; this counts the folders inside a skill too. */
const MAX_DEPTH = 16

/** What one chokidar watcher watches. */
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
