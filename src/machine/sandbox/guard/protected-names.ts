/** protected-names: names that programs of the host act upon by themselves, each group with the reason. Commands never change them. */

interface Group {
  /** The effect of such a file on the host. */
  readonly why: string
  /** Lower case; each applies wherever it is, with all below it. */
  readonly names: readonly string[]
}

const GROUPS: readonly Group[] = [
  {
    why: 'Nexus reads its configuration, agents and policies from them.',
    names: ['nexus.yaml', 'nexus.yml', '.nexus'],
  },
  {
    why: 'Agent clients start hooks, servers and commands from them, and load skills and instructions.',
    names: [
      '.claude', '.claude.json', '.mcp.json', '.agents', '.cursor', '.gemini', '.codex', '.openclaw', '.windsurf', '.devin',
      '.opencode', 'opencode.json', 'opencode.jsonc', '.continue', '.kiro', '.roo', '.cline', '.kilocode', '.qwen', '.goose', '.trae',
      '.augment', '.factory', '.crush', '.crush.json', 'crush.json', '.amazonq', '.junie', '.aider.conf.yml', '.copilot',
      '.clinerules', '.pi', '.rovodev', '.codebuddy', '.grok', '.vibe', '.agent', '.amp', '.firebender', 'firebender.json', '.iflow',
      '.kimi', '.openhands', '.qoder', '.tabnine', '.warp',
    ],
  },
  {
    why: 'Editors run tasks, interpreters and plugins from a folder that is opened.',
    names: [
      '.vscode', '.idea', '.zed', '.fleet', '.devcontainer', '.devcontainer.json', '.vim', '.vimrc', '.gvimrc', '.exrc', '.nvimrc',
      '.nvim.lua', '.lazy.lua', '.dir-locals.el', '.dir-locals-2.el', '.helix', '.lvimrc', '.projectile', '.vs', '.theia', '.kateproject',
      '.externaltoolbuilders', '.factorypath', '.ycm_extra_conf.py',
    ],
  },
  {
    why: 'Shells and version managers run them when a directory is entered or is a home.',
    names: [
      '.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.zshrc', '.zshenv', '.zprofile', '.zlogin',
      '.zlogout', '.envrc', '.direnv', '.autoenv', '.autoenv.zsh', '.mise.toml', '.mise.local.toml', 'mise.toml', 'mise.local.toml',
      '.mise', '.autoenv_leave.zsh', '.shadowenv.d', '.rtx.toml', '.tool-versions', '.asdfrc', 'rust-toolchain', 'rust-toolchain.toml', '.tmux.conf', '.screenrc', '.inputrc', '.curlrc', '.wgetrc', '.ripgreprc',
      '.ssh', '.gnupg',
    ],
  },
  {
    why: 'Interpreters run them when they start in their directory, RStudio when it opens the project.',
    names: [
      '.rprofile', '.renviron', '.rdata', '.irbrc', '.pryrc', '.iex.exs', '.erlang', '.ghci', '.ocamlinit', '.octaverc', 'startup.m',
      '.gdbinit', '.lldbinit', '.pdbrc', '.pythonrc', 'sitecustomize.py', 'usercustomize.py',
    ],
  },
  {
    why: 'Package managers and compilers load code or programs that they name, whichever command is started.',
    names: [
      '.npmrc', '.yarnrc', '.yarnrc.yml', '.yarn', '.pnp.cjs', '.pnp.loader.mjs', '.pnpmfile.cjs', '.pnpmfile.mjs', 'pnpmfile.js', 'pnpm-workspace.yaml',
      'bunfig.toml', '.cargo', '.bundle', '.gemrc', '.pypirc', 'pip.conf', '.pip', '.condarc', '.mvn', 'nuget.config', '.bazelrc', '.bazeliskrc',
      'ansible.cfg',
    ],
  },
  {
    why: 'Version control starts the programs that they name.',
    names: [
      '.gitconfig', '.gitmodules', '.husky', '.githooks', '.git-hooks', '.pre-commit-config.yaml', '.pre-commit-config.yml',
      '.lefthook', '.lefthook-local', '.overcommit.yml', '.lintstagedrc', '.hgrc', '.lfsconfig', 'captainhook.json', 'grumphp.yml', '.rusty-hook.toml',
    ],
  },
] // oxfmt-ignore

/** Names that are protected wherever they are. */
export const NAMES: ReadonlySet<string> = new Set(GROUPS.flatMap(({ names }) => names))

/** Settings that a program reads in many formats, beside or instead of the usual file. */
export const FORMS: readonly RegExp[] = [
  /^\.?lefthook(?:-local)?\.(?:ya?ml|toml|jsonc?)$/,
  /^\.lintstagedrc\.|^lint-staged\.config\.|^\.?nano-staged\.|^\.huskyrc(?:\.|$)|^husky\.config\./,
]

/** The ends of names that are protected wherever they are. */
export const ENDINGS: readonly string[] = ['.code-workspace', '.sublime-project']

/** A file or directory below another, by the names of both: of version control, and what programs start. */
export const BELOW: readonly (readonly [directory: string, name: string])[] = [
  ['.hg', 'hgrc'],
  ['.hg', 'hgrc-not-shared'],
  ['.jj', 'config.toml'],
  ['repo', 'config.toml'],
  // These lead to another repository, with its configuration.
  ['.hg', 'sharedpath'],
  ['_darcs', 'defaults'],
  ['.config', 'mise'],
  ['.sl', 'config'],
  ['.sl', 'sharedpath'],
  ['.pijul', 'config'],
  ['tools', 'bazel'],
  // npx finds it in the directory where it is typed.
  ['.bin', 'nexus'],
  ['.gitlab', 'duo'],
]

/** Names that agent clients load or start in a hidden directory of their own (`.github/skills`, `.any-client/mcp.json`), whatever it is called. */
export const OF_CLIENTS: ReadonlySet<string> = new Set(['skills', 'agents', 'hooks', 'mcp.json', 'mcp_servers.json'])
