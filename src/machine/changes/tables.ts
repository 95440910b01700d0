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

/** Directories that a package manager fills. A hook of the shell puts `_opam` on the PATH. */
export const DEPENDENCIES: ReadonlySet<string> = new Set([
  'node_modules', '.tox', '.nox', '.eggs', '.pnpm-store', '_opam',
]) // oxfmt-ignore

/** An environment of Python has any name, and this file in it. A directory of the user does not become one. */
export const ENVIRONMENT_MARK = 'pyvenv.cfg'

/** Stores of packages in a `node_modules` that a build puts into its output. */
export const STORES: ReadonlySet<string> = new Set(['.pnpm', '.prisma'])

/** Settings of Nexus: a command that changed them would change its own limits. */
export const OF_NEXUS: ReadonlySet<string> = new Set(['nexus.yaml', 'nexus.yml', '.nexus'])

/** Names of files without a dot that programs obey when a directory is entered or opened, or before a commit. `nexus skills ci` installs what its lock names. */
export const OBEYED: ReadonlySet<string> = new Set([
  'opencode.json', 'opencode.jsonc', 'crush.json', 'firebender.json', 'mcp.json', 'gptme.toml', 'codebuff.json', 'rust-toolchain',
  'rust-toolchain.toml', 'global.json', 'bunfig.toml', 'pnpm-workspace.yaml', 'pnpmfile.js', 'ansible.cfg', 'pip.conf', 'nuget.config',
  'startup.m', 'sitecustomize.py', 'usercustomize.py', 'pyvenv.cfg', 'captainhook.json', 'workspace', 'workspace.bazel', 'module.bazel',
  'devbox.json', 'devenv.nix', 'devenv.yaml', 'flake.nix', 'shell.nix', 'pkgx.yaml', 'pkgx.yml', 'uv.toml', 'poetry.toml', 'pdm.toml',
  'hie.yaml', 'latexmkrc', 'hk.pkl', 'prek.toml', 'cog.toml', 'cz.toml', 'cz.json', 'cz.yaml', '_fossil_', 'default.nix', 'aqua.yaml',
  'aqua.yml', 'irb.rc', '_irbrc', '$irbrc', 'profile.do', 'autoexec.sas', 'finish.m', 'nexus-skills.lock', 'skills-lock.json',
]) // oxfmt-ignore

/** The same, by their ends and beginnings. `.pth` is code for Python. */
export const OBEYED_FORMS: readonly RegExp[] = [
  /\.(?:code-workspace|sublime-project|sublime-workspace|ipr|iws|pth)$/,
  /^(?:lint-staged\.config|husky\.config|commitlint\.config|nano-staged|simple-git-hooks|grumphp)\./,
  /^lefthook(?:-local)?\.(?:ya?ml|toml|jsonc?)$/,
  /^mise(?:\..+)?\.toml$/,
  /^(?:jupyter|ipython)_.*config\.(?:py|json)$/,
]

/** A file below a directory, by the names of both. npx finds `.bin/nexus` in the directory where it is typed. */
export const OBEYED_BELOW: readonly (readonly [directory: string, name: string])[] = [
  ['tools', 'bazel'],
  ['_darcs', 'prefs'],
  ['_mtn', 'monotonerc'],
  ['.bin', 'nexus'],
  ['bin', 'activate-hermit'],
  ['bin', 'hermit.hcl'],
  ['mise', 'config.toml'],
  ['renv', 'activate.r'],
]

/** Skills of the workspace, and of a package in it that somebody opens as one: what is in them is trusted together with the root. */
export const SKILL_ROOT = 'skills'
export const SKILL_FILE = 'SKILL.md'

/** Only the server of the repository, or who reads it there, acts upon these; a client obeys the rest of `.github`. */
export const PLAIN_OF_GITHUB: RegExp = /^(?!copilot-)(?:workflows|issue_template|.+\.(?:ya?ml|md))$/
