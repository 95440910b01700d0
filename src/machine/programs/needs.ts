/** needs: collects what a program needs to run: its installation, its interpreter, and what these need in turn. */
import { join } from 'node:path'
import { NEVER, OPENED, REFUSED } from './installations.ts'
import { interpreterOf, interpretersOfEnvironment } from './interpreters.ts'
import { follow, isIn, type Link } from './links.ts'
import type { Based, Located, Place, ProgramSearch, Refused } from './program.ts'

/** Interpreters of interpreters: more is a circle. */
const MOST_NEEDS = 12

type WhyNot = Pick<Refused, 'because' | 'why'>

/** Collects what a program needs, and what that needs in turn. */
export class Needs {
  readonly #search: ProgramSearch
  readonly #bases: readonly Based[]
  readonly #locate: (name: string) => Located
  readonly #places = new Map<string, Place>()
  readonly #links = new Map<string, Link>()
  readonly #seen = new Set<string>()

  constructor(search: ProgramSearch, bases: readonly Based[], locate: (name: string) => Located) {
    this.#search = search
    this.#bases = bases
    this.#locate = locate
  }

  /** Adds a file with its installation. Gives its kind, `system` for what commands see anyway, or why it is not mounted. */
  add(path: string): string | WhyNot {
    const way = follow(path)
    if (way === undefined) return { because: 'broken', why: `${path} leads to nothing` }
    const never = REFUSED.find(({ at }) => at.test(path) || at.test(way.real))
    if (never) return { because: 'never-runs', why: never.why }
    for (const link of way.links) if (!this.#isSystem(link.path)) this.#links.set(link.path, link)
    if (this.#isSystem(way.real)) return 'system'
    if (this.#seen.has(way.real)) return 'known'
    if (this.#seen.add(way.real).size > MOST_NEEDS) return { because: 'unknown', why: 'it needs too many interpreters' }
    return this.#addPlace(way.real)
  }

  places(): Place[] {
    const all = [...this.#places.values()]
    return all
      .filter(({ path }) => !all.some((other) => other.path !== path && isIn(other.path, path)))
      .map(({ path, kind, isSealed }) => ({ path, kind, isSealed }))
  }

  links(): Link[] {
    return [...this.#links.values()].filter(({ path }) => ![...this.#places.keys()].some((place) => isIn(place, path)))
  }

  #addPlace(real: string): string | WhyNot {
    const based = this.#bases.find((each) => treeOf(each, real) !== undefined)
    if (!based) return { because: 'unknown', why: `Nexus does not know how ${real} is installed` }
    const { row, real: base } = based
    const path = treeOf(based, real) ?? real
    const closed = this.#closed(path)
    if (closed) return closed
    const also = (row.also ?? []).map((name) => join(base, name)).filter((each) => follow(each) !== undefined)
    for (const each of [path, ...also])
      this.#places.set(each, { path: each, kind: row.kind, isSealed: row.isSealed === true })
    return this.#addNeeds(real, path) ?? row.kind
  }

  #addNeeds(file: string, tree: string): WhyNot | undefined {
    const interpreter = interpreterOf(file)
    const ofScript = interpreter && 'path' in interpreter ? [interpreter.path] : []
    for (const path of [...ofScript, ...interpretersOfEnvironment(tree)]) {
      const added = this.add(path)
      if (typeof added !== 'string') return added
    }
    return interpreter && 'name' in interpreter ? this.#addNamed(interpreter.name) : undefined
  }

  #addNamed(name: string): WhyNot | undefined {
    if (this.#search.given.includes(name)) return undefined
    const located = this.#locate(name)
    if (located.type === 'refused') return located
    if (located.type !== 'found') return undefined
    for (const place of located.places) this.#places.set(place.path, place)
    for (const link of located.links) this.#links.set(link.path, link)
    return undefined
  }

  #closed(path: string): WhyNot | undefined {
    const home = follow(this.#search.home)?.real ?? this.#search.home
    if (isIn(path, home)) return { because: 'home', why: 'a whole home is never mounted' }
    if (OPENED.some((name) => path !== join(home, name) && isIn(join(home, name), path))) return undefined
    const never = NEVER.find((name) => isIn(join(home, name), path))
    return never === undefined ? undefined : { because: 'keys', why: `~/${never} may contain keys` }
  }

  #isSystem(path: string): boolean {
    return this.#search.system.some((directory) => isIn(directory, path))
  }
}

/** The place that is mounted for a file below a base; undefined where the row does not know it. */
function treeOf({ row, real: base }: Based, file: string): string | undefined {
  if (!isIn(base, file) || file === base) return undefined
  const below = file.slice(base.length + 1)
  const matched = row.tree?.exec(below)?.[0] ?? (row.file?.test(below) === true ? below : undefined)
  if (matched === undefined) return undefined
  const path = join(base, matched)
  return row.mark !== undefined && follow(join(path, row.mark)) === undefined ? undefined : path
}
