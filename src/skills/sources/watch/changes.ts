import { compareUtf8 } from '../../../kernel/index.ts'

export interface SourceChange {
  /** Real paths in byte order: skills, and directories that hold or held some. */
  readonly directories: readonly string[]
  /** True when the list may be incomplete: a root came, went or was replaced, or there were too many events. */
  readonly rescan: boolean
}

export interface ChangesOptions {
  readonly debounceMs: number
  readonly keepAlive: boolean
  readonly signal: AbortSignal
  /** Called once for all that changed until it was quiet, never after `signal` aborted. */
  readonly deliver: (change: SourceChange) => void
}

export interface Changes {
  note(directory: string): void
  noteAll(): void
}

/** While things go on changing, they are delivered after so many quiet times. */
const LONGEST = 8

/** Delivers changes once nothing has changed for `debounceMs`; while things go on changing, every eighth such time. */
export function gatherChanges({ debounceMs, keepAlive, signal, deliver }: ChangesOptions): Changes {
  const directories = new Set<string>()
  let rescan = false
  let timer: NodeJS.Timeout | undefined
  let latest = 0

  function wait(): void {
    if (signal.aborted) return
    const now = Date.now()
    if (timer === undefined) latest = now + debounceMs * LONGEST
    clearTimeout(timer)
    // A clock that is set back must not make it longer.
    timer = setTimeout(tell, Math.max(0, Math.min(debounceMs, latest - now)))
    if (!keepAlive) timer.unref()
  }

  function tell(): void {
    timer = undefined
    const change: SourceChange = { directories: [...directories].sort(compareUtf8), rescan }
    directories.clear()
    rescan = false
    deliver(change)
  }

  signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
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
