/** Layouts of installers: what each leaves in a home, and what is found there. */
import { linkSync } from 'node:fs'
import { join } from 'node:path'
import type { Home } from './home.ts'

/** One installation: what it leaves in a home, the program asked for, and what is found, relative to the home. */
interface Case {
  readonly lay: (home: Home) => void
  readonly path?: readonly string[]
  readonly variables?: (home: Home) => Readonly<Record<string, string>>
  readonly asks: string
  readonly kind: string
  readonly file: string
  readonly places: readonly string[]
  readonly links?: readonly string[]
}

const UV = '.local/share/uv'
const PYTHON = 'cpython-3.12.4-linux-x86_64-gnu'

export const CASES: Readonly<Record<string, Case>> = {
  'a tool of uv, with the Python that uv installed, through its link by minor version': {
    lay: (home) => {
      home.program(`${UV}/python/${PYTHON}/bin/python3.12`, '\x7fELF')
      home.link(`${UV}/python/${PYTHON}/bin/python3`, 'python3.12')
      home.link(`${UV}/python/cpython-3.12-linux-x86_64-gnu`, PYTHON)
      const interpreter = join(home.path, UV, 'python/cpython-3.12-linux-x86_64-gnu/bin')
      home.file(`${UV}/tools/black/pyvenv.cfg`, `home = ${interpreter}\nversion_info = 3.12.4\n`)
      home.link(`${UV}/tools/black/bin/python`, `${interpreter}/python3.12`)
      home.program(`${UV}/tools/black/bin/black`, `#!${home.path}/${UV}/tools/black/bin/python\n`)
      home.link('.local/bin/black', join(home.path, UV, 'tools/black/bin/black'))
    },
    asks: 'black',
    kind: 'uv tool',
    file: '.local/bin/black',
    places: [`${UV}/tools/black`, `${UV}/python/${PYTHON}`],
    links: ['.local/bin/black', `${UV}/python/cpython-3.12-linux-x86_64-gnu`],
  },
  'a download of nexus skills deps, with what was unpacked beside it': {
    lay: (home) => home.program('.nexus/tools/tool-1/bin/only-tool', '\x7fELF'),
    asks: 'only-tool',
    kind: 'nexus skills deps',
    file: '.nexus/tools/tool-1/bin/only-tool',
    places: ['.nexus/tools/tool-1'],
  },
  'pipx, on the Python of the system, with the pip that its environments share': {
    lay: (home) => {
      home.file('.local/share/pipx/shared/pyvenv.cfg', 'home = /usr/bin\n')
      home.file('.local/share/pipx/venvs/httpie/pyvenv.cfg', 'home = /usr/bin\n')
      home.link('.local/share/pipx/venvs/httpie/bin/python', '/usr/bin/python3')
      home.program(
        '.local/share/pipx/venvs/httpie/bin/http',
        `#!${home.path}/.local/share/pipx/venvs/httpie/bin/python\n`,
      )
      home.link('.local/bin/http', join(home.path, '.local/share/pipx/venvs/httpie/bin/http'))
    },
    asks: 'http',
    kind: 'pipx',
    file: '.local/bin/http',
    places: ['.local/share/pipx/venvs/httpie', '.local/share/pipx/shared'],
    links: ['.local/bin/http'],
  },
  'nvm, the default version, where the PATH has none': {
    lay: (home) => {
      home.program('.nvm/versions/node/v20.1.0/bin/only-nvm', '\x7fELF')
      home.program('.nvm/versions/node/v22.2.0/bin/only-nvm', '\x7fELF')
      home.file('.nvm/alias/default', '20\n')
    },
    asks: 'only-nvm',
    kind: 'nvm',
    file: '.nvm/versions/node/v20.1.0/bin/only-nvm',
    places: ['.nvm/versions/node/v20.1.0'],
  },
  'the same with a directory of its own, the newest without a default': {
    lay: (home) => {
      home.program('tools/nvm/versions/node/v9.1.0/bin/only-nvm', '\x7fELF')
      home.program('tools/nvm/versions/node/v22.2.0/bin/only-nvm', '\x7fELF')
    },
    variables: (home) => ({ NVM_DIR: join(home.path, 'tools/nvm') }),
    asks: 'only-nvm',
    kind: 'nvm',
    file: 'tools/nvm/versions/node/v22.2.0/bin/only-nvm',
    places: ['tools/nvm/versions/node/v22.2.0'],
  },
  'fnm, through the link of a shell': {
    lay: (home) => {
      home.program('.local/share/fnm/node-versions/v20.1.0/installation/bin/only-fnm', '\x7fELF')
      home.link(
        '.local/state/fnm_multishells/1_2',
        join(home.path, '.local/share/fnm/node-versions/v20.1.0/installation'),
      )
    },
    path: ['.local/state/fnm_multishells/1_2/bin'],
    asks: 'only-fnm',
    kind: 'fnm',
    file: '.local/state/fnm_multishells/1_2/bin/only-fnm',
    places: ['.local/share/fnm/node-versions/v20.1.0/installation'],
    links: ['.local/state/fnm_multishells/1_2'],
  },
  'Volta, whose names lead to one program': {
    lay: (home) => {
      home.program('.volta/bin/volta-shim', '\x7fELF')
      home.link('.volta/bin/only-volta', 'volta-shim')
      home.program('.volta/tools/image/node/20.1.0/bin/only-volta', '\x7fELF')
      home.program('.volta/tools/image/node/22.1.0/bin/only-volta', '\x7fELF')
      home.file('.volta/tools/user/platform.json', '{"node": {"runtime": "20.1.0", "npm": null}}')
    },
    path: ['.volta/bin'],
    asks: 'only-volta',
    kind: 'Volta',
    file: '.volta/tools/image/node/20.1.0/bin/only-volta',
    places: ['.volta/tools/image/node/20.1.0'],
  },
  'pyenv, the version of its file': {
    lay: (home) => {
      home.program('.pyenv/shims/python3.11', '#!/usr/bin/env bash\nexec pyenv exec\n')
      for (const version of ['3.11.2', '3.11.7']) home.program(`.pyenv/versions/${version}/bin/python3.11`, '\x7fELF')
      home.file('.pyenv/version', '3.11.2\n3.9.1\n')
    },
    path: ['.pyenv/shims'],
    asks: 'python3.11',
    kind: 'pyenv',
    file: '.pyenv/versions/3.11.2/bin/python3.11',
    places: ['.pyenv/versions/3.11.2'],
  },
  'rbenv, a script that finds its Ruby by name': {
    lay: (home) => {
      for (const name of ['only-ruby', 'only-rake']) home.program(`.rbenv/shims/${name}`, '#!/usr/bin/env bash\n')
      home.program('.rbenv/versions/3.3.0/bin/only-ruby', '\x7fELF')
      home.program('.rbenv/versions/3.3.0/bin/only-rake', '#!/usr/bin/env only-ruby\n')
    },
    path: ['.rbenv/shims'],
    asks: 'only-rake',
    kind: 'rbenv',
    file: '.rbenv/versions/3.3.0/bin/only-rake',
    places: ['.rbenv/versions/3.3.0'],
  },
  mise: {
    lay: (home) => {
      home.program('.local/bin/mise', '\x7fELF')
      home.link('.local/share/mise/shims/only-go', join(home.path, '.local/bin/mise'))
      for (const version of ['1.21.0', '1.22.0'])
        home.program(`.local/share/mise/installs/go/${version}/bin/only-go`, '\x7fELF')
      home.file('.config/mise/config.toml', '[tools]\ngo = "1.21"\n')
    },
    path: ['.local/share/mise/shims'],
    asks: 'only-go',
    kind: 'mise',
    file: '.local/share/mise/installs/go/1.21.0/bin/only-go',
    places: ['.local/share/mise/installs/go/1.21.0'],
  },
  asdf: {
    lay: (home) => {
      home.program('.asdf/shims/only-elixir', '#!/usr/bin/env bash\n# asdf-plugin: elixir 1.15.0\n')
      for (const version of ['1.15.0', '1.16.0'])
        home.program(`.asdf/installs/elixir/${version}/bin/only-elixir`, '\x7fELF')
      home.file('.tool-versions', 'elixir 1.15.0\n')
    },
    path: ['.asdf/shims'],
    asks: 'only-elixir',
    kind: 'asdf',
    file: '.asdf/installs/elixir/1.15.0/bin/only-elixir',
    places: ['.asdf/installs/elixir/1.15.0'],
  },
  'rustup, whose names are one file': {
    lay: (home) => {
      linkSync(home.program('.cargo/bin/rustup', '\x7fELF'), join(home.path, '.cargo/bin/only-cargo'))
      home.program('.rustup/toolchains/stable-x86_64/bin/only-cargo', '\x7fELF')
      home.file('.rustup/settings.toml', 'default_toolchain = "stable-x86_64"\n')
    },
    path: ['.cargo/bin'],
    asks: 'only-cargo',
    kind: 'rustup',
    file: '.rustup/toolchains/stable-x86_64/bin/only-cargo',
    places: ['.rustup/toolchains/stable-x86_64'],
  },
  'a program of cargo is one file, beside which credentials stay unseen': {
    lay: (home) => {
      home.program('.cargo/bin/ripgrep', '\x7fELF')
      home.file('.cargo/credentials.toml', 'token = "x"')
    },
    asks: 'ripgrep',
    kind: 'cargo',
    file: '.cargo/bin/ripgrep',
    places: ['.cargo/bin/ripgrep'],
  },
  'a program of go': {
    lay: (home) => void home.program('go/bin/only-gopls', '\x7fELF'),
    asks: 'only-gopls',
    kind: 'go',
    file: 'go/bin/only-gopls',
    places: ['go/bin/only-gopls'],
  },
  Homebrew: {
    lay: (home) => {
      home.program('.linuxbrew/Cellar/only-jq/1.7/bin/only-jq', '\x7fELF')
      home.link('.linuxbrew/bin/only-jq', '../Cellar/only-jq/1.7/bin/only-jq')
      home.link('.linuxbrew/opt/only-jq', '../Cellar/only-jq/1.7')
      home.file('.linuxbrew/etc/secret', '')
    },
    path: ['.linuxbrew/bin'],
    asks: 'only-jq',
    kind: 'Homebrew',
    file: '.linuxbrew/bin/only-jq',
    places: ['.linuxbrew/Cellar', '.linuxbrew/opt'],
    links: ['.linuxbrew/bin/only-jq'],
  },
  'conda, one environment': {
    lay: (home) => {
      home.file('miniconda3/conda-meta/history', '')
      home.file('miniconda3/envs/data/conda-meta/history', '')
      home.program('miniconda3/envs/data/bin/only-jupyter', `#!${home.path}/miniconda3/envs/data/bin/python\n`)
      home.program('miniconda3/envs/data/bin/python', '\x7fELF')
    },
    asks: 'only-jupyter',
    kind: 'conda',
    file: 'miniconda3/envs/data/bin/only-jupyter',
    places: ['miniconda3/envs/data'],
  },
  'npm -g with a prefix of the home': {
    lay: (home) => {
      home.program('.npm-global/lib/node_modules/@org/cli/bin.js', '#!/usr/bin/env node\n')
      home.link('.npm-global/bin/only-cli', '../lib/node_modules/@org/cli/bin.js')
    },
    path: ['.npm-global/bin'],
    asks: 'only-cli',
    kind: 'npm -g',
    file: '.npm-global/bin/only-cli',
    places: ['.npm-global/lib/node_modules/@org/cli'],
    links: ['.npm-global/bin/only-cli'],
  },
  'Nix, through the links of a profile to the store, where the PATH has none': {
    lay: (home) => {
      home.program('nix/store/abc-only-jq-1.7/bin/only-jq', '\x7fELF')
      home.link('nix/store/def-user-environment/bin', join(home.path, 'nix/store/abc-only-jq-1.7/bin'))
      home.link('.local/state/nix/profiles/profile-1-link', join(home.path, 'nix/store/def-user-environment'))
      home.link('.local/state/nix/profiles/profile', 'profile-1-link')
      home.link('.nix-profile', join(home.path, '.local/state/nix/profiles/profile'))
    },
    variables: (home) => ({ NIX_STORE_DIR: join(home.path, 'nix/store') }),
    asks: 'only-jq',
    kind: 'Nix',
    file: '.nix-profile/bin/only-jq',
    places: ['nix/store'],
    links: ['.local/state/nix/profiles/profile', '.local/state/nix/profiles/profile-1-link', '.nix-profile'],
  },
  'AWS CLI, as its installer leaves it in a home': {
    lay: (home) => {
      home.program('.local/aws-cli/v2/2.15.0/dist/aws', '\x7fELF')
      home.link('.local/aws-cli/v2/2.15.0/bin/aws', '../dist/aws')
      home.link('.local/aws-cli/v2/current', join(home.path, '.local/aws-cli/v2/2.15.0'))
      home.link('.local/bin/aws', join(home.path, '.local/aws-cli/v2/current/bin/aws'))
      home.file('.aws/credentials', '[default]')
    },
    asks: 'aws',
    kind: 'AWS CLI',
    file: '.local/bin/aws',
    places: ['.local/aws-cli/v2/2.15.0'],
    links: ['.local/aws-cli/v2/current', '.local/bin/aws'],
  },
  Bun: {
    lay: (home) => {
      home.program('.bun/bin/bun', '\x7fELF')
      home.link('.bun/bin/only-bunx', 'bun')
    },
    path: ['.bun/bin'],
    asks: 'only-bunx',
    kind: 'Bun',
    file: '.bun/bin/only-bunx',
    places: ['.bun/bin/bun'],
    links: ['.bun/bin/only-bunx'],
  },
  'a package of bun add -g, with those that it needs': {
    lay: (home) => {
      home.program('.bun/install/global/node_modules/only-cow/cli.js', '#!/usr/bin/env node\n')
      home.file('.bun/install/global/node_modules/strip/index.js', '')
      home.link('.bun/bin/only-cow', '../install/global/node_modules/only-cow/cli.js')
    },
    asks: 'only-cow',
    kind: 'Bun',
    file: '.bun/bin/only-cow',
    places: ['.bun/install/global/node_modules'],
    links: ['.bun/bin/only-cow'],
  },
  'Deno, moved by its variable': {
    lay: (home) => void home.program('tools/deno/bin/only-deno', '\x7fELF'),
    variables: (home) => ({ DENO_INSTALL: join(home.path, 'tools/deno') }),
    asks: 'only-deno',
    kind: 'Deno',
    file: 'tools/deno/bin/only-deno',
    places: ['tools/deno/bin/only-deno'],
  },
  'a file in ~/.local/bin': {
    lay: (home) => void home.program('.local/bin/only-gh', '\x7fELF'),
    asks: 'only-gh',
    kind: 'a program of its own',
    file: '.local/bin/only-gh',
    places: ['.local/bin/only-gh'],
  },
}
