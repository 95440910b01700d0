/** recover: does what a runner that was killed, alone or together with its parent, could not do any more. */
import { randomBytes } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Tree } from '../../files/index.ts'
import { type Diagnostic, errorCode, errorMessage, toSafeText } from '../../../kernel/index.ts'
import { hasJournals, type Recovered, replayJournals } from '../guard/journal.ts'
import { processesWith } from '../runner/process-tree.ts'
import { removeTree, tryRemoveTree } from '../runner/temp.ts'
import type { LocalSettings } from './options.ts'
import { deadLayers, listDead } from './state.ts'

/** The kernel ends a command with its runner; this long we wait to see it, and for a runner that still puts things right. */
const WAIT_MS = 10_000
const POLL_MS = 20
/** Longest that a start waits for the removal of leftovers. */
const REMOVAL_MS = 2_000

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
export async function recoverDead(settings: Pick<LocalSettings, 'stateDir' | 'projectId'>): Promise<Diagnostic[]> {
  const findings: Diagnostic[] = []
  const until = performance.now() + REMOVAL_MS
  for (const directory of listDead(settings)) {
    try {
      findings.push(...(await replay(directory, true)).map(cutOff))
      if (!hasJournals(directory)) findings.push(...(await clear(directory, until - performance.now())))
    } catch (error) {
      // Another process that does the same was faster. Nothing here may stop a start.
      const code = errorCode(error) ?? errorMessage(error)
      if (code !== 'ENOENT') findings.push(leftover(directory, code))
    }
  }
  for (const directory of deadLayers(settings)) {
    try {
      findings.push(...(await clear(directory, until - performance.now())))
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') findings.push(leftover(directory, errorCode(error) ?? errorMessage(error)))
    }
  }
  return findings
}

/** The next start does the rest when the time is up. A directory that cannot be removed gets another name, so that no later start tries again. */
async function clear(directory: string, maxMs: number): Promise<Diagnostic[]> {
  const { failures } = await tryRemoveTree(directory, { maxMs })
  const [failure] = failures
  if (failure === undefined) return []
  const aside = `set-aside-${randomBytes(4).toString('hex')}`
  const live = new Tree(dirname(directory))
  try {
    live.rename(basename(directory), aside)
  } finally {
    live.close()
  }
  return [leftover(join(dirname(directory), aside), failure.code)]
}

async function replay(directory: string, keepsAside: boolean): Promise<Recovered[]> {
  // Root's commands never work in the workspace itself, and what their user wrote must not decide what root does.
  if (process.getuid?.() === 0 || !hasJournals(directory)) return []
  for (let waited = 0; waited < WAIT_MS && processesWith('cmdline', directory).length > 0; waited += POLL_MS)
    await setTimeout(POLL_MS)
  return replayJournals(directory, { keepsAside })
}

function cutOff({ workspace, notes }: Recovered): Diagnostic {
  return {
    code: 'sandbox-recovered',
    severity: 'warning',
    message: `A command was cut off here, and what it left in protected places was put right:\n${toSafeText(notes.join('\n'))}`,
    path: workspace,
    fix: 'Look at these places. Remove what is not yours.',
  }
}

function leftover(path: string, code: string): Diagnostic {
  return {
    code: 'sandbox-leftover',
    severity: 'warning',
    message: `Nexus could not remove what an earlier command left (${code}).`,
    path,
    fix: `Remove it: rm -rf ${path}`,
  }
}
