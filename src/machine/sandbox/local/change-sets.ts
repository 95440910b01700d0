/** change-sets: the change sets of a workspace, for who makes, shows, keeps or undoes them. */
import { recordsOf, recover, type SetsAt } from '../../changes/index.ts'
import { Tree } from '../../files/index.ts'
import { withLock } from '../lock.ts'
import type { LocalSettings } from './options.ts'
import { lockFile } from './state.ts'

/** Does work on the sets of a workspace while no change is taken back into it, by any process. */
export async function withChangeSets<T>(
  workspace: string,
  settings: LocalSettings,
  { work, signal }: { readonly work: (at: SetsAt) => Promise<T>; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  const records = recordsOf(settings.stateDir, workspace)
  const locked = async (): Promise<T> => {
    const host = new Tree(workspace)
    try {
      records.prune(Date.now())
      await recover(records, host)
      return await work({ records, host, workspace, limits: settings.changes })
    } finally {
      host.close()
    }
  }
  return withLock(lockFile(settings, workspace), locked, { signal })
}
