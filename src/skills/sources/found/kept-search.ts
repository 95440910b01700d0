/** kept-search: what a search read, kept in the Nexus home for the next process. */
import { join } from 'node:path'
import { readKeptLines, writeKept } from '../../../machine/files/index.ts'
import {
  type Diagnostic,
  isJsonObject,
  type Skill,
  SKILL_FILE,
  type SkillOrigin,
  withoutPrototype,
} from '../../../kernel/index.ts'

export interface KeptSearches {
  /** From `keptPlace`: only this user can write there. */
  readonly directory: string
  /** Another version of Nexus may read a SKILL.md otherwise, so it reads all of them again. */
  readonly version: string
}

/** A skill without findings, and when its file last changed. */
export interface KeptSkill {
  readonly read: Skill
  readonly changedMs: number
}

/** A line of the file. What follows from the directory is left out. */
interface Row {
  readonly read: Omit<Skill, 'origin' | 'file' | 'diagnostics'>
  readonly changedMs: number
}

const MOST_FILES = 32
const MOST_BYTES = 64_000_000
/** Fewer skills are read as fast as a file about them. */
const FEWEST_SKILLS = 20
/** Lines that are written at once. */
const LINES = 200

const NO_FINDINGS: readonly Diagnostic[] = Object.freeze([])

/** The skills of the last search with this key; none when it is missing, damaged or of another version. */
export function loadSearch({ directory, version }: KeptSearches, key: string, origin: SkillOrigin): KeptSkill[] {
  const found: KeptSkill[] = []
  let isFirst = true
  const isWhole = readKeptLines(fileOf(directory, key), MOST_BYTES, (line) => {
    const json = line.slice(SUM_CHARS)
    if (line.slice(0, SUM_CHARS) !== sumOf(json)) throw new Error('damaged')
    if (isFirst) {
      if (json !== headOf(version, key)) throw new Error('another search')
      isFirst = false
      return
    }
    const { read, changedMs } = JSON.parse(json) as Row
    found.push({ read: restored(read, origin), changedMs })
  })
  // Damaged: every file is read.
  return isWhole ? found : []
}

export function saveSearch({ directory, version }: KeptSearches, key: string, skills: readonly KeptSkill[]): void {
  if (skills.length < FEWEST_SKILLS) return
  writeKept(fileOf(directory, key), linesOf(skills, headOf(version, key)), MOST_FILES)
}

/** Throws when there is more than will be read. */
function* linesOf(skills: readonly KeptSkill[], head: string): Generator<string> {
  yield signed(head)
  let size = head.length
  for (let from = 0; from < skills.length; from += LINES) {
    const rows = skills
      .slice(from, from + LINES)
      .map(({ read: { origin: _o, file: _f, diagnostics: _d, ...read }, changedMs }) => {
        const row: Row = { read, changedMs }
        return signed(ascii(JSON.stringify(row)))
      })
    const text = rows.join('')
    size += text.length
    if (size >= MOST_BYTES) throw new Error('too large')
    yield text
  }
}

/** A line behind its sum. Only this user can write the file, so the sum finds damage, and nothing is checked twice. */
function signed(json: string): string {
  return `${sumOf(json)}${json}\n`
}

const SUM_CHARS = 8

/** Finds every change of one character. The one of `node:zlib` would load Node's streams, an eighth of the start of Node. */
function sumOf(text: string): string {
  let sum = 0
  for (let index = 0; index < text.length; index++) sum = (Math.imul(sum, 31) + text.charCodeAt(index)) | 0
  return (sum >>> 0).toString(16).padStart(SUM_CHARS, '0')
}

/** Each character is a byte, which V8 reads and keeps in half the memory. */
function ascii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Node brings the tables of Unicode. */
function headOf(version: string, key: string): string {
  return ascii(JSON.stringify([version, process.version, key]))
}

/** The name only spreads searches over files: the whole key is in the file. */
function fileOf(directory: string, key: string): string {
  return join(directory, `${sumOf(key)}.json`)
}

/** The words of authors are in objects that inherit no names. */
function restored(read: Row['read'], origin: SkillOrigin): Skill {
  bare(read.frontmatter)
  for (const { details } of read.metadata.install) bare(details)
  return Object.assign(read, { origin, file: `${read.directory}/${SKILL_FILE}`, diagnostics: NO_FINDINGS })
}

function bare(value: unknown): void {
  if (Array.isArray(value)) for (const each of value) bare(each)
  else if (isJsonObject(value)) {
    for (const key in value) bare(value[key])
    withoutPrototype(value)
  }
}
