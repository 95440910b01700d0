/** copies: places of programs copied to where another user can read them, for a root that may not mount. */
import { createSha256, randomHex } from '../../../kernel/index.ts'
import { constants, existsSync, type Stats } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, readdir, readlink, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HIDDEN } from '../../programs/index.ts'
import { PROGRAMS } from '../messages.ts'
import { tryRemoveTree } from '../runner/temp.ts'

/** Most that is copied of one place. A Python of pyenv has 110 MB in 5,500 files. */
export const COPY_LIMITS = { files: 50_000, bytes: 1024 ** 3 } as const

interface Listed {
  /** Relative to the place; empty for itself. */
  readonly path: string
  readonly stats: Stats
}

/** The copy of a place, made when it is not there; or why there is none, in words. */
export async function copyPlace(
  place: string,
  parent: string,
  limits = COPY_LIMITS,
): Promise<{ readonly copy: string } | { readonly why: string }> {
  const listed = await list(place)
  const files = listed.length
  const bytes = listed.reduce((sum, { stats }) => sum + (stats.isFile() ? stats.size : 0), 0)
  if (files > limits.files || bytes > limits.bytes) return { why: PROGRAMS.tooLarge({ files, bytes }, limits) }
  const key = createSha256().update(place)
  for (const { path, stats } of listed)
    key.update(`\0${path}\0${stats.mode}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`)
  const copy = join(parent, `copy-${key.digest('hex').slice(0, 32)}`)
  if (existsSync(copy)) return { copy }
  const part = join(parent, `.part-${randomHex(8)}`)
  try {
    for (const each of listed) await copyOne(each, join(place, each.path), join(part, each.path))
    await rename(part, copy)
  } catch (error) {
    await tryRemoveTree(part)
    // Another process that copied the same was faster.
    if (!existsSync(copy)) throw error
  }
  return { copy }
}

async function list(place: string): Promise<Listed[]> {
  const found: Listed[] = []
  const waiting = ['']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const stats = await lstat(join(place, path))
    found.push({ path, stats })
    if (found.length > COPY_LIMITS.files) return found
    if (!stats.isDirectory()) continue
    const names = await readdir(join(place, path))
    waiting.push(...names.toSorted().map((name) => join(path, name)))
  }
  return found
}

async function copyOne({ path, stats }: Listed, from: string, to: string): Promise<void> {
  if (stats.isDirectory()) {
    await mkdir(to, { mode: 0o755 })
    return chmod(to, 0o755)
  }
  if (stats.isSymbolicLink()) return symlink(await readlink(from), to)
  if (!stats.isFile()) return
  // It is covered by a mount of its own.
  if ((HIDDEN as readonly string[]).includes(path)) await writeFile(to, '')
  else await copyFile(from, to, constants.COPYFILE_FICLONE)
  await chmod(to, (stats.mode & 0o100) === 0 ? 0o644 : 0o755)
}
