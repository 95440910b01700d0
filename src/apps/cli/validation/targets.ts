import { setImmediate as nextTurn } from 'node:timers/promises'
import { LEFT_OUT_FIX } from '../../../skills/diagnose/index.ts'
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import {
  aboutArchive,
  ARCHIVE,
  type Diagnostic,
  firstHidden,
  hiddenIn,
  isNexusError,
  SKILL_FILE,
  aboutSingleFile,
  commandFix,
} from '../../../kernel/index.ts'
import {
  createFolderSource,
  discover,
  linkAsSkillFile,
  SOURCE_CODES,
  SOURCE_LIMITS,
} from '../../../skills/sources/index.ts'
import { decodeText } from '../../../skills/load/index.ts'
import { type listFiles, readOfSkill } from '../../../machine/skill-files/index.ts'
import type { Invocation } from '../command.ts'
import { withProgress } from '../interactive/progress.ts'

/** One SKILL.md that a path refers to. */
export interface Target {
  /** Relative to the working directory when it is below. */
  readonly shown: string
  /** Real path of the skill's directory; its name is what the skill's name must equal. */
  readonly directory: string
  /** Name of the file in it. */
  readonly file: string
  /** The file to which its SKILL.md links, inside the folder that was named or that contains the skill. */
  readonly linkedTo?: string | undefined
  /** The whole skill is meant, not only its SKILL.md. */
  readonly isWhole: boolean
  /** Found while looking for it; an error means that the file cannot be read. */
  readonly diagnostics: readonly Diagnostic[]
}

export interface Targets {
  readonly targets: readonly Target[]
  /** Findings about paths and folders as such. */
  readonly diagnostics: readonly Diagnostic[]
  /** True when a path does not exist. */
  readonly isMissing: boolean
}

/** The part of an invocation that looking for skills needs. */
type Around = Pick<Invocation, 'cwd' | 'signal'>

/** Finds the skills of the arguments: a SKILL.md, a skill's folder, or a folder of skills. Throws only CANCELLED. */
export function findTargets(invocation: Invocation): Promise<Targets> {
  return withProgress(invocation.terminal, 'looking for skills', async () => {
    const found = new Map<string, Target>()
    const diagnostics: Diagnostic[] = []
    let isMissing = false
    for (const path of invocation.positionals) {
      const result = await targetsAt(resolve(invocation.cwd, path), invocation)
      for (const target of result.targets) found.set(join(target.directory, target.file), target)
      diagnostics.push(...result.diagnostics)
      isMissing ||= result.isMissing
    }
    return { targets: [...found.values()], diagnostics, isMissing }
  })
}

/** The results of work on each target, with its progress; `doing` is a word such as `validating`. */
export async function forEachTarget<Result>(
  targets: readonly Target[],
  { terminal, signal }: Invocation,
  doing: string,
  work: (target: Target) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const done = (): string => `${doing} skills: ${results.length} of ${targets.length}`
  await withProgress(terminal, done, async () => {
    for (const [index, target] of targets.entries()) {
      // Signals and progress get their turn.
      if (index % 32 === 31) await nextTurn(undefined, { signal })
      results.push(await work(target))
    }
  })
  return results
}

const NAME_A_SKILL = 'Name a SKILL.md, the folder of a skill, or a folder of skills.'

async function targetsAt(absolute: string, around: Around): Promise<Targets> {
  const path = shownPath(absolute, around.cwd)
  const kind = kindOf(absolute)
  if (kind === 'directory') return targetsIn(absolute, around)
  if (kind === 'file') return { targets: [fileTarget(absolute, around)], diagnostics: [], isMissing: false }
  if (kind === 'other') {
    const message = `${path} is neither a directory nor a regular file`
    const found = problem('path-kind', { path, message, fix: NAME_A_SKILL })
    return { targets: [], diagnostics: [found], isMissing: false }
  }
  const found = problem('path-missing', { path, message: `${path} does not exist`, fix: NAME_A_SKILL })
  return { targets: [], diagnostics: [found], isMissing: true }
}

