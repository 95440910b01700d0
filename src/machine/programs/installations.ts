/** installations: how programs get into a home, and what of each way a program needs to run. One row a way; paths as they are on Linux. */

/** One way to install programs. */
export interface Installation {
  /** For people: "pipx", "Homebrew". */
  readonly kind: string
  /** Where it is, the first that exists first. `~` is the home, `$NAME` a variable that moves it. */
  readonly bases: readonly string[]
  /** The part of a program's real path below the base that is mounted whole. */
  readonly tree?: RegExp
  /** Programs that are one file without anything beside it. */
  readonly file?: RegExp
  /** More below the base that every program of it needs, where it exists. */
  readonly also?: readonly string[]
  /** Directories of programs below the base, `*` for any name: looked into when the PATH has only a shim, or nothing. */
  readonly programs?: readonly string[]
  /** The directory below the base whose files only start a program of the chosen version. */
  readonly shims?: string
  /** A program that stands behind other names and starts what they mean. */
  readonly proxy?: string
  /** Files that name the chosen version, below the base or the home. */
  readonly chosen?: readonly string[]
  /** Something that is in each of its trees; another directory is none. */
  readonly mark?: string
  /** Its files never change, so they are not looked at one by one. */
  readonly isSealed?: true
}

/** In the order in which they are asked; a place that two rows match belongs to the first. */
export const INSTALLATIONS: readonly Installation[] = [
  {
    kind: 'uv tool',
    bases: ['$UV_TOOL_DIR', '$XDG_DATA_HOME/uv/tools', '~/.local/share/uv/tools'],
    tree: /^[^/]+/,
    programs: ['*/bin'],
  },
  {
    kind: 'Python of uv',
    bases: ['$UV_PYTHON_INSTALL_DIR', '$XDG_DATA_HOME/uv/python', '~/.local/share/uv/python'],
    tree: /^[^/]+/,
    programs: ['*/bin'],
  },
  {
    kind: 'pipx',
    bases: ['$PIPX_HOME', '$XDG_DATA_HOME/pipx', '~/.local/share/pipx', '~/.local/pipx'],
    tree: /^venvs\/[^/]+/,
    // Its environments have pip from there.
    also: ['shared'],
    programs: ['venvs/*/bin'],
  },
  {
    kind: 'nvm',
    bases: ['$NVM_DIR', '~/.nvm', '~/.config/nvm'],
    tree: /^versions\/[^/]+\/[^/]+/,
    programs: ['versions/node/*/bin'],
    chosen: ['alias/default'],
  },
  {
    kind: 'fnm',
    bases: ['$FNM_DIR', '$XDG_DATA_HOME/fnm', '~/.local/share/fnm', '~/.fnm'],
    tree: /^node-versions\/[^/]+\/installation/,
    programs: ['aliases/default/bin', 'node-versions/*/installation/bin'],
  },
  {
    kind: 'Volta',
    bases: ['$VOLTA_HOME', '~/.volta'],
    tree: /^tools\/image\/(?:packages\/(?:@[^/]+\/)?[^/]+|[^/]+\/[^/]+)/,
    programs: ['tools/image/node/*/bin', 'tools/image/*/*/bin', 'tools/image/packages/*/bin'],
    shims: 'bin',
    proxy: 'volta-shim',
    chosen: ['tools/user/platform.json'],
  },
  {
    kind: 'pyenv',
    bases: ['$PYENV_ROOT', '~/.pyenv'],
    tree: /^versions\/[^/]+/,
    programs: ['versions/*/bin'],
    shims: 'shims',
    chosen: ['version'],
  },
  {
    kind: 'rbenv',
    bases: ['$RBENV_ROOT', '~/.rbenv'],
    tree: /^versions\/[^/]+/,
    programs: ['versions/*/bin'],
    shims: 'shims',
    chosen: ['version'],
  },
  {
    kind: 'mise',
    bases: ['$MISE_DATA_DIR', '$XDG_DATA_HOME/mise', '~/.local/share/mise'],
    tree: /^installs\/[^/]+\/[^/]+/,
    programs: ['installs/*/*/bin', 'installs/*/*'],
    shims: 'shims',
    proxy: 'mise',
    chosen: ['~/.config/mise/config.toml', '~/.tool-versions'],
  },
  {
    kind: 'asdf',
    bases: ['$ASDF_DATA_DIR', '~/.asdf'],
    tree: /^installs\/[^/]+\/[^/]+/,
    programs: ['installs/*/*/bin'],
    shims: 'shims',
    chosen: ['~/.tool-versions'],
  },
  {
    kind: 'rustup',
    bases: ['$RUSTUP_HOME', '~/.rustup'],
    tree: /^toolchains\/[^/]+/,
    programs: ['toolchains/*/bin'],
    proxy: 'rustup',
    chosen: ['settings.toml'],
  },
  { kind: 'cargo', bases: ['$CARGO_HOME', '~/.cargo'], file: /^bin\/[^/]+$/, programs: ['bin'] },
  { kind: 'go', bases: ['$GOBIN'], file: /^[^/]+$/, programs: ['.'] },
  { kind: 'go', bases: ['$GOPATH', '~/go'], file: /^bin\/[^/]+$/, programs: ['bin'] },
  { kind: 'Go', bases: ['~/sdk'], tree: /^go[^/]*/, programs: ['*/bin'] },
  {
    kind: 'Homebrew',
    bases: ['$HOMEBREW_PREFIX', '/home/linuxbrew/.linuxbrew', '~/.linuxbrew'],
    // Its programs name libraries of others by `opt` and `lib`, and its own loader.
    tree: /^Cellar/,
    also: ['opt', 'lib', 'share'],
    programs: ['bin', 'sbin'],
  },
  {
    kind: 'Nix',
    bases: ['$NIX_STORE_DIR', '/nix/store'],
    // A program names what it needs by paths of the store.
    tree: /^/,
    isSealed: true,
  },
  {
    kind: 'Nix',
    bases: [
      '~/.nix-profile',
      '$XDG_STATE_HOME/nix/profile',
      '~/.local/state/nix/profile',
      '/nix/var/nix/profiles/default',
    ],
    programs: ['bin'],
  },
  {
    kind: 'conda',
    bases: [
      '$CONDA_PREFIX',
      '$MAMBA_ROOT_PREFIX',
      ...['~/miniconda3', '~/anaconda3', '~/miniforge3', '~/mambaforge', '~/micromamba', '~/.conda', '/opt/conda'],
    ],
    tree: /^envs\/[^/]+|^/,
    mark: 'conda-meta',
    programs: ['bin', 'envs/*/bin'],
  },
  {
    kind: 'Google Cloud CLI',
    bases: ['$CLOUDSDK_ROOT_DIR', '~/google-cloud-sdk'],
    tree: /^/,
    mark: 'lib/gcloud.py',
    programs: ['bin'],
  },
  { kind: 'AWS CLI', bases: ['~/.local/aws-cli', '~/aws-cli'], tree: /^v2\/[^/]+/, programs: ['v2/current/bin'] },
  {
    kind: 'npm -g',
    bases: ['$NPM_CONFIG_PREFIX', '$npm_config_prefix', '~/.npm-global', '~/.npm-packages', '~/.local'],
    tree: /^lib\/node_modules\/(?:@[^/]+\/)?[^/]+/,
    programs: ['bin'],
  },
  {
    kind: 'Bun',
    bases: ['$BUN_INSTALL', '~/.bun'],
    // Packages of `bun add -g` find others beside them.
    tree: /^install\/global\/node_modules/,
    file: /^bin\/[^/]+$/,
    programs: ['bin'],
  },
  { kind: 'Deno', bases: ['$DENO_INSTALL', '~/.deno'], file: /^bin\/[^/]+$/, programs: ['bin'] },
  { kind: 'a program of its own', bases: ['~/.local', '~'], file: /^bin\/[^/]+$/, programs: ['bin'] },
  { kind: '/opt', bases: ['/opt'], tree: /^[^/]+/ },
  {
    kind: 'nexus skills deps',
    bases: ['$NEXUS_HOME/tools', '~/.nexus/tools'],
    tree: /^[^/]+/,
    programs: ['.', 'bin', '*', '*/bin'],
  },
]

