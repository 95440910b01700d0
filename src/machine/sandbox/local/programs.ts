/** programs: the programs of a person's home that commands of one sandbox have, checked before they are mounted. */
import { chmodSync, existsSync, lstatSync, mkdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDirectory, sha256, shellWord } from '../../../kernel/index.ts'
import { HIDDEN, type Located, Owners, type Place, type Program, Programs } from '../../programs/index.ts'
import { PROGRAMS } from '../messages.ts'
import type { SeenPlace } from '../runner/protocol.ts'
import { type LocalSettings, READABLE } from './options.ts'

/** A named program: mounted, found by commands anyway, or not mounted with the reason in words. */
export type NamedProgram =
  | (Program & { readonly why?: undefined })
  | { readonly type: 'system'; readonly name: string; readonly path: string; readonly why?: undefined }
  | { readonly type: 'refused'; readonly name: string; readonly path?: string; readonly why: string }

/** The programs of one moment, ready for a command. */
export interface ReadyPrograms {
  readonly programs: readonly Program[]
  readonly refused: readonly Extract<NamedProgram, { type: 'refused' }>[]
  /** The places of all programs, none in another: these are mounted. */
  readonly places: readonly CheckedPlace[]
  /** Says when a place is another one. */
  readonly stamp: string
}

/** A place as it was when its files were checked. */
export interface CheckedPlace extends Place {
  /** Device and inode. */
  readonly identity: string
}

/** A Python by name, of whatever version. */
const PYTHON = /^python[\d.]*$/
/** Directories of a workspace in which people make virtual environments. */
const ENVIRONMENTS = ['.venv', 'venv'] as const

/** Finds them; without names nothing is looked at. */
export class NamedPrograms {
  readonly #settings: LocalSettings
  readonly #search: Programs
  readonly #owners = new Owners(process.getuid?.() ?? -1)
  readonly #found = new Map<string, NamedProgram>()
  /** Virtual environments of workspaces. */
  readonly #environments = new Set<string>()

  constructor(settings: LocalSettings) {
    this.#settings = settings
    const { home, path, variable } = settings.programs
    this.#search = new Programs({ home, path, variable, system: READABLE, given: ['node'] })
  }

  /** Whether commands have a program by these settings; its files are not looked at one by one. */
  has(name: string): boolean {
    const { names } = this.#settings.programs
    if (names.includes(name)) return this.find(name).type === 'found'
    return this.directories().some((directory) => isExecutable(join(directory, name)))
  }

