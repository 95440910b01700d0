/** Hot reload: changed folders lead to one refresh, and listeners get what is different. */
import { type Catalog, diffCatalogs, type SnapshotDiff } from '../skills/catalog/index.ts'
import { isNexusError, NexusError } from '../kernel/index.ts'
import type { AgentReload, ReloadEvent, ReloadOptions } from './types.ts'
import { type SkillSource, type Watcher, watchSources } from '../skills/sources/index.ts'
import { yieldToEventLoop } from '../machine/skill-files/index.ts'
import { ERRORS } from './messages.ts'

/**
 * One run at a time and at most one waiting: everybody gets a run that began after they asked, and a crowd costs two.
 * A caller whose signal aborts stops waiting with CANCELLED; the run goes on for the others.
 */
export function coalesce(work: () => Promise<void>): (signal?: AbortSignal) => Promise<void> {
  let running: Promise<void> | undefined
  let waiting: Promise<void> | undefined
  const run = (): Promise<void> => {
    waiting = undefined
    const mine = work().finally(() => {
      if (running === mine) running = undefined
    })
    running = mine
    return mine
  }
  return (signal) => {
    if (signal?.aborted) return Promise.reject(cancelled(signal))
    const shared = running ? (waiting ??= running.then(run, run)) : run()
    return signal ? untilAborted(shared, signal) : shared
  }
}

function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(cancelled(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

function cancelled(signal: AbortSignal): NexusError {
  return new NexusError('CANCELLED', ERRORS.cancelled().message, { cause: signal.reason })
}

export interface ReloadParts {
  readonly sources: readonly SkillSource[]
  readonly refresh: (signal?: AbortSignal) => Promise<void>
  /** The catalog of each agent as it is at the moment. */
  readonly catalogs: () => ReadonlyMap<string, Catalog>
}

/**
 * Refreshes whenever the folders of the sources change, once at the start included. A refresh that fails keeps the old
 * catalogs and is told. Throws CANCELLED when the signal aborts before it is ready.
 */
export async function reloadOnChange(
  { sources, refresh, catalogs }: ReloadParts,
  { onReload, signal, ...watching }: ReloadOptions & { readonly signal: AbortSignal },
): Promise<Watcher> {
  // Compared with what was reported last: another refresh may have met the change first.
  let told = catalogs()
  const tell = (event: ReloadEvent): void => {
    if (!signal.aborted) onReload?.(event)
  }

  const reload = coalesce(async () => {
    let agents: readonly AgentReload[]
    try {
      await refresh(signal)
      await yieldToEventLoop(signal)
      const now = catalogs()
      agents = changes(told, now)
      told = now
    } catch (error) {
      tell({ type: 'failed', error: toFault(error) })
      return
    }
    if (agents.length > 0) tell({ type: 'reloaded', agents })
  })

  const watcher = await watchSources(sources, {
    ...watching,
    signal,
    onChange: () => void reload(),
    onDiagnostic: (diagnostic) => tell({ type: 'notice', diagnostic }),
  })
  // A change from before the watch.
  await reload()
  return watcher
}

/** The agents whose model would read something else now. A catalog's version is worked out only for those. */
function changes(told: ReadonlyMap<string, Catalog>, now: ReadonlyMap<string, Catalog>): AgentReload[] {
  const reloads: AgentReload[] = []
  for (const [agentId, catalog] of now) {
    const before = told.get(agentId)
    if (before === catalog) continue
    const diff = diffCatalogs(before ?? { skills: [] }, catalog)
    if (isEmpty(diff)) continue
    reloads.push({ agentId, version: catalog.version, ...diff })
  }
  return reloads
}

function isEmpty({ added, removed, changed }: SnapshotDiff): boolean {
  return added.length + removed.length + changed.length === 0
}

function toFault(error: unknown): NexusError {
  return isNexusError(error) ? error : new NexusError('INTERNAL', ERRORS.refreshFailed().message, { cause: error })
}
