/** Which directory a client means. Source: decisions, "workspace of `nexus mcp`". */
import { dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { realPath } from '../../config/index.ts'
import { NexusError, toSafeLine } from '../../kernel/index.ts'
import { isDirectory } from '../../machine/files/index.ts'

export interface WorkspaceSources {
  /** `--workspace`. */
  readonly given?: string | undefined
  /** `CLAUDE_PROJECT_DIR`. */
  readonly projectDirectory?: string | undefined
  readonly cwd: string
  readonly home: string
}

/** True when only a root of the client or the working directory can say it. */
export function dependsOnRoots({ given, projectDirectory }: WorkspaceSources): boolean {
  return given === undefined && projectDirectory === undefined
}

/**
 * The directory that the first of them names; `roots` are URIs of the client, of which the first that is a directory of this machine
 * counts. Throws INVALID_ARGUMENT for the root of the file system and the home directory, FILE_NOT_FOUND for what is not there.
 */
export function chooseWorkspace(sources: WorkspaceSources, roots: readonly string[]): string {
  const { given, projectDirectory, cwd } = sources
  if (given !== undefined) return checked(resolve(cwd, given), 'named by --workspace', sources)
  if (projectDirectory !== undefined)
    return checked(resolve(cwd, projectDirectory), 'named by CLAUDE_PROJECT_DIR', sources)
  for (const root of roots) {
    const directory = pathOf(root)
    if (directory !== undefined && isDirectory(directory)) return checked(directory, 'the root of the client', sources)
  }
  return checked(cwd, 'the directory where the client started nexus mcp', sources)
}

/** `origin` says for people why it is that directory. Throws INVALID_ARGUMENT when it is too large to be a workspace. */
export function refuseWide(directory: string, origin: string, { home }: Pick<WorkspaceSources, 'home'>): void {
  const real = realPath(directory)
  if (dirname(real) === real || real === realPath(home))
    throw new NexusError(
      'INVALID_ARGUMENT',
      `Nexus serves no skills for ${toSafeLine(directory)}, ${origin}: the root of the file system and the home directory are too large to be a workspace.`,
      { fix: 'Name a project in the arguments of the client: nexus mcp --workspace /path/to/project' },
    )
}

function checked(directory: string, origin: string, sources: WorkspaceSources): string {
  if (!isDirectory(directory))
    throw new NexusError('FILE_NOT_FOUND', `There is no directory ${toSafeLine(directory)}, ${origin}.`, {
      fix: 'Name one that exists in the arguments of the client: nexus mcp --workspace /path/to/project',
    })
  refuseWide(directory, origin, sources)
  return directory
}

/** The path of a file URI of this machine. */
function pathOf(uri: string): string | undefined {
  try {
    const path = fileURLToPath(uri)
    return isAbsolute(path) ? path : undefined
  } catch {
    // Another scheme or host: it names nothing here.
    return undefined
  }
}
