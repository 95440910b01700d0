/** options: what an operator may set for the local sandbox, and its defaults. */
import { SYSTEM_PATH } from '../../host/index.ts'
import { homedir, totalmem } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { SetLimits } from '../../changes/index.ts'
import type { MirrorLimits } from '../mirror/scan.ts'
import type { CommandLimits } from '../runner/protocol.ts'
import { REQUESTS, sandboxError } from '../messages.ts'
import type { ProgramSearch } from '../../programs/index.ts'

/** Directories that every command may read. Absent ones are left out. */
export const READABLE = ['/usr', '/etc', '/lib', '/lib64', '/bin', '/sbin']

/** Which programs of a person commands have, and where the person has them. */
export interface ProgramOptions extends Pick<ProgramSearch, 'home' | 'path' | 'variable'> {
  readonly names: readonly string[]
}

/** The local sandbox: bubblewrap and the seccomp helper of `@anthropic-ai/sandbox-runtime`, in a runner process of its own. Linux only. */
export interface LocalOptions {
  readonly kind: 'local'
  readonly projectId: string
  /** Where stages, placed skills and mirrors are; default `/var/lib/nexus` for root, else `<nexusHome>/state`. */
  readonly stateDir?: string
  /** Default `~/.nexus`. */
  readonly nexusHome?: string
  /** First of the uids that root drops to, one per project; default 200000. */
  readonly uidBase?: number
  readonly limits?: Partial<CommandLimits>
  readonly mirror?: Partial<MirrorLimits>
  /** How long change sets are kept, and how much one may hold; default 14 days and 64 MiB. */
  readonly changes?: Partial<SetLimits>
  /** Default layers over the workspace, and a mirror for root and where the kernel has no overlay. */
  readonly workspaceMode?: 'auto' | 'mirror'
  /** Absolute paths that commands do not change where they are in a workspace, with all below them. */
  readonly protectedPaths?: readonly string[]
  /** Patterns of places in a workspace whose changes are held, such as `migrations/**`. */
  readonly protectedGlobs?: readonly string[]
  /** Protected names that the user opened for commands, such as `skills`. */
  readonly writableNames?: readonly string[]
  /** Real paths of directories of skills that count as trusted: no workspace is in one. Those below a home are known. */
  readonly skillRoots?: readonly string[]
  /** Directories in which bubblewrap is searched for; default the system's. */
  readonly programDirectories?: readonly string[]
  /** Programs of the person's home that commands have; default none. */
  readonly programs?: ProgramOptions
  /** `LANG` and `TZ` of commands; default `C.UTF-8` and `UTC`. */
  readonly language?: string
  readonly timeZone?: string
}

/** The same with every default filled. */
export interface LocalSettings extends Required<
  Omit<LocalOptions, 'kind' | 'nexusHome' | 'limits' | 'mirror' | 'changes' | 'workspaceMode'>
> {
  readonly isRoot: boolean
  readonly limits: CommandLimits
  readonly mirror: MirrorLimits
  readonly changes: SetLimits
  /** Layers are tried first. */
  readonly layered: boolean
}

const GIB = 1024 ** 3

/** Half of the machine's memory, and at most so much. */
const memoryUpTo = (bytes: number): number => Math.min(bytes, Math.floor(totalmem() / 2))

/** One process that takes more than all may is seen, and named, before it is refused more. */
const MORE_DATA = 2 * GIB

const DEFAULT_LIMITS: Omit<CommandLimits, 'dataBytes'> = {
  memoryBytes: memoryUpTo(4 * GIB),
  freeDiskBytes: GIB / 4,
  projectMemoryBytes: memoryUpTo(8 * GIB),
  projectProcesses: 2048,
  processes: 512,
  openFiles: 4096,
  fileSizeBytes: GIB,
  sharedMemoryBytes: GIB / 16,
}

/** Fills the defaults; throws INVALID_ARGUMENT for values that cannot be used. */
export function withDefaults(options: LocalOptions): LocalSettings {
  const isRoot = process.getuid?.() === 0
  const settings: LocalSettings = {
    uidBase: 200_000,
    programDirectories: SYSTEM_PATH,
    language: 'C.UTF-8',
    timeZone: 'UTC',
    protectedPaths: [],
    protectedGlobs: [],
    writableNames: [],
    skillRoots: [],
    programs: { names: [], home: homedir(), path: [], variable: () => undefined },
    ...given(options),
    projectId: options.projectId,
    isRoot,
    stateDir: options.stateDir ?? defaultStateDir(isRoot, options.nexusHome),
    limits: limitsOf(given(options.limits ?? {})),
    mirror: { maxFiles: 20_000, maxBytes: GIB, ...given(options.mirror ?? {}) },
    changes: { keepDays: 14, maxBytes: 64 * 1024 * 1024, ...given(options.changes ?? {}) },
    layered: !isRoot && (options.workspaceMode ?? 'auto') === 'auto',
  }
  checkSettings(settings)
  return settings
}

function limitsOf(set: Partial<CommandLimits>): CommandLimits {
  const limits = { ...DEFAULT_LIMITS, ...set }
  return { ...limits, dataBytes: set.dataBytes ?? limits.memoryBytes + MORE_DATA }
}

function defaultStateDir(isRoot: boolean, nexusHome: string = join(homedir(), '.nexus')): string {
  return isRoot ? '/var/lib/nexus' : join(nexusHome, 'state')
}

/** The options that are set: `undefined` does not replace a default. */
function given<T extends object>(options: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}

function checkSettings({ limits, mirror, changes, uidBase, projectId, stateDir }: LocalSettings): void {
  for (const [name, value] of Object.entries({ ...limits, ...mirror, ...changes, uidBase })) {
    if (!Number.isSafeInteger(value) || value < 1) throw sandboxError(REQUESTS.setting(name, value))
  }
  if (typeof projectId !== 'string' || projectId === '' || projectId.includes('\0'))
    throw sandboxError(REQUESTS.noProject())
  if (!isAbsolute(stateDir)) throw sandboxError(REQUESTS.stateDir(stateDir))
}
