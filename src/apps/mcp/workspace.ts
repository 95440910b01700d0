/** Which directory a client means. Source: decisions, "workspace of `nexus mcp`". */
import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ERRORS, errorOf, type WorkspaceOrigin } from './messages.ts'

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
export async function chooseWorkspace(sources: WorkspaceSources, roots: readonly string[]): Promise<string> {
  const { given, projectDirectory, cwd } = sources
  if (given !== undefined) return checked(resolve(cwd, given), 'given', sources)
  if (projectDirectory !== undefined) return checked(resolve(cwd, projectDirectory), 'project', sources)
  for (const root of roots) {
    const directory = pathOf(root)
    if (directory !== undefined && (await isDirectory(directory))) return checked(directory, 'root', sources)
  }
  return checked(cwd, 'cwd', sources)
}

/** Throws INVALID_ARGUMENT when that directory is too large to be a workspace. */
export async function refuseWide(
  directory: string,
  origin: WorkspaceOrigin,
  { home }: Pick<WorkspaceSources, 'home'>,
): Promise<void> {
  const real = await realOf(directory)
  if (dirname(real) === real || real === (await realOf(home)))
    throw errorOf('INVALID_ARGUMENT', ERRORS.noWorkspace(directory, origin))
}

async function checked(directory: string, origin: WorkspaceOrigin, sources: WorkspaceSources): Promise<string> {
  if (!(await isDirectory(directory))) throw errorOf('FILE_NOT_FOUND', ERRORS.noDirectory(directory, origin))
  await refuseWide(directory, origin, sources)
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

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}

async function realOf(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}
