import { shownName } from '../catalog/index.ts'
import { errorCode, isNexusError, type NexusError, type Skill, toSafeLine } from '../../kernel/index.ts'
import { listFiles, readOfSkill } from '../../machine/skill-files/index.ts'
import { binaryType, decodeText, textType } from './media-type.ts'
import { errorOf, MESSAGES } from './messages.ts'

/** One file of a skill: text as it is, anything else as base64 with its kind in `mediaType`. */
export interface SkillFile {
  /** Relative to the skill's directory, with forward slashes. */
  readonly path: string
  readonly size: number
  readonly executable: boolean
  readonly mediaType: string
  readonly encoding: 'utf-8' | 'base64'
  readonly content: string
}

export interface SkillFileRequest {
  readonly filePath: string
  readonly maxBytes: number
  /** Other names of the skill's directory that a path may begin with: where it was placed, `{baseDir}`. */
  readonly aliases: readonly string[]
  readonly signal?: AbortSignal | undefined
}

/** Where a bare file name is looked for, in this order. Source: seed 002, contracts §3.2; `''` is the skill's directory. */
const PLACES = ['scripts/', 'references/', 'assets/', ''] as const
const MAX_LISTED_FILES = 50
const MAX_SHOWN_CHARS = 200

/**
 * Reads one file of a skill by its relative path or by its bare name. It never leaves the skill's directory, not through links.
 * Throws FILE_NOT_FOUND (with the files there are), PATH_OUTSIDE, LIMIT_EXCEEDED, INVALID_ARGUMENT.
 */
export async function readSkillFile(skill: Skill, request: SkillFileRequest): Promise<SkillFile> {
  const wanted = relativePath(skill, request)
  if (isHidden(wanted)) throw errorOf('FILE_NOT_FOUND', MESSAGES.file.hidden(named(skill, wanted)))
  if (isDirectoryItself(wanted)) throw directoryAsked(skill, wanted, await offeredFiles(skill, request.signal))
  const isBare = !wanted.includes('/')
  const candidates = isBare ? PLACES.map((place) => `${place}${wanted}`) : [wanted]
  const found = await readFirst(skill, candidates, request)
  if (found && found !== 'directory') return found
  const files = await offeredFiles(skill, request.signal)
  const deeper = isBare ? files.filter((path) => path.endsWith(`/${wanted}`)) : []
  const only = deeper.length === 1 ? await readFirst(skill, deeper, request) : undefined
  if (only && only !== 'directory') return only
  if (found === 'directory') throw directoryAsked(skill, wanted, files)
  const words = MESSAGES.file.notFound(named(skill, wanted), listed(deeper.length > 1 ? deeper : files))
  throw errorOf('FILE_NOT_FOUND', words)
}

function relativePath(skill: Skill, { filePath, aliases }: SkillFileRequest): string {
  if (typeof filePath !== 'string' || filePath.trim() === '') {
    throw errorOf('INVALID_ARGUMENT', MESSAGES.file.noPath())
  }
  const path = filePath.replaceAll('\\', '/')
  const directories = [skill.directory, ...aliases]
  if (directories.includes(path)) return '.'
  const prefix = directories.map((directory) => `${directory}/`).find((start) => path.startsWith(start))
  const relative = path.slice(prefix?.length ?? 0).replace(/^(?:\.\/+)+/, '')
  if (!/^(?:\/|[A-Za-z]:)/.test(relative)) return relative
  throw errorOf('PATH_OUTSIDE', MESSAGES.file.outside(named(skill, path)))
}

export function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.') && part !== '.' && part !== '..')
}

/** The first candidate that is a file. A directory is passed over, and is the answer when no file follows. */
async function readFirst(
  skill: Skill,
  candidates: readonly string[],
  { maxBytes, signal }: SkillFileRequest,
): Promise<SkillFile | 'directory' | undefined> {
  let isOne = false
  for (const candidate of candidates) {
    try {
      const { bytes, path, executable } = await readOfSkill(skill, candidate, { maxBytes, signal })
      return toSkillFile(path.slice(skill.directory.length + 1), bytes, executable)
    } catch (error) {
      if (isNexusError(error) && errorCode(error.cause) === 'EISDIR') isOne = true
      else if (!isNexusError(error) || error.code !== 'FILE_NOT_FOUND') throw withFix(error)
    }
  }
  return isOne ? 'directory' : undefined
}

function isDirectoryItself(path: string): boolean {
  return path.split('/').every((part) => part === '' || part === '.')
}

/** Files below the directory come first. */
function directoryAsked(skill: Skill, path: string, files: readonly string[]): NexusError {
  const shown = isDirectoryItself(path) ? '.' : path.replace(/\/+$/, '')
  const below = files.filter((file) => file.startsWith(`${shown}/`))
  const shownPath = toSafeLine(shown).slice(0, MAX_SHOWN_CHARS)
  const words = MESSAGES.file.directory(shownPath, shownName(skill), listed(below.length > 0 ? below : files))
  return errorOf('INVALID_ARGUMENT', words)
}

/** Over the limit there is another way to the content. */
function withFix(error: unknown): unknown {
  if (!isNexusError(error) || error.code !== 'LIMIT_EXCEEDED') return error
  return errorOf(error.code, { message: error.message, fix: MESSAGES.file.tooLarge() }, { cause: error })
}

function toSkillFile(path: string, bytes: Uint8Array, executable: boolean): SkillFile {
  const text = decodeText(bytes)
  const head = { path, size: bytes.byteLength, executable }
  if (text !== undefined) return { ...head, mediaType: textType(path), encoding: 'utf-8', content: text }
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return { ...head, mediaType: binaryType(bytes), encoding: 'base64', content }
}

/** The files a message may name: those met until something was wrong, which must not hide what was asked for. */
async function offeredFiles(skill: Skill, signal: AbortSignal | undefined): Promise<string[]> {
  const { files } = await listFiles(skill, { signal })
  return files
    .map(({ path }) => path)
    .filter((path) => !isHidden(path))
    .sort()
}

function named(skill: Skill, path: string): string {
  return MESSAGES.file.named(toSafeLine(path).slice(0, MAX_SHOWN_CHARS), shownName(skill))
}

/** ` Available files: [...]`; nothing when there are none. */
function listed(files: readonly string[]): string {
  if (files.length === 0) return ''
  const more = files.length > MAX_LISTED_FILES ? `, and ${files.length - MAX_LISTED_FILES} more` : ''
  return ` Available files: [${files.slice(0, MAX_LISTED_FILES).map(toSafeLine).join(', ')}${more}]`
}