/** Programs that no mount makes run, by the beginning of their real path or of the way to it, with the reason. */
export const REFUSED: readonly { readonly kind: string; readonly at: RegExp; readonly why: string }[] = [
  { kind: 'snap', at: /^\/(?:snap|var\/lib\/snapd)\/|\/usr\/bin\/snap$/, why: 'a snap is started by its own daemon, which commands do not reach' },
  { kind: 'flatpak', at: /\/flatpak\/exports\/|^\/var\/lib\/flatpak\/|\/usr\/bin\/flatpak$/, why: 'a Flatpak program makes a sandbox of its own, which commands may not do' },
] // oxfmt-ignore

/** Files of an installation that may contain keys: what reads them inside finds nothing. Relative to a tree. */
export const HIDDEN = [
  'etc/npmrc', '.npmrc', 'lib/node_modules/npm/npmrc', 'pip.conf', 'etc/pip.conf', '.condarc', 'condarc', '.netrc', '.git-credentials', '.env',
] as const // oxfmt-ignore

/** Places of a home that are never mounted, whatever moved an installation into them. */
export const NEVER = [
  '.ssh', '.aws', '.gnupg', '.kube', '.docker', '.azure', '.netrc', '.npmrc', '.pypirc', '.git-credentials', '.config/gh', '.config/gcloud',
  '.config/git', '.password-store', '.mozilla', '.thunderbird', '.nexus', '.local/share/keyrings',
] as const // oxfmt-ignore

/** Below one of those: downloads for skills, without keys. */
export const OPENED = ['.nexus/tools'] as const
