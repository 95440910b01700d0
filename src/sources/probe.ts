import { closeSync, realpathSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { HeadRange } from '../format/index.ts'
import type { Skill } from '../kernel/index.ts'
import { codeOf } from './codes.ts'
import { openWithoutWaiting } from './files/open.ts'
import { throwIfAborted } from './pace.ts'
import { FoundSkill } from './found/found-skill.ts'
import { type Candidate, type CandidateContext, type Place, readCandidate, SKILL_FILE } from './skill-file.ts'
import type { AskedName, NamedResult, SourceLimits } from './source.ts'
import { walkFolder } from './walk.ts'

/** A folder that can be searched. */
export interface OpenFolder {
  readonly nested: boolean
  readonly limits: SourceLimits
  readonly context: CandidateContext
}

/** Names that are compared as they are. All others are first folded, and look like several names. */
export const PLAIN_NAME = /^[\w.-]+$/
/** A key `name` whose value is not one plain word on the same line: it may mean another name than it shows. */
const UNCLEAR_NAME = /name["']?\s*:(?![ \t]+(["']?)\w[\w.-]*\1[ \t]*(?:[\r\n]|$))/
/** Keys that stand elsewhere than before their colon: `? key`, `*alias :`. */
const EXPLICIT_KEY = /(?:^|[\s{,[-])\?\s/
// An alias may hold stars; from the last of them on it is enough, so that a row of stars is gone through once.
const ALIAS_KEY = /\*[^\s*,[\]{}]*\s+:/
const CLOSE = Buffer.from('\n---')
const LF = 10
const CR = 13

/**
 * The skills of one name in a folder. A folder of few directories is searched as always, but for what surely has another name; of a larger
 * one only the directory of that name is looked into. Undefined when only a whole search can tell. Source: decisions, "one skill by its name".
 */
export async function probeFolder(
  folder: OpenFolder,
  asked: AskedName,
  signal?: AbortSignal,
): Promise<NamedResult | undefined> {
  const { root } = folder.context
  const searched = isSmall(root, asked.left) ? await search(folder, asked, signal) : undefined
  return searched ?? atItsPlace(folder, asked.name)
}

/** False when the root alone has more directories than may be looked into. Most file systems count them as links. */
function isSmall(root: string, most: number): boolean {
  const stats = statSync(root, { throwIfNoEntry: false })
  return stats !== undefined && most > 0 && stats.nlink - 2 < most
}

/** Undefined when there were too many directories. */
async function search(folder: OpenFolder, asked: AskedName, signal?: AbortSignal): Promise<NamedResult | undefined> {
  const { context, limits, nested } = folder
  const maxDirectories = Math.min(asked.left, limits.maxDirectories)
  const read = (place: Place): Candidate => {
    asked.left--
    const isOther = place.path !== context.root && hasOtherName(place, asked.name, context)
    return isOther ? 'other' : readCandidate(place, context)
  }
  // So few directories need no rest.
  const pace = (): undefined => throwIfAborted(signal) as undefined
  const result = await walkFolder(context.root, { context, nested, read, pace, limits: { ...limits, maxDirectories } })
  if (maxDirectories < limits.maxDirectories && result.diagnostics.some(({ code }) => code === 'directory-limit')) {
    return undefined
  }
  return { ...result, skills: result.skills.filter(named(asked.name)), isWhole: true }
}

/** Only the directory whose name is the name. */
function atItsPlace({ context, limits }: OpenFolder, name: string): NamedResult | undefined {
  const { root } = context
  const nothing = { skills: [], rejected: [], diagnostics: [], isWhole: false }
  // A root that is a skill itself ends the search; whoever says so must search.
  if (limits.maxDepth < 1 || readCandidate({ path: root, name: basename(root) }, context) !== 'absent') return undefined
  if (name.startsWith('.') || name === 'node_modules') return nothing
  const directory = root === '/' ? `/${name}` : `${root}/${name}`
  try {
    // A link, or a name in other letters where the system takes them for the same.
    if (realpathSync.native(directory) !== directory) return undefined
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? nothing : undefined
  }
  const candidate = readCandidate({ path: directory, name }, context)
  if (candidate === 'absent') return nothing
  return candidate instanceof FoundSkill ? { ...nothing, skills: [candidate].filter(named(name)) } : undefined
}

/** Skills that count as copies of a name; of those whose name must be folded first, the catalog knows. */
function named(asked: string): (skill: Skill) => boolean {
  return ({ name }) => name === asked || !PLAIN_NAME.test(name)
}

/**
 * True when the SKILL.md in a directory surely has a name that does not count as the asked one: neither is it that of the directory, nor does
 * the frontmatter hold it, in whatever form. Costs a reading and no parsing. All doubts are false.
 */
function hasOtherName({ path, name: label }: Place, name: string, { heads }: CandidateContext): boolean {
  // Where letters may be taken for others, only `readCandidate` knows the file.
  if (label === name || !PLAIN_NAME.test(label) || process.platform !== 'linux') return false
  try {
    const { fd, stats } = openWithoutWaiting(`${path}/${SKILL_FILE}`)
    try {
      if (!stats.isFile()) return false
      heads.read(fd, stats.size)
      return saysOtherName(name, heads.bytes, heads)
    } finally {
      closeSync(fd)
    }
  } catch {
    // Absent, or out of reach: the usual reading says which.
    return false
  }
}

/** For the first bytes of a SKILL.md. */
export function saysOtherName(name: string, bytes: Buffer, { start, end }: Pick<HeadRange, 'start' | 'end'>): boolean {
  const close = bytes.indexOf(CLOSE, start)
  const after = bytes[close + CLOSE.length]
  if (close < 0 || close + CLOSE.length >= end || (after !== LF && after !== CR)) return false
  const text = bytes.toString('latin1', start, close)
  return /^---\r?\n/.test(text) && !text.includes(name) && !isUnclear(text)
}

/** False for most frontmatters: what they say of a name is there to read, whatever the rest says. */
function isUnclear(text: string): boolean {
  if (text.includes('\\') || UNCLEAR_NAME.test(text)) return true
  return (text.includes('?') && EXPLICIT_KEY.test(text)) || (text.includes('*') && ALIAS_KEY.test(text))
}
