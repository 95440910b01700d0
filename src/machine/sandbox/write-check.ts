/** write-check: the verdict of the gate on a file that a tool writes: its change is judged as that of a command. */
import { type Change, createGate, type Judgement, mayLead } from '../changes/index.ts'
import type { Tree } from '../files/index.ts'
import { holds } from './open-paths.ts'
import { leadingAmong, type ProtectedPlaces, type Rules, rulesOf, withLeading } from './places.ts'

/** Entries that are searched for links and configurations that lead elsewhere: as many as a workspace may have files. */
const MAX_LOOKED_AT = 20_000

/** A write and its place. */
export interface Written {
  /** Opened at its real path. */
  readonly tree: Tree
  /** That path. */
  readonly root: string
  /** Relative to the tree; it need not exist. */
  readonly path: string
  readonly places: ProtectedPlaces
}

/** Applied, held with the reason, or never. Bytes that a tool writes are no data that git checked. Throws FileError. */
export async function judgeWrite({ tree, root, path, places }: Written): Promise<Judgement> {
  const exists = (at: string): boolean => tree.entry(at) !== undefined
  // With the directories that are made for it.
  const judgeWith = (rules: Rules) =>
    createGate({ ...rules, before: exists, after: (at) => holds(at, path) || exists(at) })
  const change: Change = { path, type: exists(path) ? 'changed' : 'added', kind: 'file' }
  const rules = rulesOf(places)
  const judged = judgeWith(rules)(change)
  // Above every workspace there is no project to search.
  if (judged.verdict === 'applied' && root !== '/')
    return judgeWith(await withLeading(rules, root, await leadingPlaces(tree, rules)))(change)
  if (judged.verdict === 'applied' || judged.verdict === 'never') return judged
  const { unit, reason = judged.verdict === 'beside' ? 'programs keep their caches there' : ONLY_GIT } = judged
  return { verdict: 'held', unit, reason }
}

const ONLY_GIT = 'only git writes into a git directory'

/** Places that commands cannot make and that lead to others: what a search that ends early misses is the user's own. */
async function leadingPlaces(tree: Tree, rules: Rules): Promise<string[]> {
  const met: string[] = []
  await tree.walk({
    maxEntries: MAX_LOOKED_AT,
    visit: ({ path, name, kind }) => {
      if (mayLead(path, kind)) met.push(path)
      return name !== 'node_modules'
    },
    // A link that we cannot read leads nowhere for us.
    onClosed: () => undefined,
  })
  return leadingAmong(met, rules, (path) => tree.entry(path) !== undefined)
}
