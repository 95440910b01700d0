import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type ProgramRequest, type ProgramResult, run as runProgram } from './run-program.ts'

/** One run of the machine's git. */
export interface GitRequest extends Pick<
  ProgramRequest,
  'cwd' | 'input' | 'inputFrom' | 'timeoutMs' | 'maxOutputBytes' | 'signal' | 'as'
> {
  /** A subcommand and its arguments. Put `--` before what others chose. */
  readonly args: readonly string[]
  /** Transports that git may use, such as `https`. Default: none. */
  readonly protocols?: readonly string[]
  readonly user?: GitUser
  /** A repository of the user's, with its own configuration. */
  readonly repository?: GitRepository
}

/** A repository that is there, with its parts by absolute paths. */
export interface GitRepository {
  readonly directory: string
  readonly worktree?: string
  /** Default: those of the repository. */
  readonly index?: string
  readonly objects?: string
}

/** The part of the user's own git that reaches a run. */
export interface GitUser {
  /** Where credential helpers and `.netrc` find their files. */
  readonly home: string
  /** The socket of the user's ssh agent. */
  readonly sshAgent?: string | undefined
  /** Rows of `readGitSettings`. */
  readonly settings: readonly GitSetting[]
}

export type GitSetting = readonly [key: string, value: string]

/** Other accounts may own a repository in which root works; its paths are names and no patterns. */
function forRepository({ directory, worktree, index, objects }: GitRepository): Record<string, string> {
  return {
    GIT_DIR: directory,
    GIT_LITERAL_PATHSPECS: '1',
    ...(worktree !== undefined && { GIT_WORK_TREE: worktree }),
    ...(index !== undefined && { GIT_INDEX_FILE: index }),
    ...(objects !== undefined && { GIT_OBJECT_DIRECTORY: objects }),
  }
}

const MAX_ERROR_BYTES = 16_384
const MAX_SETTINGS_BYTES = 262_144

/** Nothing that a repository, a server or another configuration says is run, followed or left unchecked. Source: reference/security §2.4. */
const HARDENED = [
  'core.hooksPath=/dev/null',
  'core.symlinks=false',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.askPass=',
  'gc.auto=0',
  'maintenance.auto=false',
  'transfer.fsckObjects=true',
  'safe.bareRepository=explicit',
  'protocol.file.allow=never',
  'protocol.ext.allow=never',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'fetch.negotiationAlgorithm=noop',
  'http.followRedirects=false',
  'http.lowSpeedLimit=1000',
  'http.lowSpeedTime=30',
]

/** See `runGit` of the index. */
export async function run({ args, protocols = [], user, repository, ...request }: GitRequest): Promise<ProgramResult> {
  const settings = user?.settings ?? []
  const ofUser = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return runProgram({
    ...request,
    // `-c` comes last, and wins over the settings of the user.
    command: [
      'git',
      ...[...HARDENED, ...(repository ? ['safe.directory=*'] : [])].flatMap((setting) => ['-c', setting]),
      ...args,
    ],
    maxErrorBytes: MAX_ERROR_BYTES,
    environment: {
      ...QUIET,
      ...(repository && forRepository(repository)),
      HOME: user?.home ?? '/nonexistent',
      GIT_ALLOW_PROTOCOL: protocols.length === 0 ? 'none' : protocols.join(':'),
      GIT_SSH_COMMAND: 'ssh -oBatchMode=yes -oForwardAgent=no -oClearAllForwardings=yes -oPermitLocalCommand=no',
      // In the environment and not in arguments: a proxy may have a password, and arguments are visible to every user.
      GIT_CONFIG_COUNT: String(settings.length),
      ...Object.fromEntries(ofUser),
      ...(user?.sshAgent !== undefined && { SSH_AUTH_SOCK: user.sshAgent }),
    },
  })
}

const QUIET = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: '',
  GIT_LFS_SKIP_SMUDGE: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_ADVICE: '0',
} as const

/** The only settings of the user that a fetch may need. */
const WANTED = String.raw`^(credential\..*|http\.proxy|http\.sslcainfo|url\..*\.insteadof)$`

/** See `readGitSettings` of the index. */
export async function readSettings(home: string, signal?: AbortSignal): Promise<readonly GitSetting[]> {
  // Without a file there is nothing to start git for.
  if (!['.gitconfig', '.config/git/config'].some((name) => existsSync(join(home, name)))) return []
  return (await settingsOf(['--global', '--includes', '--get-regexp', WANTED], { home, signal })) ?? []
}

/** See `listGitSettings` of the index. */
export function listSettings(file: string, home: string): Promise<readonly GitSetting[] | undefined> {
  return settingsOf([...(file === '' ? ['--system'] : ['--file', file]), '--no-includes', '--list'], { home })
}

async function settingsOf(
  args: readonly string[],
  { home, signal }: { readonly home: string; readonly signal?: AbortSignal | undefined },
): Promise<readonly GitSetting[] | undefined> {
  const ended = await runProgram({
    command: ['git', 'config', '--null', ...args],
    environment: { ...(args[0] !== '--system' && { GIT_CONFIG_NOSYSTEM: '1' }), HOME: home },
    timeoutMs: 5_000,
    maxOutputBytes: MAX_SETTINGS_BYTES,
    signal,
  })
  if (ended.type !== 'ended' || ended.code !== 0) return undefined
  const rows = new TextDecoder().decode(ended.stdout).split('\0').filter(Boolean)
  return rows.map((row) => {
    const end = row.indexOf('\n')
    return end < 0 ? [row, 'true'] : [row.slice(0, end), row.slice(end + 1)]
  })
}
