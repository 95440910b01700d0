/** dependencies: directories of installed packages. Commands read them where they are; they are not copied. */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Owner, Tree } from '../../files/index.ts'

interface Dependency {
  /** The name, or the last names of the path. */
  readonly name: string
  /** A file that is in each of them, for names that people also give to their own directories. */
  readonly mark?: string
  readonly why: string
}

/** Only what a package manager fills and can fill again. Build output is not here: commands make it, and it must come back. */
const DEPENDENCIES: readonly Dependency[] = [
  { name: 'node_modules', why: 'npm, pnpm, yarn and bun install packages into it' },
  { name: '.venv', mark: 'pyvenv.cfg', why: 'a virtual environment of Python' },
  { name: 'venv', mark: 'pyvenv.cfg', why: 'a virtual environment of Python' },
  { name: '.tox', why: 'tox makes virtual environments in it' },
  { name: 'vendor/bundle', why: 'bundler installs gems into it' },
]

/** Each is a mount of its own; what is more is copied. */
const MAX_BOUND = 64

/** How a workspace is read for one command. */
export interface BindOptions {
  readonly host: Tree
  readonly workspace: string
  /** Whom commands run as; undefined when that is ourselves. */
  readonly owner: Owner | undefined
  /** Names that commands may change, which are copied. */
  readonly writable: readonly string[]
}

/** Finds what is bound into the copy, while the workspace is listed. */
export class Dependencies {
  readonly bound: string[] = []
  readonly #options: BindOptions
  readonly #names: readonly Dependency[]

  constructor(options: BindOptions) {
    this.#options = options
    this.#names = DEPENDENCIES.filter(({ name }) => !options.writable.includes(name))
  }

  /** True for a directory whose content is not copied. */
  take(path: string): boolean {
    const { host, workspace, owner } = this.#options
    const kind = this.#names.find(({ name }) => path === name || path.endsWith(`/${name}`))
    if (kind === undefined || this.bound.length >= MAX_BOUND) return false
    // Arguments of programs are text.
    if (!path.isWellFormed() || (kind.mark !== undefined && host.entry(`${path}/${kind.mark}`) === undefined))
      return false
    if (!isReadable(join(workspace, path), owner)) return false
    this.bound.push(path)
    return true
  }
}

/** The name to write into `execution.workspace.writable` for a bound directory. */
export function dependencyName(path: string): string {
  return DEPENDENCIES.find(({ name }) => path === name || path.endsWith(`/${name}`))?.name ?? path
}

/** Whether the user of commands can list a directory where it is. Another user than we are gets only what everybody gets. */
function isReadable(path: string, owner: Owner | undefined): boolean {
  try {
    if (!owner) {
      accessSync(path, constants.R_OK | constants.X_OK)
      return true
    }
    for (let at = path; ; at = dirname(at)) {
      const needed = at === path ? 0o005 : 0o001
      if ((statSync(at).mode & needed) !== needed) return false
      if (at === '/') return true
    }
  } catch {
    // It vanished, or we may not look: then it is handled as any other directory.
    return false
  }
}
