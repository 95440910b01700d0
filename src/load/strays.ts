import type { Dirent } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'

import type { StrayFile } from '../catalog/index.ts'
import { parseSkill } from '../format/index.ts'
import { nameKey, NexusError } from '../kernel/index.ts'
import { readContained, SOURCE_LIMITS } from '../sources/index.ts'

export interface StrayOptions {
  /** Directories that are searched for skills. */
  readonly roots: readonly string[]
  /** Looked through as well: a skill may lie beside the roots. */
  readonly workspace?: string
  /** Files of skills that were found; they are no strays. */
  readonly known?: ReadonlySet<string>
  readonly signal?: AbortSignal
}

/** One directory to look into. */
interface Place {
  readonly path: string
  readonly top: string
  readonly depth: number
  /** Why a skill here would not be found; undefined while it would. */
  readonly why: StrayFile['why'] | undefined
}

const MAX_DIRECTORIES = 10_000
const MAX_STRAYS = 20
const MAX_DEPTH = 16
const MAX_SKILL_BYTES = 262_144

/**
 * Looks for a skill where none is looked for: inside another skill, too deep, in hidden directories, beside the roots, or without
 * a SKILL.md. For `explainSkill`; bounded, follows no link, skips what it may not read. Throws CANCELLED.
 */
export async function findStrays(name: string, options: StrayOptions): Promise<readonly StrayFile[]> {
  const { signal, known = new Set() } = options
  const wanted = nameKey(name.trim().replace(/^\$/, '').replace(/^.*\//, ''))
  const open = await startsOf(options)
  const later: Place[] = []
  const roots = new Set(open.filter(({ why }) => why === undefined).map(({ path }) => path))
  const strays: StrayFile[] = []
  for (let looked = 0; looked < MAX_DIRECTORIES && strays.length < MAX_STRAYS; looked++) {
    throwIfAborted(signal)
    // Hidden directories and node_modules may be huge, so they come last.
    const place = open.shift() ?? later.shift()
    if (!place) break
    const entries = await list(place.path)
    const hasSkill = entries.some((entry) => entry.name === 'SKILL.md' && entry.isFile())
    const stray = await strayIn(place, { entries, hasSkill, wanted })
    if (stray && !known.has(stray.file)) strays.push(stray)
    for (const next of below(place, entries, hasSkill)) {
      if (!roots.has(next.path)) (next.why === 'hidden' ? later : open).push(next)
    }
  }
  return strays
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new NexusError('CANCELLED', 'The search was cancelled.', { cause: signal.reason })
}

async function startsOf({ roots, workspace }: StrayOptions): Promise<Place[]> {
  const starts: Place[] = []
  for (const [path, why] of [
    ...roots.map((root) => [root, undefined] as const),
    ...(workspace === undefined ? [] : [[workspace, 'beside-root'] as const]),
  ]) {
    try {
      const real = await realpath(path)
      if (!starts.some((start) => start.path === real)) starts.push({ path: real, top: real, depth: 0, why })
    } catch {
      // A root that does not exist holds no strays; the sources have said so.
    }
  }
  return starts
}

async function list(path: string): Promise<readonly Dirent[]> {
  try {
    return (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    // Gone or closed to us: nothing can be said about it.
    return []
  }
}

interface Contents {
  readonly entries: readonly Dirent[]
  readonly hasSkill: boolean
  readonly wanted: string
}

async function strayIn(place: Place, { entries, hasSkill, wanted }: Contents): Promise<StrayFile | undefined> {
  const isNamed = place.depth > 0 && nameKey(basename(place.path)) === wanted
  if (hasSkill) {
    if (place.why === undefined || !(isNamed || (await isLabelled(place, wanted)))) return undefined
    return { file: join(place.path, 'SKILL.md'), why: place.why }
  }
  if (place.why !== undefined) return undefined
  if (isNamed) return { file: place.path, why: 'no-skill-file' }
  const flat = entries.find(
    (entry) => entry.isFile() && nameKey(entry.name.replace(/\.(?:md|markdown)$/i, '')) === wanted,
  )
  return flat && /\.(?:md|markdown)$/i.test(flat.name)
    ? { file: join(place.path, flat.name), why: 'no-skill-file' }
    : undefined
}

/** True when the frontmatter says that name. */
async function isLabelled({ path, top }: Place, wanted: string): Promise<boolean> {
  try {
    const file = join(path, 'SKILL.md').slice(top.length + 1)
    const { bytes } = await readContained(top, file, { maxBytes: MAX_SKILL_BYTES })
    const { document } = parseSkill(bytes, { path: file })
    return document?.name !== undefined && nameKey(document.name) === wanted
  } catch {
    // Not readable, so it has no name.
    return false
  }
}

function below(place: Place, entries: readonly Dirent[], hasSkill: boolean): readonly Place[] {
  const depth = place.depth + 1
  if (depth > MAX_DEPTH) return []
  return entries.flatMap((entry) => {
    if (!entry.isDirectory() || entry.name === '.git') return []
    const isHidden = entry.name.startsWith('.') || entry.name === 'node_modules'
    const why = isHidden ? 'hidden' : (place.why ?? (hasSkill ? 'below-skill' : tooDeep(depth)))
    return [{ path: join(place.path, entry.name), top: place.top, depth, why }]
  })
}

function tooDeep(depth: number): 'too-deep' | undefined {
  return depth > SOURCE_LIMITS.maxDepth ? 'too-deep' : undefined
}
