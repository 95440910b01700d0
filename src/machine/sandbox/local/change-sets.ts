/** change-sets: the change sets of a workspace, for who shows, keeps or undoes them. */
import { recordsOf, type Records, recover } from '../../changes/index.ts'
import { Tree } from '../../files/index.ts'
import { withLock } from '../guard/lock.ts'
import { type LocalOptions, withDefaults } from './options.ts'
import { lockFile } from './state.ts'

/** The sets, and the workspace. */
export interface ChangeSetsAt {
  readonly records: Records
  readonly host: Tree
}

/** Does work on the sets of a workspace while no change is taken back into it, by any process. */
export async function withChangeSets<T>(
  workspace: string,
  options: LocalOptions,
  work: (at: ChangeSetsAt) => Promise<T>,
): Promise<T> {
  const settings = withDefaults(options)
  const records = recordsOf(settings.stateDir, workspace)
  return withLock(lockFile(settings, workspace), async () => {
    const host = new Tree(workspace)
    try {
      records.prune(Date.now())
      await recover(records, host)
      return await work({ records, host })
    } finally {
      host.close()
    }
  })
}
