/** locate: from the name of a program to what a sandbox has to mount so that it runs. Reads small files, starts nothing. */
import { readdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { INSTALLATIONS } from './installations.ts'
import { follow } from './links.ts'
import { interpretersOfEnvironment, isProgram, isSameFile, wordsOf } from './interpreters.ts'
import { Needs } from './needs.ts'
import type { Based, Located, ProgramSearch, Refusal, Refused } from './program.ts'

const NAME = /^\w[\w.+-]*$/

export class Programs {
  readonly #search: ProgramSearch
  #bases: readonly Based[] | undefined

  constructor(search: ProgramSearch) {
    this.#search = search
  }

  /** The program that the person would get. What cannot be mounted is passed over for a later one of the PATH. */
  locate(name: string): Located {
    if (!NAME.test(name)) return { type: 'absent', name }
    let refused: Refused | undefined
    for (const path of this.#candidates(name)) {
      const located = this.#judge(name, path)
      if (located.type !== 'refused') return located
      refused ??= located
    }
    return refused ?? { type: 'absent', name }
  }

  /** The interpreter that a virtual environment names, with its needs; undefined when that is none, or commands have it anyway. */
  environment(directory: string): Located | undefined {
    const [named] = interpretersOfEnvironment(directory)
    if (named === undefined) return undefined
    const located = this.#judge(basename(named), named)
    return located.type === 'system' ? undefined : located
  }

  *#candidates(name: string): Generator<string> {
    for (const directory of this.#search.path) {
      const path = join(directory, name)
      if (isAbsolute(directory) && isProgram(path)) yield this.#behindShim(name, path) ?? path
    }
    for (const based of this.#all()) {
      const path = this.#chosen(name, based)
      if (path !== undefined) yield this.#behindShim(name, path) ?? path
    }
  }

  #judge(name: string, path: string): Located {
    const refusal = (because: Refusal, why: string): Refused => ({ type: 'refused', name, path, because, why })
    const needs = new Needs(this.#search, this.#all(), (other) => this.locate(other))
    const first = needs.add(path)
    if (first === 'system') return { type: 'system', name, path }
    if (typeof first !== 'string') return refusal(first.because, first.why)
    return { type: 'found', name, file: path, kind: first, places: needs.places(), links: needs.links() }
  }

  /** The program that a shim starts; undefined for what is none. */
  #behindShim(name: string, path: string): string | undefined {
    const real = follow(path)?.real
    if (real === undefined) return undefined
    const shim = this.#all().find(({ row, base, real: realBase }) => {
      const { shims, proxy } = row
      if (shims !== undefined && [base, realBase].some((at) => dirname(path) === join(at, shims))) return true
      if (proxy === undefined || proxy === name) return false
      return basename(real) === proxy || isSameFile(real, join(dirname(real), proxy))
    })
    return shim && this.#chosen(name, shim)
  }

  /** The program of the version that the person chose, else of the newest. */
  #chosen(name: string, { row, base }: Based): string | undefined {
    const { home } = this.#search
    for (const pattern of row.programs ?? []) {
      const found = expand(base, pattern)
        .map((directory) => join(directory, name))
        .filter(isProgram)
      if (found.length === 0) continue
      const words = (row.chosen ?? []).flatMap((file) =>
        wordsOf(file.startsWith('~/') ? join(home, file.slice(2)) : join(base, file)),
      )
      return newest(found, words, (path) => relative(base, path).split('/'))
    }
    return undefined
  }

  #all(): readonly Based[] {
    this.#bases ??= INSTALLATIONS.flatMap((row) =>
      row.bases.flatMap((base): Based[] => {
        const path = this.#expand(base)
        const real = path === undefined ? undefined : follow(path)?.real
        return path === undefined || real === undefined ? [] : [{ row, base: path, real }]
      }),
    )
    return this.#bases
  }

  #expand(base: string): string | undefined {
    const { home, variable } = this.#search
    if (base === '~' || base.startsWith('~/')) return join(home, base.slice(1))
    const [, name, rest = ''] = /^\$(\w+)(.*)$/.exec(base) ?? []
    if (name === undefined) return base
    const value = variable(name)
    return value !== undefined && isAbsolute(value) && value !== '/' ? join(value, rest) : undefined
  }
}

/** The directories of a pattern with `*` for any name, in the order of names. */
function expand(base: string, pattern: string): string[] {
  let found = [base]
  for (const part of pattern.split('/')) {
    found = found.flatMap((directory) =>
      part === '*' ? namesIn(directory).map((name) => join(directory, name)) : [join(directory, part)],
    )
  }
  return found
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).toSorted()
  } catch {
    // Not there, or closed.
    return []
  }
}

/** The path that a word of the person's choice names, wholly or as the beginning of a version; else the newest. */
function newest(
  paths: readonly string[],
  chosen: readonly string[],
  partsOf: (path: string) => readonly string[],
): string | undefined {
  const plain = (part: string): string => part.replace(/^v(?=\d)/, '')
  // Other words name what is chosen, such as `node`.
  const words = chosen.map(plain).filter((word) => /\d/.test(word))
  const rank = (path: string): number => {
    const parts = partsOf(path).map(plain)
    if (words.some((word) => parts.includes(word))) return 2
    return words.some((word) => /^\d/.test(word) && parts.some((part) => part.startsWith(`${word}.`))) ? 1 : 0
  }
  return paths.toSorted((a, b) => rank(b) - rank(a) || compare(b, a))[0]
}

/** Numbers by their value, other text by its characters. */
function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(/(\d+)/))
  for (const [index, part] of (left ?? []).entries()) {
    const other = right?.[index] ?? ''
    const byNumber = index % 2 === 1 ? Number(part) - Number(other) : 0
    if (byNumber !== 0) return byNumber
    if (index % 2 === 0 && part !== other) return part < other ? -1 : 1
  }
  return 0
}
