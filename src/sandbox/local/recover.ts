/** recover: does what a runner that was killed, alone or together with its parent, could not do any more. */
import { setTimeout } from 'node:timers/promises'
import { FileError } from '../../files/index.ts'
import { type Diagnostic, errorCode, toSafeText } from '../../kernel/index.ts'
import { hasJournals, type Recovered, replayJournals } from '../guard/journal.ts'
import { processesWith } from '../runner/process-tree.ts'
import { removeTree } from '../runner/temp.ts'
import type { LocalSettings } from './options.ts'
import { listDead } from './state.ts'

/** The kernel ends a command with its runner; this long we wait to see it, and for a runner that still puts things right. */
const WAIT_MS = 10_000
const POLL_MS = 20

/** For the directory of a runner of ours that has ended: puts workspaces right when it did not, and removes the directory. */
export async function recoverLost(liveDirectory: string): Promise<Recovered[]> {
  const recovered = await replay(liveDirectory, false)
  if (!hasJournals(liveDirectory)) await removeTree(liveDirectory)
  return recovered
}

/**
 * At a start: the same for sandboxes whose owner is gone. So much time may have passed that the user may have made such
 * places since, so they are renamed and not removed.
 */
export async function recoverDead(settings: Pick<LocalSettings, 'stateDir' | 'projectId'>): Promise<Recovered[]> {
  const recovered: Recovered[] = []
  for (const directory of listDead(settings)) {
    try {
      recovered.push(...(await replay(directory, true)))
      if (!hasJournals(directory)) await removeTree(directory)
    } catch (error) {
      // Another process does the same at the same time, it belongs to another user, or the system refuses: that stops no start.
      if (!(error instanceof FileError) && !['ENOENT', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error
    }
  }
  return recovered
}

async function replay(directory: string, keepsAside: boolean): Promise<Recovered[]> {
  // Root's commands never work in the workspace itself, and what their user wrote must not tell root what to do.
  if (process.getuid?.() === 0 || !hasJournals(directory)) return []
  for (let waited = 0; waited < WAIT_MS && processesWith('cmdline', directory).length > 0; waited += POLL_MS)
    await setTimeout(POLL_MS)
  return replayJournals(directory, { keepsAside })
}

/** The same for people. */
export function describeRecovered(recovered: readonly Recovered[]): Diagnostic[] {
  return recovered.map(({ workspace, notes }) => ({
    code: 'sandbox-recovered',
    severity: 'warning',
    message: `A command was cut off here, and what it left in protected places was put right:\n${toSafeText(notes.join('\n'))}`,
    path: workspace,
    fix: 'Look at these places. Remove what is not yours.',
  }))
}
