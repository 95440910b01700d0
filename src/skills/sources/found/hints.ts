import { type Dirent, statSync } from 'node:fs'
import { ARCHIVE, type Diagnostic, SKILL_FILE } from '../../../kernel/index.ts'
import { readSmall } from '../../../machine/files/index.ts'
import { finding } from '../codes.ts'
import { inByteOrder } from '../source.ts'
import { MESSAGES } from '../messages.ts'

export interface Words {
  readonly path: string
  readonly message: string
  readonly fix?: string
}

/** Names that were meant as SKILL.md when the text reads like a skill. */
const MEANT = /^(?:skills?\.(?:md\.)?(?:txt|md|mdx|markdown)|readme\.md)$/i

/** A directory without SKILL.md may hold one that is written otherwise. `maxBytes` bounds what is read for it. */
export function otherFileName(path: string, entries: readonly Dirent[], maxBytes: number): Diagnostic | undefined {
  const names = inByteOrder(entries.map(({ name }) => name))
  const other =
    names.find((name) => name.length === SKILL_FILE.length && isAlike(name)) ??
    names.find((name) => MEANT.test(name) && isSkillText(`${path}/${name}`, maxBytes))
  // Under its right name it would hide the skills below it.
  if (other === undefined || (!isAlike(other) && hiddenSkill(path, entries))) return undefined
  const file = `${path}/${other}`
  return finding('skill-file-name', file, MESSAGES['skill-file-name'](path, other))
}

function isAlike(name: string): boolean {
  return name !== SKILL_FILE && name.toLowerCase() === SKILL_FILE.toLowerCase()
}

const TEXT = /\.(?:md|markdown)$/i
const MAX_HINTS = 200

/** Texts in a directory of skills that read like a skill: nothing else would report that they are not found. */
export function singleFiles(root: string, entries: readonly Dirent[], maxBytes: number): readonly Words[] {
  return namesOf(entries, TEXT)
    .slice(0, MAX_HINTS)
    .map((name) => `${root}/${name}`)
    .filter((file) => isSkillText(file, maxBytes))
    .map((path) => ({ path, ...MESSAGES['skill-single-file'](path) }))
}

export function archives(root: string, entries: readonly Dirent[]): readonly Words[] {
  return namesOf(entries, ARCHIVE)
    .slice(0, MAX_HINTS)
    .map((name) => ({ path: `${root}/${name}`, ...MESSAGES['skill-archive'](`${root}/${name}`) }))
}

/** Names of regular files that fit, and are not hidden. */
function namesOf(entries: readonly Dirent[], pattern: RegExp): readonly string[] {
  const fits = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.') && pattern.test(entry.name))
  return inByteOrder(fits.map(({ name }) => name))
}

function isSkillText(file: string, maxBytes: number): boolean {
  try {
    const text = new TextDecoder().decode(readSmall(file, { maxBytes }).bytes.subarray(0, MAX_HEAD_BYTES))
    const head = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\n---/.exec(text)?.[1] ?? ''
    return /^name[ \t]*:/m.test(head) && /^description[ \t]*:/m.test(head)
  } catch {
    // Not readable, so it says nothing.
    return false
  }
}

const MAX_HEAD_BYTES = 16_384

/** The root is a skill, so the search ends there; says so when that hides others. */
export function hiddenSkill(root: string, entries: readonly Dirent[]): Words | undefined {
  const directories = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const hidden = inByteOrder(directories).find((name) => exists(`${root}/${name}/${SKILL_FILE}`))
  if (hidden === undefined) return undefined
  return { path: root, ...MESSAGES['root-is-skill'](root, hidden) }
}

/** True for what is there and may be looked at. */
export function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // Not ours to look at, which for our questions is the same as not there.
    return false
  }
}
