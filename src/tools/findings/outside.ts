/** Finds in the output of a command which paths outside the workspace it was refused, and what it left in its home. */
import { resolve } from 'node:path'
import type { CommandFinding } from './finding.ts'
import { type Ran, skillDirectoryOf, textOf } from './ran.ts'

const REFUSED = /read-only file system|permission denied|operation not permitted|\b(?:EROFS|EACCES|EPERM)\b/i
const ABSENT = /no such file or directory|directory nonexistent|\bENOENT\b/i
/** What commands see besides the workspace: a path there that is absent is absent for everybody. */
const SEEN = ['/usr', '/etc', '/lib', '/lib64', '/bin', '/sbin', '/proc', '/sys', '/dev', '/tmp']
/** A path between quotes, or one that ends at a space, colon or comma. */
const PATH =
  /['"\u2018\u201c`]((?:\/|~\/|\.\.\/)[^'"\u2019\u201d`]*)['"\u2019\u201d`]|(?<![\w./~-])((?:\/|~\/|\.\.\/)[^\s:'"\u2019\u201d`,;)]*)/g
/** The shell names itself first. */
const SHELL = /^\S+: line \d+: |^\S*sh: \d+: /
/** The home directory of a command, as the sandbox names it. */
const HOME = '/tmp/home'
const MAX_FINDINGS = 3

export function outsideFindings(ran: Ran): readonly CommandFinding[] {
  // Without confinement a refusal is the system's own.
  if (!ran.isConfined) return []
  const found = new Map<string, CommandFinding>()
  for (const line of textOf(ran)) {
    const isRefused = REFUSED.test(line)
    if (!isRefused && !ABSENT.test(line)) continue
    const path = lastPath(line.replace(SHELL, ''), ran)
    const why = path && whyRefused(path, isRefused, ran)
    if (path && why) found.set(path, { code: 'outside-workspace', subject: path, workspace: ran.workspace, why })
    if (found.size === MAX_FINDINGS) break
  }
  return [...found.values()]
}

function lastPath(line: string, { startedIn }: Ran): string | undefined {
  const last = [...line.matchAll(PATH)].at(-1)
  const path = last?.[1] ?? last?.[2]
  return path === undefined || path.startsWith('~') ? undefined : resolve(startedIn, path)
}

function whyRefused(path: string, isRefused: boolean, ran: Ran): 'refused' | 'hidden' | 'home' | 'skill' | undefined {
  const isIn = (directory: string): boolean => path === directory || path.startsWith(`${directory}/`)
  if (isIn(ran.workspace)) return undefined
  if (skillDirectoryOf(path, ran)) return isRefused ? 'skill' : undefined
  if (isIn(HOME) && !isRefused && ran.result.exitCode !== 0) return 'home'
  if (isIn('/tmp') || isIn('/dev')) return undefined
  if (isRefused) return 'refused'
  return SEEN.some(isIn) ? undefined : 'hidden'
}

export function homeFinding({ workspace, result: { leftInHome = [] } }: Ran): CommandFinding | undefined {
  const [first] = leftInHome
  return first === undefined
    ? undefined
    : { code: 'home-discarded', subject: `~/${first}`, others: leftInHome.length - 1, workspace }
}
