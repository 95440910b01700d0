import { type Dirent, statSync } from 'node:fs'
import { type Diagnostic, SKILL_FILE } from '../../kernel/index.ts'
import { readSmall } from '../../files/index.ts'
import { finding } from '../codes.ts'
import { inByteOrder } from '../listing.ts'
import { MESSAGES } from '../messages.ts'

/** A path and the words about it. */
export interface Words {
  readonly path: string
  readonly message: string
  readonly fix?: string
}

/** A directory without SKILL.md may hold one that is written otherwise. */
export function otherFileName(path: string, entries: readonly Dirent[]): Diagnostic | undefined {
  const alike = entries.filter(({ name }) => name.length === SKILL_FILE.length && isAlike(name))
  const [other] = inByteOrder(alike.map(({ name }) => name))
  if (other === undefined) return undefined
  const file = `${path}/${other}`
  return finding('skill-file-name', file, MESSAGES['skill-file-name'](path, other))
}

function isAlike(name: string): boolean {
  return name !== SKILL_FILE && name.toLowerCase() === SKILL_FILE.toLowerCase()
}

const TEXT = /^[^.].*\.(?:md|markdown)$/i
const MAX_TEXTS = 200

/** Texts in a directory of skills that read like a skill: nothing else would report that they are not found. */
export function singleFiles(root: string, entries: readonly Dirent[], maxBytes: number): readonly Words[] {
  const names = entries.filter((entry) => entry.isFile() && TEXT.test(entry.name)).map(({ name }) => name)
  return inByteOrder(names)
    .slice(0, MAX_TEXTS)
    .map((name) => `${root}/${name}`)
    .filter((file) => isSkillText(file, maxBytes))
    .map((path) => ({ path, ...MESSAGES['skill-single-file'](path) }))
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
  return {
    path: root,
    ...MESSAGES['root-is-skill'](root, hidden),
  }
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