/** A finding of severity `error`. */
export function problem(code: string, about: Omit<Diagnostic, 'code' | 'severity'>): Diagnostic {
  return { code, severity: 'error', ...about }
}

function kindOf(path: string): 'directory' | 'file' | 'missing' | 'other' {
  try {
    const stats = statSync(path)
    if (stats.isDirectory()) return 'directory'
    // A link to a file is looked at as a link, so that the reading refuses it.
    return stats.isFile() || lstatSync(path).isSymbolicLink() ? 'file' : 'other'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' ? 'missing' : 'other'
  }
}

function fileTarget(absolute: string, { cwd }: Around): Target {
  const directory = realpathSync.native(dirname(absolute))
  const file = basename(absolute)
  const target = targetIn(join(directory, file), [], cwd)
  if (file === SKILL_FILE) {
    const linked = linkTarget(directory, cwd)
    return linked ? { ...linked, isWhole: false } : target
  }
  const { shown } = target
  const at = { path: shown, line: 1, column: 1 }
  if (ARCHIVE.test(file)) {
    const found = problem('skill-archive', { ...aboutArchive(shown, shown.replace(ARCHIVE, '')), ...at })
    return { ...target, diagnostics: [found] }
  }
  const words = aboutSingleFile(shown, shown.replace(/\.\w+$/, ''))
  return { ...target, diagnostics: [problem('skill-file-name', { ...words, ...at })] }
}

/** The skill of a directory whose SKILL.md is a link, judged as where the directory around it is searched. */
function linkTarget(directory: string, cwd: string): Target | undefined {
  const found = linkAsSkillFile(directory)
  if (found === undefined) return undefined
  const { linkedTo, finding } = found
  return { ...targetIn(join(directory, SKILL_FILE), [finding], cwd), linkedTo, isWhole: linkedTo !== undefined }
}

async function targetsIn(absolute: string, { cwd, signal }: Around): Promise<Targets> {
  const linked = linkTarget(realpathSync.native(absolute), cwd)
  if (linked) return { targets: [linked], diagnostics: [], isMissing: false }
  const source = createFolderSource({ id: 'path', tier: 'extra', rank: 0, path: absolute, trusted: false })
  const { skills, invalid, diagnostics } = await discover([source], { signal })
  const whole = skills.map(({ file, linkedTo, diagnostics: found }): Target => ({
    ...targetIn(file, found.filter(isOfSource), cwd),
    linkedTo,
    isWhole: true,
  }))
  const broken = invalid.map(({ file, diagnostics: found }) => targetIn(file, found.filter(isOfSource), cwd))
  const targets = [...whole, ...broken].sort((a, b) => (a.shown < b.shown ? -1 : 1))
  const loose = diagnostics.map((each) => shownAt(each, cwd))
  if (targets.length > 0) return { targets, diagnostics: loose, isMissing: false }
  const path = shownPath(absolute, cwd)
  const missing = problem('skill-missing', {
    path,
    message: `${path} contains no SKILL.md, nor does any folder below it`,
    ...commandFix('Name a folder with a SKILL.md in it, or make one:', 'skills', 'init', 'my-skill'),
  })
  return { targets, diagnostics: [...loose, missing], isMissing: false }
}

function targetIn(path: string, diagnostics: readonly Diagnostic[], cwd: string): Target {
  return {
    shown: shownPath(path, cwd),
    directory: dirname(path),
    file: basename(path),
    isWhole: false,
    diagnostics: diagnostics.map((each) => shownAt(each, cwd)),
  }
}

function shownAt(found: Diagnostic, cwd: string): Diagnostic {
  return { ...found, path: shownPath(found.path, cwd) }
}

/** Findings of looking and reading; what the text says is found again by the check. */
function isOfSource({ code }: Diagnostic): boolean {
  return Object.hasOwn(SOURCE_CODES, code)
}

