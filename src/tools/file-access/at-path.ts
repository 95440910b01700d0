/** at-path: opens the directory of a path that a model gave, for one step of a file tool. */
import { posix } from 'node:path'
import { codeOf, FileError, Tree, type TreeWrite } from '../../machine/files/index.ts'
import {
  type Failed,
  type FailureCode,
  type JsonObject,
  type Outcome,
  type Services,
  serviceKey,
  succeeded,
  type ToolContext,
} from '../../kernel/index.ts'
import { type Judgement, recordWrite, type SetsAt, TOO_MUCH } from '../../machine/changes/index.ts'
import { judgeWrite, placesIn } from '../../machine/sandbox/index.ts'
import { failedBy, type Message } from '../messages.ts'
import { PATHS, type Refused } from './messages.ts'
import { FILES, type FileSettings, SANDBOX, WORKSPACE } from '../services.ts'
import { givenPath, type Reached, reach } from './reach.ts'

export interface OpenPath {
  readonly tree: Tree
  /** Relative to the tree; `''` is its root. */
  readonly path: string
  readonly given: string
  /** Relative to the workspace when it is in it, else absolute. */
  readonly name: string
  /** Absolute. */
  readonly absolute: string
  readonly settings: FileSettings
  /** Writes the whole content, in a change set where the workspace has them. */
  write(content: Omit<TreeWrite, 'mode'>): Promise<void>
}

export interface PathUse {
  readonly given: string
  readonly tool: string
  readonly context: Pick<ToolContext, 'limits' | 'signal'> & Partial<Pick<ToolContext, 'callId' | 'mayChangeHeld'>>
  readonly isWrite?: boolean
  /** A directory, to which rules about kinds of files do not apply. */
  readonly isDirectory?: boolean
}

const USES = {
  read_file: {},
  write_file: { isWrite: true },
  edit_file: { isWrite: true },
  list_directory: { isDirectory: true },
} as const
type FileTool = keyof typeof USES

export function isFileTool(tool: string): tool is FileTool {
  return Object.hasOwn(USES, tool)
}

export function pathUse(tool: FileTool, { path = '.' }: JsonObject, context: PathUse['context']): PathUse {
  return { ...USES[tool], tool, given: String(path), context }
}

/** Takes a step at a path within the limits of the call. What the file system refuses is a failure for the model. */
export function atPath(services: Services, use: PathUse, step: Step): Promise<Outcome> {
  const { isWrite = false, context } = use
  return checked(services, use, (place, take) =>
    isWrite ? alone(services, place.root, context.signal, (sets) => take(step, sets)) : take(step),
  )
}

/** Checks a path as a step would before its file is opened. Nothing is read, changed or locked. */
export function lookAtPath(services: Services, use: PathUse): Promise<Outcome> {
  const look = async ({ tree, path, absolute }: OpenPath): Promise<Outcome> => {
    const kinds = path.split('/').map((_, index, names) => tree.entry(names.slice(0, index + 1).join('/'))?.kind)
    if (kinds.includes('link')) throw new FileError('ELOOP', path)
    if (kinds.at(-1) === 'other' && !use.isDirectory) throw new FileError('ENXIO', path)
    return succeeded(absolute)
  }
  return checked(services, use, (_, take) => take(look))
}

type Step = (at: OpenPath) => Promise<Outcome>

async function checked(
  services: Services,
  use: PathUse,
  act: (place: Reached, take: (step: Step, sets?: SetsAt) => Promise<Outcome>) => Promise<Outcome>,
): Promise<Outcome> {
  const { given } = use
  if (given.trim() === '') return failedBy('INVALID_PARAM', PATHS.none())
  const settings = services.get(FILES) ?? {}
  const place = placeOf(services, use, settings)
  if (place.type === 'refused') return refusal(given, place)
  const refused = use.isDirectory ? undefined : notThatFile(given, place, settings)
  if (refused) return refused
  try {
    return await act(place, (step, sets) => inTree(place, use, { settings, sets }, step))
  } catch (error) {
    if (error instanceof FileError) return fileFailure(given, error)
    throw error
  }
}

/** Ends with the last change of the agent that was begun. */
const LAST_CHANGE = serviceKey<Promise<unknown>>('lastFileChange')

/**
 * Checks and writes while nothing else does, in the order of the calls: what is checked at the same time as a change of a command could
 * complete a git directory with it that neither may.
 */
function alone<T>(
  services: Services,
  directory: string,
  signal: AbortSignal,
  take: (sets?: SetsAt) => Promise<T>,
): Promise<T> {
  const sandbox = services.get(SANDBOX)
  const locked = (): Promise<T> => sandbox?.alone?.(directory, take, signal) ?? take()
  const next = (services.get(LAST_CHANGE) ?? Promise.resolve()).then(locked, locked)
  services.register(LAST_CHANGE, next)
  return next
}

