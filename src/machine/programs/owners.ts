/** owners: whether another account could change what is mounted. Access lists are not read, only owner, group and mode. */
import { lstatSync, promises, readFileSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Program } from './program.ts'

/** Most files of one place that are looked at. */
const MOST_FILES = 300_000

/** A path that others can change, or that is not to be trusted for another reason. `why` completes "…, because …". */
export interface Distrust {
  readonly path: string
  readonly why: string
}

export class Owners {
  readonly #uid: number
  #accounts: Accounts | undefined

  /** `uid`: the account that starts Nexus. */
  constructor(uid: number) {
    this.#uid = uid
  }

  /** Each place, each link and every directory above them. */
  ofWays({ file, places, links }: Pick<Program, 'file' | 'places' | 'links'>): Distrust | undefined {
    for (const path of [file, ...places.map((place) => place.path), ...links.map((link) => link.path)]) {
      for (let at = path; ; at = dirname(at)) {
        const found = lstatSync(at, { throwIfNoEntry: false })
        const why = found && this.#why(found)
        if (why !== undefined) return { path: at, why }
        if (at === '/') break
      }
    }
    return undefined
  }

  /** Every file of the places. Where others cannot enter they are not looked at. */
  async ofFiles({ places }: Pick<Program, 'places'>): Promise<Distrust | undefined> {
    for (const { path, isSealed } of places) {
      if (isSealed || this.#isClosed(path)) continue
      const found = await this.#search(path)
      if (found) return found
    }
    return undefined
  }

  async #search(place: string): Promise<Distrust | undefined> {
    const waiting = [place]
    let count = 0
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const found = await promises.lstat(at)
      const why = this.#why(found)
      if (why !== undefined) return { path: at, why }
      if (!found.isDirectory()) continue
      const names = await promises.readdir(at)
      count += names.length
      if (count > MOST_FILES) return { path: place, why: `it has more than ${MOST_FILES} files` }
      for (const name of names) waiting.push(join(at, name))
    }
    return undefined
  }

  #isClosed(path: string): boolean {
    for (let at = path; at !== '/'; at = dirname(at)) {
      const { mode, gid, uid } = lstatSync(at)
      if ((mode & 0o001) === 0 && ((mode & 0o010) === 0 || this.#isAlone(gid, uid))) return true
    }
    return false
  }

  #why(found: Stats): string | undefined {
    const { mode, uid, gid } = found
    if (uid !== 0 && uid !== this.#uid) return `it belongs to another account (uid ${uid})`
    // A link has no mode of its own; in a sticky directory nobody replaces what belongs to others.
    if (found.isSymbolicLink() || (found.isDirectory() && (mode & 0o1000) !== 0)) return undefined
    if ((mode & 0o002) !== 0) return 'every account can write to it'
    if ((mode & 0o020) === 0 || this.#isAlone(gid, uid)) return undefined
    return `the group ${this.#known().groups.get(gid)?.name ?? gid} can write to it`
  }

  /** A group with no other member: with a umask of 002 all files belong to one. */
  #isAlone(gid: number, uid: number): boolean {
    const { groups, users } = this.#known()
    const group = groups.get(gid)
    // One that a directory service keeps may have any members.
    if (group === undefined) return false
    const others = users.filter((user) => user.uid !== uid && user.uid !== 0)
    return (
      !others.some((user) => user.gid === gid || group.members.includes(user.name)) &&
      group.members.every((name) => users.some((user) => user.name === name))
    )
  }

  #known(): Accounts {
    this.#accounts ??= readAccounts()
    return this.#accounts
  }
}

interface Accounts {
  readonly users: readonly { readonly name: string; readonly uid: number; readonly gid: number }[]
  readonly groups: ReadonlyMap<number, { readonly name: string; readonly members: readonly string[] }>
}

function readAccounts(): Accounts {
  const users = linesOf('/etc/passwd').map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
  const groups = linesOf('/etc/group').map(
    ([name = '', , gid, members = '']) => [Number(gid), { name, members: members.split(',').filter(Boolean) }] as const,
  )
  return { users, groups: new Map(groups) }
}

function linesOf(file: string): string[][] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.includes(':'))
      .map((line) => line.split(':'))
  } catch {
    // Without a list every group may have members.
    return []
  }
}