/** The bytes of a target, or why they cannot be had. Links are not followed, but that of a SKILL.md to a text in the folder around its skill. */
export async function readTarget(target: Target, signal: AbortSignal): Promise<Uint8Array | readonly Diagnostic[]> {
  if (target.diagnostics.some(({ severity, code }) => severity === 'error' && code !== 'skill-file-name')) return []
  try {
    const { bytes } = await readOfSkill(target, target.file, { maxBytes: SOURCE_LIMITS.maxFileBytes, signal })
    return bytes
  } catch (error) {
    if (!isNexusError(error) || error.code === 'CANCELLED') throw error
    const isLink = error.code === 'PATH_OUTSIDE'
    const fix = isLink ? 'remove the link and write the skill itself there' : 'make it a text file that you may read'
    return [problem('skill-file-unreadable', { message: error.message, path: target.shown, fix, line: 1, column: 1 })]
  }
}

/** Findings about the files of a whole skill, by the rules of loading. */
export async function checkFiles(
  target: Target,
  { files, leftOut, problem: error }: Awaited<ReturnType<typeof listFiles>>,
  { cwd, signal }: Around,
): Promise<readonly Diagnostic[]> {
  const found: Diagnostic[] = []
  if (error) {
    const { message, path = target.directory, fix } = error
    const words =
      fix === undefined ? { message, ...commandFix('Run:', 'skills', 'why', target.directory) } : { message, fix }
    found.push(problem('cannot-load', { ...words, path: shownPath(path, cwd) }))
  }
  for (const entry of leftOut.slice(0, MAX_LEFT_OUT)) {
    const path = shownPath(join(target.directory, entry.path), cwd)
    const message = `${JSON.stringify(entry.path)} is ${entry.kind}, not part of the skill: neither the model nor commands get it.`
    found.push({ code: 'left-out', severity: 'warning', path, message, fix: LEFT_OUT_FIX })
  }
  return [...found, ...(await hiddenInFiles(target, files, { cwd, signal }))]
}

const MAX_LEFT_OUT = 20

/** Characters in texts beside SKILL.md that a model reads and a person does not see. */
async function hiddenInFiles(
  target: Target,
  files: readonly { readonly path: string; readonly size: number }[],
  { cwd, signal }: Around,
): Promise<readonly Diagnostic[]> {
  const found: Diagnostic[] = []
  let left = MAX_SEARCHED_BYTES
  for (const { path, size } of files) {
    if (path === target.file || size > left) continue
    left -= size
    const text = await textOf(target, path, signal)
    const characters = text === undefined ? '' : hiddenIn(text)
    if (text === undefined || characters === '') continue
    const line = text.slice(0, firstHidden(text)).split('\n').length
    const message = `${JSON.stringify(path)} contains characters that a person does not see: ${characters}. A model that reads the file gets them.`
    const fix = 'Remove the characters, or write their text.'
    const shown = shownPath(join(target.directory, path), cwd)
    found.push({ code: 'file-hidden', severity: 'warning', path: shown, line, message, fix })
  }
  return found
}

/** Texts of one skill that are searched, in all. */
const MAX_SEARCHED_BYTES = 16 * 1024 * 1024

/** Undefined for what is not UTF-8, or can no longer be read. */
async function textOf(target: Target, path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { bytes } = await readOfSkill(target, path, { maxBytes: MAX_SEARCHED_BYTES, signal })
    return decodeText(bytes)
  } catch (error) {
    if (isNexusError(error) && error.code === 'CANCELLED') throw error
    return undefined
  }
}

/** A path for people: relative when it lies below the working directory. */
function shownPath(absolute: string, cwd: string): string {
  const path = relative(cwd, absolute)
  if (path === '') return '.'
  return path === '..' || path.startsWith('../') || path.startsWith('..\\') ? absolute : path
}