async function inTree(
  { root, path, isInWorkspace }: Reached,
  use: PathUse,
  { settings, sets }: { readonly settings: FileSettings; readonly sets: SetsAt | undefined },
  step: Step,
): Promise<Outcome> {
  const { given, context } = use
  const tree = new Tree(root, { isReal: true })
  try {
    const judged = use.isWrite ? await judgementOf(tree, { root, path }, settings) : undefined
    if (judged?.verdict === 'never') return refusal(given, PATHS.ofNexus(judged.unit))
    if (judged?.verdict === 'held' && context.mayChangeHeld !== true) return heldFailure(given, judged)
    const absolute = posix.join(root, path)
    const name = isInWorkspace ? path || '.' : absolute
    const write: OpenPath['write'] = async ({ bytes, ...how }) => {
      const put = (mode?: number): Promise<void> => tree.write(path, { bytes, ...how, mode })
      const maker = { tool: use.tool, call: context.callId }
      if (sets === undefined || !isInWorkspace) await put()
      else await recordWrite(sets, { path, bytes }, { maker, write: put })
    }
    return await step({ tree, path, given, name, absolute, settings, write })
  } finally {
    tree.close()
  }
}

async function judgementOf(
  tree: Tree,
  { root, path }: { readonly root: string; readonly path: string },
  { protectedPaths = [], writableNames = [], protectedGlobs = [], maxUndoBytes = Infinity }: FileSettings,
): Promise<Judgement> {
  const places = placesIn(root, { protectedPaths, writableNames, protectedGlobs })
  const judged = await judgeWrite({ tree, root, path, places })
  const isTooMuch = judged.verdict === 'applied' && (tree.entry(path)?.size ?? 0) > maxUndoBytes
  return isTooMuch ? { verdict: 'held', unit: path, reason: TOO_MUCH } : judged
}

/** The change that a person would have to agree to. */
function heldFailure(given: string, { unit, reason = '' }: Judgement): Failed {
  return { ...refusal(given, PATHS.held(unit, reason)), data: { held: { place: unit, reason } } }
}

/** Why a path is none of a file that may be used; undefined when it may be one. */
function notThatFile(given: string, { path }: Reached, { allowedExtensions }: FileSettings): Failed | undefined {
  if (path === '') return failedBy('IS_DIRECTORY', PATHS.directory(given))
  if (isAllowedType(path, allowedExtensions)) return undefined
  return failedBy('PERMISSION_DENIED', PATHS.extension(given, allowedExtensions ?? []))
}

function placeOf(
  services: Services,
  { given, context, isWrite = false }: PathUse,
  { home, privatePaths = [] }: FileSettings,
): Reached | Refused {
  const workspace = services.require(WORKSPACE)
  const path = givenPath(given, { workspace, home })
  return typeof path === 'string'
    ? reach(path, { workspace, limits: context.limits ?? {}, isWrite, privatePaths })
    : path
}

/** Source: seed 002, `allowed_extensions`. */
function isAllowedType(path: string, allowed: readonly string[] | undefined): boolean {
  const extension = posix.extname(path).toLowerCase()
  return allowed?.some((each) => each.toLowerCase().replace(/^\.?(?=.)/, '.') === extension) ?? true
}

/** Source of the first words: contracts §1.6. */
function refusal(given: string, why: Refused): Failed {
  return failedBy('ACCESS_DENIED', PATHS.violation(given, why))
}

type Fault = readonly [FailureCode, (given: string, error: FileError) => Message]

const refused = (why: () => Refused): Fault => ['ACCESS_DENIED', (given) => PATHS.violation(given, why())]

const FAULTS: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['ENOENT', ['NOT_FOUND', PATHS.notFound]],
  ['ENOTDIR', ['NOT_FOUND', PATHS.notADirectory]],
  ['EACCES', ['PERMISSION_DENIED', PATHS.permission]],
  ['EPERM', ['PERMISSION_DENIED', PATHS.permission]],
  ['EROFS', ['PERMISSION_DENIED', PATHS.permission]],
  ['EISDIR', ['IS_DIRECTORY', PATHS.directory]],
  ['EINVAL', ['INVALID_PARAM', PATHS.unusable]],
  ['ENAMETOOLONG', ['INVALID_PARAM', PATHS.unusable]],
  ['EAGAIN', ['CONFLICT', PATHS.moved]],
  ['EBUSY', ['CONFLICT', PATHS.busy]],
  ['ESTALE', ['CONFLICT', PATHS.changed]],
  ['ELOOP', refused(PATHS.link)],
  ['EXDEV', refused(PATHS.link)],
  ['ENXIO', refused(PATHS.special)],
  ['EMLINK', refused(PATHS.hardLink)],
])

function fileFailure(given: string, error: FileError): Failed {
  const [code, words] = FAULTS.get(codeOf(error)) ?? (['EXECUTION_ERROR', PATHS.other] as const)
  return failedBy(code, words(given, error))
}
