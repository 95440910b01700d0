/** protected: places in a workspace that other programs on the host act upon by themselves. Commands never change them. Pure. */

/** Names that are protected wherever they are, with all below them; lower case. */
const NAMES: ReadonlySet<string> = new Set([
  // our own configuration
  'nexus.yaml', 'nexus.yml', '.nexus',
  // agents and editors that run hooks, tasks or servers from a folder they open
  '.claude', '.mcp.json', '.vscode', '.idea', '.cursor', '.gemini', '.codex', '.devcontainer',
  // shells, git and tools that read these when a directory is entered or is somebody's home
  '.gitconfig', '.gitmodules', '.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile',
  '.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zlogout', '.envrc', '.ripgreprc', '.ssh', '.gnupg',
]) // oxfmt-ignore

/** What decides inside a git directory which programs git starts, or where it takes that from. */
const GIT_STEERING: ReadonlySet<string> = new Set(['hooks', 'config', 'config.worktree', 'commondir', 'gitdir'])

/** Parts of a git directory that hold only data, under any name. */
const GIT_DATA: ReadonlySet<string> = new Set(['objects', 'refs', 'logs'])

/** Every protected place at the top of a workspace and of its repository: looked for by name, however much else is there. */
export const TOP_PLACES: readonly string[] = [
  ...NAMES,
  '.git',
  ...GIT_STEERING,
  ...[...GIT_STEERING].map((name) => `.git/${name}`),
]

/** How the protection asks for the rest of the workspace: is there an entry at this path? */
export type Exists = (path: string) => boolean

/**
 * The protected place that `path` is or lies in, as a path; undefined when commands may change it.
 * A repository without a `.git` (a bare one, which git also obeys) is known by its HEAD, objects and refs.
 */
export function protectedPlace(path: string, kind: string, exists: Exists): string | undefined {
  const parts = path.split('/')
  const lower = parts.map((part) => part.toLowerCase())
  for (const [index, name] of lower.entries()) {
    const isProtected =
      NAMES.has(name) ||
      // As a file or a link `.git` says where the repository is: any directory with a configuration of its own.
      (name === '.git' && index === parts.length - 1 && kind !== 'directory') ||
      (GIT_STEERING.has(name) && steersGit({ parts, lower, index, exists }))
    if (isProtected) return parts.slice(0, index + 1).join('/')
  }
  return undefined
}

function steersGit(at: { parts: string[]; lower: string[]; index: number; exists: Exists }): boolean {
  const { parts, lower, index, exists } = at
  const git = lower.lastIndexOf('.git', index - 1)
  if (index === 0 || git < 0) return isRepository(parts.slice(0, index), exists)
  return !GIT_DATA.has(lower[git + 1] ?? '')
}

function isRepository(directory: readonly string[], exists: Exists): boolean {
  const at = (name: string): string => [...directory, name].join('/')
  return exists(at('HEAD')) && exists(at('objects')) && exists(at('refs'))
}
