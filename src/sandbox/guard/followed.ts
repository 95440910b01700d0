/** followed: where protected places lead. The host acts upon the target of a link and upon what git's configuration names, under any name. */
import { realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { codeOf, readSmall } from '../../files/index.ts'

/** Most bytes of a git configuration that is read. */
const MAX_BYTES = 256 * 1024

/** What git would not read either, or is no configuration. */
const UNREADABLE = ['ENOENT', 'EACCES', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EFBIG']

const CONFIGURATION = /^config(?:\.worktree)?$/

/** Keys whose values git runs, or reads as configuration. */
const RUNS =
  /(?:hookspath|fsmonitor|command|editor|pager|askpass|proxy|path|cmd|textconv|clean|smudge|process|driver|helper|program|hook|external)\s*=/i

/** Whether a protected place may lead to another one: only links do, and configurations of git. */
export function mayLead(path: string, kind: string): boolean {
  return kind === 'link' || CONFIGURATION.test(posix.basename(path))
}

/** Paths below the workspace to which protected links and git configurations lead. `found` are protected places that exist. */
export function followPlaces(workspace: string, found: readonly string[]): string[] {
  const targets = found.flatMap((path) => [realPathOf(workspace, path), ...namedByGit(workspace, path)])
  const inside = targets.filter((target) => target?.startsWith(`${workspace}/`)) as string[]
  const known = new Set(found)
  return [...new Set(inside.map((target) => target.slice(workspace.length + 1)))].filter((path) => !known.has(path))
}

function realPathOf(directory: string, path: string): string | undefined {
  try {
    return realpathSync(posix.resolve(directory, path))
  } catch {
    // It leads nowhere, so nothing acts upon it.
    return undefined
  }
}

/** Real paths that exist among the values of a git configuration: `core.hooksPath`, `include.path`, programs of filters. */
function namedByGit(workspace: string, path: string): (string | undefined)[] {
  if (!CONFIGURATION.test(posix.basename(path))) return []
  const repository = posix.join(workspace, posix.dirname(path))
  const roots = [repository, posix.dirname(repository), workspace]
  let isAlias = false
  return textOf(posix.join(workspace, path))
    .split('\n')
    .flatMap((line) => {
      if (/^\s*\[/.test(line)) isAlias = /^\s*\[\s*alias\b/i.test(line)
      const value = isAlias || RUNS.test(line) ? line.slice(line.indexOf('=') + 1) : ''
      return value.split(/[\s"'!;|&]+/).filter(Boolean)
    })
    .flatMap((word) => roots.map((root) => realPathOf(root, word)))
    .filter((target) => !roots.includes(target ?? ''))
}

function textOf(path: string): string {
  try {
    return new TextDecoder().decode(readSmall(path, { maxBytes: MAX_BYTES }).bytes)
  } catch (error) {
    if (UNREADABLE.includes(codeOf(error))) return ''
    throw error
  }
}
