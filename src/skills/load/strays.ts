import { type Dirent, promises } from 'node:fs'
import { basename, join, posix } from 'node:path'
import type { StrayFile } from '../diagnose/index.ts'
import { parseSkill } from '../format/index.ts'
import { nameKey, NexusError, SKILL_FILE } from '../../kernel/index.ts'
import { SOURCE_LIMITS } from '../sources/index.ts'
import { readContained } from '../../machine/skill-files/index.ts'
import { MESSAGES } from './messages.ts'

export interface StrayOptions {
  /** Directories that are searched for skills. */
  readonly roots: readonly string[]
  /** Looked through as well: a skill may lie beside the roots. */
  readonly workspace?: string
  /** Folders of skills above the workspace. */
  readonly above?: readonly string[]
  /** Directories where other programs keep their skills. */
  readonly elsewhere?: readonly string[]
  /** Files of skills that were found; they are no strays. */
  readonly known?: ReadonlySet<string>
  readonly signal?: AbortSignal
}

interface Directory {
  readonly path: string
  readonly top: string
  readonly depth: number
  /** Why a skill here would not be found; undefined while it would. */
  readonly why: StrayFile['why'] | undefined
  /** The directory of the skill around it. */
  readonly inside?: string | undefined
}

const MAX_DIRECTORIES = 10_000
const MAX_STRAYS = 20
const MAX_DEPTH = 16
const MAX_SKILL_BYTES = 262_144

/**
 * Looks for a skill where none is looked for: inside another skill, too deep, in hidden directories, beside the roots. For `diagnose`; bounded,
 * follows no link, skips what it may not read. Throws CANCELLED.
 */
export async function findStrays(name: string, options: StrayOptions): Promise<readonly StrayFile[]> {
  const { signal, known = new Set() } = options
  const wanted = wantedName(name)
  const open = await startsOf(options)
  const later: Directory[] = []
  const roots = new Set(open.filter(({ why }) => why === undefined).map(({ path }) => path))
  const strays: StrayFile[] = []
  // Hidden directories and node_modules may be huge, so they come last.
  const enqueue = (place: Directory): void => {
    if (!roots.has(place.path)) (place.why === 'hidden' ? later : open).push(place)
  }
  for (let looked = 0; looked < MAX_DIRECTORIES && strays.length < MAX_STRAYS; looked++) {
    throwIfAborted(signal)
    const place = open.shift() ?? later.shift()
    if (!place) break
    const entries = await list(place.path)
    if (entries === undefined) continue
    const skillFile = entries.find(
      (entry) => !entry.isDirectory() && entry.name.toLowerCase() === SKILL_FILE.toLowerCase(),
    )?.name
    const stray = await strayIn(place, skillFile, wanted)
    if (stray && !known.has(stray.file)) strays.push(stray)
    for (const next of below(place, entries, skillFile === SKILL_FILE)) enqueue(next)
  }
  return strays
}

/** The last part of what was asked for: a name, `source/name`, a directory or the path of a SKILL.md. */
function wantedName(asked: string): string {
  const path = asked.trim().replace(/^\$/, '')
  return nameKey(posix.basename(path.replace(/\/+skill\.md$/i, '')))
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new NexusError('CANCELLED', MESSAGES.cancelled('The search'), { cause: signal.reason })
}

async function startsOf({ roots, workspace, above = [], elsewhere = [] }: StrayOptions): Promise<Directory[]> {
  const given = { 'in-root': roots, above, elsewhere, 'beside-root': workspace === undefined ? [] : [workspace] }
  const starts = new Map<string, Directory>()
  for (const [kind, paths] of Object.entries(given) as [keyof typeof given, readonly string[]][])
    for (const each of paths) {
      // A root that does not exist contains no strays; the sources have said so.
      const path = await promises.realpath(each).catch(() => undefined)
      const why = kind === 'in-root' ? undefined : kind
      if (path !== undefined && !starts.has(path)) starts.set(path, { path, top: path, depth: 0, why })
    }
  return [...starts.values()]
}

async function list(path: string): Promise<readonly Dirent[] | undefined> {
  try {
    return (await promises.readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    // Gone or closed to us: nothing can be said about it.
    return undefined
  }
}

/** `skillFile`: the name of the file that is SKILL.md, whatever its case. */
async function strayIn(
  place: Directory,
  skillFile: string | undefined,
  wanted: string,
): Promise<StrayFile | undefined> {
  const { path, why, inside } = place
  const isNamed = place.depth > 0 && [wanted, `.${wanted}`].includes(nameKey(basename(path)))
  if (skillFile === undefined) return isNamed && why === undefined ? { file: path, why: 'no-skill-file' } : undefined
  if (why === undefined || !(isNamed || (await isLabelled(place, skillFile, wanted)))) return undefined
  return { file: join(path, skillFile), why, inside }
}

/** True when the frontmatter says that name. */
async function isLabelled({ path, top }: Directory, skillFile: string, wanted: string): Promise<boolean> {
  try {
    const file = join(path, skillFile).slice(top.length + 1)
    const { bytes } = await readContained(top, file, { maxBytes: MAX_SKILL_BYTES })
    return nameKey(parseSkill(bytes, { path: file }).document?.name ?? '') === wanted
  } catch {
    // Not readable, so it says nothing.
    return false
  }
}

function below(place: Directory, entries: readonly Dirent[], hasSkill: boolean): readonly Directory[] {
  const depth = place.depth + 1
  if (depth > MAX_DEPTH) return []
  const tooDeep = depth > SOURCE_LIMITS.maxDepth ? 'too-deep' : undefined
  return entries.flatMap((entry) => {
    if (!entry.isDirectory() || entry.name === '.git') return []
    const isHidden = entry.name.startsWith('.') || entry.name === 'node_modules'
    const why = isHidden ? 'hidden' : (place.why ?? (hasSkill ? 'below-skill' : tooDeep))
    const inside = place.inside ?? (hasSkill ? place.path : undefined)
    return [{ path: join(place.path, entry.name), top: place.top, depth, why, inside }]
  })
}
