import { compareUtf8 } from '../../format/index.ts'
import type { Clock } from '../../kernel/index.ts'

/** What changed since the last time, for somebody who then looks again. */
export interface SourceChange {
  /** Real paths in byte order: skills, and directories that hold or held some. */
  readonly directories: readonly string[]
  /** True when the list may be incomplete: a root came, went or was replaced, or there were too many events. */
  readonly rescan: boolean
}

export interface ChangesOptions {
  readonly debounceMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called once for all that changed until it was quiet, never after `signal` aborted. */
  readonly deliver: (change: SourceChange) => void
}

/** Gathers what changes until it is quiet. */
export interface Changes {
  note(directory: string): void
  noteAll(): void
}

/** A writer that never rests is told of all the same, after so many quiet times. */
const LONGEST = 8

/** Tells of changes once nothing has changed for `debounceMs`; while things go on changing, every eighth such time. */
export function gatherChanges({ debounceMs, clock, signal, deliver }: ChangesOptions): Changes {
  let directories = new Set<string>()
  let rescan = false
  let latest = 0
  let isWaiting = false

  async function quiet(): Promise<void> {
    const begin = clock.now()
    for (let leftMs = debounceMs; leftMs > 0;) {
      await clock.sleep(leftMs, signal)
      const now = clock.now()
      // The clock was set back, perhaps by hours: no reason to wait for them.
      if (now < latest) return
      leftMs = Math.min(latest + debounceMs, begin + debounceMs * LONGEST) - now
    }
  }

  async function tell(): Promise<void> {
    try {
      await quiet()
    } catch (error) {
      // Closed while waiting: nobody wants to know any more.
      if (signal.aborted) return
      throw error
    } finally {
      isWaiting = false
    }
    const change: SourceChange = { directories: [...directories].sort(compareUtf8), rescan }
    directories = new Set()
    rescan = false
    deliver(change)
  }

  function wait(): void {
    latest = clock.now()
    if (isWaiting || signal.aborted) return
    isWaiting = true
    void tell()
  }

  return {
    note(directory) {
      directories.add(directory)
      wait()
    },
    noteAll() {
      rescan = true
      wait()
    },
  }
}
