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

/** How the protection asks for the rest of the workspace: is there an entry at this path? */
export type Exists = (path: string) => boolean

/**
 * The protected place that `path` is or lies in, as a path; undefined when commands may change it.
 * A repository without a `.git` (a bare one, which git also obeys) is known by its HEAD, objects and refs.
 */
export function protectedPlace(path: string, kind: string, exists: Exists): string | undefined {
  const parts = path.split('/')
  for (const [index, part] of parts.entries()) {
    const name = part.toLowerCase()
    const here = parts.slice(0, index + 1).join('/')
    if (NAMES.has(name)) return here
    // As a file or a link `.git` says where the repository is: any directory with a configuration of its own.
    if (name === '.git' && index === parts.length - 1 && kind !== 'directory') return here
    const git = parts.findIndex((above, at) => at < index && above.toLowerCase() === '.git')
    if (git >= 0 && GIT_STEERING.has(name) && !GIT_DATA.has((parts[git + 1] ?? '').toLowerCase())) return here
    if (git < 0 && GIT_STEERING.has(name) && isRepository(parts.slice(0, index), exists)) return here
  }
  return undefined
}

function isRepository(directory: readonly string[], exists: Exists): boolean {
  const at = (name: string): string => [...directory, name].join('/')
  return exists(at('HEAD')) && exists(at('objects')) && exists(at('refs'))
}
