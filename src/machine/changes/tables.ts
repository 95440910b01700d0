/** tables: names that decide whether a change comes back, each group with the reason. Lower case, compared with one component of a path. */

/** Files that are only data although their name begins with a dot. */
export const PLAIN_FILES: ReadonlySet<string> = new Set([
  '.gitignore', '.gitkeep', '.keep', '.editorconfig', '.env.example', '.env.sample', '.env.template', '.dockerignore', '.npmignore',
  '.prettierignore', '.eslintignore', '.stylelintignore', '.nojekyll', '.mailmap', '.clang-format', '.rustfmt.toml', '.yamllint',
]) // oxfmt-ignore

/** Output of builds: only who starts the build starts it, as with `dist/`. */
export const BUILD_OUTPUT: ReadonlySet<string> = new Set([
  '.next', '.nuxt', '.output', '.svelte-kit', '.astro', '.docusaurus', '.vitepress',
]) // oxfmt-ignore

/** Caches of programs: they serve later commands, and are of no use to the workspace. */
export const CACHES: ReadonlySet<string> = new Set([
  '__pycache__', '.pytest_cache', '.mypy_cache', '.ruff_cache', '.hypothesis', '.coverage', '.eslintcache', '.stylelintcache',
  '.prettiercache', '.cache', '.parcel-cache', '.turbo', '.nyc_output', '.swc', '.vite', '.vite-temp', '.nx', '.angular', '.gradle',
  '.kotlin', '.dart_tool', '.ipynb_checkpoints', '.fingerprint', '.rustc_info.json', '.cargo-lock', '.cargo-build-lock',
  '.tsbuildinfo', '.ds_store', '.pytype', '.phpunit.result.cache', '.sass-cache',
]) // oxfmt-ignore

/** A directory with this file in it is a cache (bford.info/cachedir). */
export const CACHE_MARK = 'CACHEDIR.TAG'

/** Directories that a package manager fills, with a file that is in each where people give the name to their own directories too. */
export const DEPENDENCIES: ReadonlyMap<string, string | undefined> = new Map([
  ['node_modules', undefined],
  ['.venv', 'pyvenv.cfg'],
  ['venv', 'pyvenv.cfg'],
  ['env', 'pyvenv.cfg'],
  ['.tox', undefined],
  ['.nox', undefined],
  ['.eggs', undefined],
  ['.pnpm-store', undefined],
])

/** Settings of Nexus: a command that changed them would change its own limits. */
export const OF_NEXUS: ReadonlySet<string> = new Set(['nexus.yaml', 'nexus.yml', '.nexus'])

/** Names of files without a dot that programs obey when a directory is entered or opened. */
export const OBEYED: ReadonlySet<string> = new Set([
  'opencode.json', 'opencode.jsonc', 'crush.json', 'firebender.json', 'mise.toml', 'mise.local.toml', 'rust-toolchain',
  'rust-toolchain.toml', 'global.json', 'bunfig.toml', 'pnpm-workspace.yaml', 'pnpmfile.js', 'ansible.cfg', 'pip.conf', 'nuget.config',
  'startup.m', 'sitecustomize.py', 'usercustomize.py', 'captainhook.json', 'grumphp.yml', 'workspace', 'workspace.bazel',
  'module.bazel', 'devbox.json', 'devenv.nix', 'uv.toml', 'poetry.toml',
]) // oxfmt-ignore

/** The same, by their ends and beginnings. `.pth` is code for Python; the others start hooks before a commit. */
export const OBEYED_FORMS: readonly RegExp[] = [
  /\.(?:code-workspace|sublime-project|pth)$/,
  /^(?:lint-staged\.config|husky\.config|nano-staged)\./,
  /^lefthook(?:-local)?\.(?:ya?ml|toml|jsonc?)$/,
]

/** A file below a directory, by the names of both. npx finds `.bin/nexus` in the directory where it is typed. */
export const OBEYED_BELOW: readonly (readonly [directory: string, name: string])[] = [
  ['tools', 'bazel'],
  ['_darcs', 'prefs'],
  ['.bin', 'nexus'],
]

/** Skills of the workspace: what is in them is trusted together with the root. */
export const SKILL_ROOT = 'skills'

/** Only the server of the repository, or who reads it there, acts upon these; a client obeys the rest of `.github`. */
export const PLAIN_OF_GITHUB: RegExp = /^(?:workflows|issue_template|.+\.(?:ya?ml|md))$/
