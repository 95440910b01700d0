/** paths: findings about paths that a command could not use, or wrote where nothing is kept. */
import { existsSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { shellWord } from '../../kernel/index.ts'
import { type CommandFinding, type CommandRun, linesOf, type SkillDirectory, skillDirectoryOf } from './command-run.ts'

const REFUSED = /read-only file system|permission denied|operation not permitted|\b(?:EROFS|EACCES|EPERM)\b/i
const ABSENT = /no such file or directory|directory nonexistent|\bENOENT\b/i
/** Commands see these besides the workspace, so a path there that is absent is absent on the machine. */
const SEEN = ['/usr', '/etc', '/lib', '/lib64', '/bin', '/sbin', '/proc', '/sys', '/dev', '/tmp']
/** A path between quotes, or one that ends at a space, colon or comma. */
const PATH =
  /['"\u2018\u201c`]((?:\/|~\/|\.\.\/)[^'"\u2019\u201d`]*)['"\u2019\u201d`]|(?<![\w./~-])((?:\/|~\/|\.\.\/)[^\s:'"\u2019\u201d`,;)]*)/g
/** The shell names itself first. */
const SHELL = /^\S+: line \d+: |^\S*sh: \d+: /
/** The home directory of a command, as the sandbox names it. */
const HOME = '/tmp/home'
const MAX_FINDINGS = 3

export function outsideFindings(run: CommandRun): readonly CommandFinding[] {
  // Without confinement a refusal is the system's own.
  if (!run.isConfined) return []
  const found = new Map<string, CommandFinding>()
  for (const line of linesOf(run)) {
    const isRefused = REFUSED.test(line)
    if (!isRefused && !ABSENT.test(line)) continue
    const path = lastPath(line.replace(SHELL, ''), run)
    const happened = path && refusalOf(path, isRefused, run)
    if (path && happened)
      found.set(path, {
        code: 'outside-workspace',
        subject: path,
        message: `${happened} Commands keep files only in the workspace.`,
        fix: `Use a path in ${run.workspace}.`,
      })
    if (found.size === MAX_FINDINGS) break
  }
  return [...found.values()]
}

function lastPath(line: string, { startedIn }: CommandRun): string | undefined {
  const last = [...line.matchAll(PATH)].at(-1)
  const path = last?.[1] ?? last?.[2]
  return path === undefined || path.startsWith('~') ? undefined : resolve(startedIn, path)
}

function refusalOf(path: string, isRefused: boolean, run: CommandRun): string | undefined {
  const isIn = (directory: string): boolean => path === directory || path.startsWith(`${directory}/`)
  if (isIn(run.workspace)) return undefined
  if (skillDirectoryOf(path, run))
    return isRefused ? `The sandbox refused to change ${path}: the directory of a skill is read-only.` : undefined
  if (isIn(HOME) && !isRefused && run.result.exitCode !== 0)
    return `Commands do not see your home directory: ${path} is in one of their own, which is empty.`
  if (isIn('/tmp') || isIn('/dev')) return undefined
  if (isRefused) return `The sandbox refused access to ${path}, which is outside the workspace.`
  if (SEEN.some(isIn)) return undefined
  return `The sandbox does not show ${path} to commands: it is outside the workspace.`
}

export function homeFinding({ workspace, result: { leftInHome = [] } }: CommandRun): CommandFinding | undefined {
  const [first, ...others] = leftInHome
  if (first === undefined) return undefined
  const more = others.length === 1 ? ' and 1 more file were' : ` and ${others.length} more files were`
  return {
    code: 'home-discarded',
    subject: `~/${first}`,
    message: `~/${first}${others.length === 0 ? ' was' : more} not kept. Nexus removes the home directory of a command when it ends.`,
    fix: `Write to a path in ${workspace} instead.`,
  }
}

/** Programs that do not find a file. */
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

export function missingFileFinding(run: CommandRun): CommandFinding | undefined {
  if (run.result.exitCode === 0) return undefined
  for (const line of linesOf(run)) {
    if (TO_MAKE.test(line)) continue
    const [, named] = NOT_THERE.map((pattern) => pattern.exec(line)).find((match) => match !== null) ?? []
    const finding = named === undefined ? undefined : missingFile(named, run)
    if (finding) return finding
  }
  return undefined
}

function missingFile(named: string, run: CommandRun): CommandFinding | undefined {
  const { workspace, startedIn, skillDirectories, isTyped, result } = run
  const path = resolve(startedIn, named)
  const skill = skillDirectoryOf(path, run)
  if (skill) return existsSync(path) ? undefined : missingInSkill(relative(skill.path, path), skill, run)
  // Not asked of the disk: a link in the workspace would show whether a file outside of it exists.
  const inside = relative(workspace, path)
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) return undefined
  const owner = skillDirectories.find((each) => each.name !== undefined && existsSync(join(each.path, inside)))
  if (owner)
    return {
      code: 'file-in-skill',
      subject: inside,
      message: `The command did not find ${inside} in the workspace: it is a file of a skill.`,
      // The path of a placed copy changes with the skill.
      fix: `Use its full path: ${isTyped ? `{baseDir}/${inside}` : join(owner.path, inside)}`,
    }
  // A model knows where its commands start. 127 is the exit code of a shell that was to run the file.
  if (result.exitCode !== 127 && !isTyped) return undefined
  return {
    code: 'file-missing',
    subject: named,
    message: `The command did not find the file '${named}'. It started in ${startedIn}.`,
    fix: isTyped ? 'Give a path relative to that directory, or a full path.' : "Give the file's full path, or set cwd.",
  }
}

function missingInSkill(
  subject: string,
  { name }: SkillDirectory,
  { isTyped }: CommandRun,
): CommandFinding | undefined {
  if (name === undefined) return undefined
  const fix = `Use a file that the skill has: ${isTyped ? 'nexus skills show lists them' : 'load_skill lists them'}.`
  return { code: 'file-missing', subject, message: `The skill '${name}' has no file ${subject}.`, fix }
}

/** The file as its user may change it: the copy of a skill is read-only, so it is the user's own. */
export function changeable(file: string, run: CommandRun): string {
  const path = resolve(run.startedIn, file)
  const skill = skillDirectoryOf(path, run)
  return skill?.original === undefined ? file : shellWord(join(skill.original, relative(skill.path, path)))
}