  /** Directories of the programs that are mounted, in the order of their names. */
  directories(): readonly string[] {
    return directoriesOf(this.#all().filter((each) => each.type === 'found'))
  }

  find(name: string): NamedProgram {
    const known = this.#found.get(name)
    if (known) return known
    const found = this.#judge(this.#search.locate(name))
    this.#found.set(name, found)
    return found
  }

  /** Every named program, with all its files checked. */
  async check(): Promise<readonly NamedProgram[]> {
    return Promise.all(this.#all().map(async (each) => this.#checkFiles(each)))
  }

  /** Adds the interpreters of the virtual environments of a workspace, where a Python was named. */
  enter(workspace: string): void {
    if (!this.#settings.programs.names.some((name) => PYTHON.test(name))) return
    for (const name of ENVIRONMENTS) {
      const directory = join(workspace, name)
      if (!this.#environments.has(directory) && this.#search.environment(directory)) this.#environments.add(directory)
    }
  }

  /** The interpreter of a virtual environment of a workspace that commands do not have; its files are not looked at. */
  unmounted(workspace: string): Program | undefined {
    const all = ENVIRONMENTS.map((name) => this.#search.environment(join(workspace, name)))
    const found = all.find((each) => each?.type === 'found')
    const isMounted = this.#settings.programs.names.some((name) => PYTHON.test(name))
    return isMounted || found?.type !== 'found' ? undefined : found
  }

  /** Whether each place is still the one that was checked. */
  isCurrent({ stamp }: ReadyPrograms): boolean {
    return stamp === stampOf(this.#all().filter((each) => each.type === 'found'))
  }

  /** Looks again when a place has become another one since `before`. */
  async ready(before?: ReadyPrograms): Promise<ReadyPrograms> {
    if (before && this.isCurrent(before)) return before
    this.#found.clear()
    // Taken before the files are looked at: what is exchanged from then on shows.
    const found = this.#all().filter((each) => each.type === 'found')
    const stamp = stampOf(found)
    const identities = new Map(found.flatMap((each) => each.places).map(({ path }) => [path, identityOf(path)]))
    const all = await this.check()
    const programs = all.filter((each) => each.type === 'found')
    const places = programs.flatMap((program) => program.places)
    return {
      programs,
      refused: all.filter((each) => each.type === 'refused'),
      places: places
        .filter(({ path }, index) => places.every((other, at) => !covers(other.path, path, at < index)))
        .map((place) => ({ ...place, identity: identities.get(place.path) ?? '' })),
      stamp,
    }
  }

  #all(): readonly NamedProgram[] {
    const environments = [...this.#environments].map((directory) => this.#environment(directory))
    return [...[...new Set(this.#settings.programs.names)].map((name) => this.find(name)), ...environments]
  }

  /** Without a name, so that nothing starts it by one. */
  #environment(directory: string): NamedProgram {
    const known = this.#found.get(directory)
    if (known) return known
    const located = this.#search.environment(directory)
    const judged = this.#judge(located ?? { type: 'absent', name: directory })
    const found = judged.type === 'found' ? { ...judged, name: '' } : { ...judged, name: directory }
    this.#found.set(directory, found)
    return found
  }

  #judge(located: Located): NamedProgram {
    const { name, type } = located
    if (type === 'absent') return { type: 'refused', name, why: PROGRAMS.absent() }
    if (type !== 'found') return located
    const distrust = this.#owners.ofWays(located) ?? (this.#settings.isRoot ? closedTo(located) : undefined)
    return distrust ? { type: 'refused', name, path: located.file, why: PROGRAMS.distrust(distrust) } : located
  }

  async #checkFiles(found: NamedProgram): Promise<NamedProgram> {
    if (found.type !== 'found') return found
    const distrust = await this.#owners.ofFiles(found)
    const { name, file: path } = found
    return distrust ? { type: 'refused', name, path, why: PROGRAMS.distrust(distrust) } : found
  }
}

/** Another user than we are gets only what everybody gets. */
function closedTo({ file, places }: Program): { readonly path: string; readonly why: string } | undefined {
  const path = [file, ...places.map((place) => place.path)].find((each) => (statSync(each).mode & 0o005) !== 0o005)
  return path === undefined ? undefined : { path, why: PROGRAMS.closed() }
}

function named(programs: readonly Program[]): Program[] {
  return programs.filter(({ name }) => name !== '')
}

/** Directories of programs, after those of the system: what is beside a program does not hide theirs. */
export function directoriesOf(programs: readonly Program[]): string[] {
  return [...new Set(named(programs).map(({ file }) => dirname(file)))]
}

/** Their mounts. `sourceOf` says where a place is for the runner. */
export function seenPrograms(
  { programs, places }: ReadyPrograms,
  starters: string,
  sourceOf: (place: string) => string = (place) => place,
): SeenPlace[] {
  if (programs.length === 0) return []
  const links = new Map(programs.flatMap((program) => program.links).map(({ path, target }) => [path, target]))
  const isInside = (path: string): boolean => places.some((place) => covers(place.path, path, true))
  return [
    ...[...links]
      .filter(([path]) => !isInside(path))
      .map(([path, target]): SeenPlace => ({ as: 'link', path, target })),
    ...places.map(({ path }): SeenPlace => ({ as: 'read', path, source: sourceOf(path) })),
    ...places.flatMap(({ path }) => hiddenIn(path)),
    { as: 'read', path: starters, source: starters },
  ]
}

function hiddenIn(place: string): SeenPlace[] {
  // A program of its own is one file.
  if (!statSync(place).isDirectory()) return []
  return HIDDEN.map((name) => join(place, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => ({ as: 'closed', path }))
}

/** Makes a directory with one small script for each program, which is first on the PATH: only what was named hides other programs. */
export function makeStarters(parent: string, { programs }: ReadyPrograms): string {
  const scripts = named(programs).map(({ name, file }) => [name, `#!/bin/sh\nexec ${shellWord(file)} "$@"\n`] as const)
  const key = sha256(JSON.stringify(scripts)).slice(0, 24)
  const directory = join(parent, key)
  if (existsSync(join(directory, 'whole'))) return join(directory, 'bin')
  makeDirectory(join(directory, 'bin'), { mkdirSync, statSync, mode: 0o755 })
  for (const path of [parent, directory, join(directory, 'bin')]) chmodSync(path, 0o755)
  for (const [name, text] of [
    ...scripts.map(([name, text]) => [`bin/${name}`, text] as const),
    ['whole', ''] as const,
  ]) {
    writeFileSync(join(directory, name), text, { mode: 0o755 })
    chmodSync(join(directory, name), 0o755)
  }
  return join(directory, 'bin')
}

function identityOf(path: string): string {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return found ? `${found.dev}:${found.ino}` : ''
}

/** Device, inode, owner and mode of each place, and the links to them. */
function stampOf(programs: readonly Program[]): string {
  const of = ({ places, links, file }: Program): string[] => [
    ...[file, ...places.map(({ path }) => path)].map((path) => {
      const found = lstatSync(path, { throwIfNoEntry: false })
      return found ? [path, found.dev, found.ino, found.uid, found.gid, found.mode].join(':') : path
    }),
    ...links.map(({ path }) => `${path}>${linkAt(path)}`),
  ]
  return programs.flatMap(of).join('\n')
}

function linkAt(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // Gone, or no link any more.
    return ''
  }
}

function covers(place: string, path: string, isSameToo: boolean): boolean {
  return (isSameToo && place === path) || path.startsWith(`${place}/`)
}

function isExecutable(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true && (found.mode & 0o111) !== 0
}
