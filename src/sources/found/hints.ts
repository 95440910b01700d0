import { type Dirent, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Diagnostic, shellWord, SKILL_FILE } from '../../kernel/index.ts'
import { finding } from '../codes.ts'
import { inByteOrder } from '../listing.ts'

/** What to say about a path. */
export interface Words {
  readonly path: string
  readonly message: string
  readonly fix?: string
}

/** What to do about a link out of the root. A skill outside may be searched where it is; of any other directory nobody should be told to. */
export function insteadOfLink(directory: string): string {
  const inPlace = 'put the directory itself in its place'
  if (!exists(`${directory}/${SKILL_FILE}`)) return `${inPlace}, or remove the link`
  const place = `--skills-dir ${shellWord(dirname(directory))}, or skills.load.extraDirs in your own nexus.yaml`
  return `${inPlace}, or have its own place searched: ${place}`
}

/** A directory without SKILL.md may hold one that is written otherwise. */
export function otherFileName(path: string, entries: readonly Dirent[]): Diagnostic | undefined {
  const alike = entries.filter(({ name }) => name.length === SKILL_FILE.length && isAlike(name))
  const [other] = inByteOrder(alike.map(({ name }) => name))
  if (other === undefined) return undefined
  const file = `${path}/${other}`
  return finding('skill-file-name', file, {
    message: `the file is named ${other}; only ${SKILL_FILE} is read`,
    fix: `rename it to ${SKILL_FILE}: mv ${shellWord(file)} ${shellWord(`${path}/${SKILL_FILE}`)}`,
  })
}

function isAlike(name: string): boolean {
  return name !== SKILL_FILE && name.toLowerCase() === SKILL_FILE.toLowerCase()
}

/** The root is a skill, so the search ends there; says so when that hides others. */
export function hiddenSkill(root: string, entries: readonly Dirent[]): Words | undefined {
  const directories = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const hidden = inByteOrder(directories).find((name) => exists(`${root}/${name}/${SKILL_FILE}`))
  if (hidden === undefined) return undefined
  return {
    path: root,
    message: `the root has a ${SKILL_FILE} of its own, so ${JSON.stringify(hidden)} and other skills below it are not searched`,
    fix: `give that file a directory of its own: mkdir ${shellWord(`${root}/my-skill`)} && mv ${shellWord(`${root}/${SKILL_FILE}`)} ${shellWord(`${root}/my-skill/`)}`,
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
