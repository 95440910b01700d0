/** Finds in the output of a failed command that a file is missing, and which file of a loaded skill may be meant. */
import { type Dirent, existsSync, readdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { nearest } from '../../kernel/index.ts'
import type { CommandFinding, SkillPath } from './finding.ts'
import { type Ran, type SkillDirectory, skillDirectoryOf, textOf } from './ran.ts'

/** What programs write about a file that is not there. */
const NOT_THERE: readonly RegExp[] = [
  /(?:can't open file|cannot open) ['"\u2018]([^'"\u2019]+)['"\u2019]/i,
  // node; a name without a path is a package
  /cannot find module '(\.{0,2}\/[^']+)'/i,
  // python, node
  /no such file or directory[:,](?: \w+)? ['"]([^'"]+)['"]/i,
  /(?:^|[\s'"\u2018])([^\s:'"\u2018\u2019()]+)['"\u2019]?: no such file or directory/i,
]
/** A file that the command was to make: its directory is missing. */
const TO_MAKE = /cannot (?:create|touch|move|mkdir)/i
const MAX_NEAR = 5
const MAX_FILES = 1000

export function missingFileFinding(ran: Ran): CommandFinding | undefined {
  if (ran.result.exitCode === 0) return undefined
  for (const line of textOf(ran)) {
    if (TO_MAKE.test(line)) continue
    const [, named] = NOT_THERE.map((pattern) => pattern.exec(line)).find((match) => match !== null) ?? []
    const finding = named === undefined ? undefined : findingFor(named, ran)
    if (finding) return finding
  }
  return undefined
}

function findingFor(named: string, ran: Ran): CommandFinding | undefined {
  const path = resolve(ran.startedIn, named)
  const skill = skillDirectoryOf(path, ran)
  if (skill?.name !== undefined) return existsSync(path) ? undefined : missingInSkill(path, skill, ran)
  // Not asked of the disk: a link in the workspace would show whether a file outside of it exists.
  const inside = relative(ran.workspace, path)
  const literal = relative(ran.startedIn, path)
  if (/^~(?:\/|$)/.test(literal)) return behindTilde(literal, ran)
  const isInside = inside !== '' && !inside.startsWith('..') && !isAbsolute(inside)
  return isInside && !skill ? missingInWorkspace(named, inside, ran) : undefined
}

/** In quotes, ~ is a name as any other. */
function behindTilde(subject: string, { workspace, isTyped }: Ran): CommandFinding {
  return { code: 'file-missing', subject, directory: workspace, near: [], isTyped, isTilde: true }
}

function missingInWorkspace(named: string, inside: string, ran: Ran): CommandFinding | undefined {
  const { isTyped, startedIn } = ran
  const skills = ran.skillDirectories.filter(({ name }) => name !== undefined)
  const owner = skills.find((each) => existsSync(join(each.path, inside)))
  if (owner) return { code: 'file-in-skill', subject: inside, path: skillPath(owner, inside), isTyped }
  const near = skills.flatMap((each) => filesLike(inside, filesOf(each)).map((file) => skillPath(each, file)))
  // A model knows where its commands start. 127 is the exit code of a shell that was to run the file.
  if (near.length === 0 && ran.result.exitCode !== 127 && !isTyped) return undefined
  return { code: 'file-missing', subject: named, directory: startedIn, near: near.slice(0, MAX_NEAR), isTyped }
}

function missingInSkill(path: string, skill: SkillDirectory, { startedIn, isTyped }: Ran): CommandFinding {
  const subject = relative(skill.path, path)
  const files = filesOf(skill)
  const like = filesLike(subject, files)
  const shown = like.length > 0 ? like : files.filter((file) => file !== 'SKILL.md')
  const near = shown.slice(0, MAX_NEAR).map((file) => skillPath(skill, file))
  return { code: 'file-missing', subject, directory: startedIn, skill: skill.name ?? '', near, isTyped }
}

function skillPath(skill: SkillDirectory, file: string): SkillPath {
  return { path: join(skill.path, file), typed: `{baseDir}/${file}` }
}

/** Files of that name, else the one with the most similar name, else those of the same directory. */
function filesLike(wanted: string, files: readonly string[]): readonly string[] {
  const same = files.filter((file) => basename(file) === basename(wanted))
  if (same.length > 0) return same
  const near = nearest(wanted, files)
  if (near !== undefined) return [near]
  const directory = dirname(wanted)
  return directory === '.' ? [] : files.filter((file) => dirname(file) === directory)
}

/** Paths relative to the directory of the skill, in order; links are left out. */
function filesOf({ path }: SkillDirectory): readonly string[] {
  const files: string[] = []
  const open = ['']
  for (let inside = open.shift(); inside !== undefined && files.length < MAX_FILES; inside = open.shift()) {
    for (const entry of entriesOf(join(path, inside))) {
      if (entry.isDirectory() && open.length < MAX_FILES) open.push(join(inside, entry.name))
      else if (entry.isFile()) files.push(join(inside, entry.name))
    }
  }
  return files.slice(0, MAX_FILES).toSorted()
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    // Gone meanwhile, or closed to us: there is nothing to propose from it.
    return []
  }
}
