/** leading: finds links and configurations of git in a workspace, which may lead elsewhere, and removes what killed writers left. Only directories that changed are read again. */
import { below, partState, type Pace, type Tree } from '../../files/index.ts'
import { mayLead } from '../../changes/index.ts'

/** Names of a directory that changed so shortly before it was read may change again without a trace. */
const UNSURE_NS = 2_000_000_000n

interface Known {
  readonly stamp: string
  readonly leading: readonly string[]
  readonly directories: readonly string[]
}

interface Looking {
  readonly leavesOut: (path: string) => boolean
  readonly pace: Pace
}

/** The index of one workspace. */
export class Leading {
  #known = new Map<string, Known>()

  /** Paths that may lead elsewhere. `leavesOut` is asked for each directory. */
  async find(host: Tree, { leavesOut, pace }: Looking): Promise<string[]> {
    const now = new Map<string, Known>()
    const ahead = ['']
    for (let path = ahead.pop(); path !== undefined; path = ahead.pop()) {
      const known = await this.#look(host, path, { leavesOut, pace })
      if (known === undefined) continue
      now.set(path, known)
      ahead.push(...known.directories)
      const pause = pace()
      if (pause) await pause
    }
    this.#known = now
    return [...now.values()].flatMap(({ leading }) => leading)
  }

  async #look(host: Tree, path: string, { leavesOut, pace }: Looking): Promise<Known | undefined> {
    // Nothing is above the workspace itself that could be asked.
    const change = path === '' ? undefined : host.changeOf(path)
    const stamp = change ? `${change.inode}:${change.atNs}` : ''
    const isSure = change !== undefined && change.atNs < BigInt(Date.now()) * 1_000_000n - UNSURE_NS
    const known = this.#known.get(path)
    if (isSure && known?.stamp === stamp) return known
    try {
      const { entries } = await host.list(path, { pace })
      for (const { name } of entries) if (partState(name) === 'left') host.remove(below(path, name), 'file')
      const all = entries.map(({ name, kind }) => ({ path: below(path, name), kind }))
      const directories = all.filter((each) => each.kind === 'directory' && !leavesOut(each.path))
      return {
        stamp: isSure ? stamp : '',
        leading: all.filter((each) => mayLead(each.path, each.kind)).map((each) => each.path),
        directories: directories.map((each) => each.path),
      }
    } catch {
      // It vanished, or we may not read it: then nothing in it leads anywhere for us.
      return undefined
    }
  }
}
