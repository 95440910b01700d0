/** recover: removes what a runner that was killed together with its parent left, and caches that are old or too large. */
import { basename, dirname, join } from 'node:path'
import { Tree } from '../../files/index.ts'
import { type Diagnostic, errorCode, errorMessage, randomHex } from '../../../kernel/index.ts'
import { tryRemoveTree } from '../runner/temp.ts'
import { staleCaches } from './caches.ts'
import type { LocalSettings } from './options.ts'
import { deadLayers, listDead } from './state.ts'

/** Longest that a start waits for the removal of leftovers. */
const REMOVAL_MS = 2_000

/** At a start: removes what is left of sandboxes whose owner is gone, and caches that are to go. */
export async function recoverDead(settings: Pick<LocalSettings, 'stateDir' | 'projectId'>): Promise<Diagnostic[]> {
  const findings: Diagnostic[] = []
  const until = performance.now() + REMOVAL_MS
  for (const directory of [...listDead(settings), ...deadLayers(settings), ...(await staleCaches(settings))]) {
    try {
      findings.push(...(await clear(directory, until - performance.now())))
    } catch (error) {
      // Another process that does the same was faster. Nothing here may stop a start.
      const code = errorCode(error) ?? errorMessage(error)
      if (code !== 'ENOENT') findings.push(leftover(directory, code))
    }
  }
  return findings
}

/** The next start does the rest when the time is up. A directory that cannot be removed gets another name, so that no later start tries again. */
async function clear(directory: string, maxMs: number): Promise<Diagnostic[]> {
  const { failures } = await tryRemoveTree(directory, { maxMs })
  const [failure] = failures
  if (failure === undefined) return []
  const aside = `set-aside-${randomHex(4)}`
  const live = new Tree(dirname(directory))
  try {
    live.rename(basename(directory), aside)
  } finally {
    live.close()
  }
  return [leftover(join(dirname(directory), aside), failure.code)]
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
