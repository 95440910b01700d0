import type { TestContext } from 'node:test'
import {
  type SourceChange,
  type SourceFolder,
  type Watcher,
  watchSources,
  type WatchOptions,
} from '../../../src/skills/sources/index.ts'

/** A watcher whose changes a test waits for. */
export interface Watching {
  readonly watcher: Watcher
  /** Everything told so far. */
  readonly changes: readonly SourceChange[]
  /** Resolves when the directory was told since the last `forget`, or a rescan. */
  told(directory: string): Promise<void>
  rescan(): Promise<void>
  /** Waits until nothing more is told for a while, then begins anew. */
  forget(): Promise<void>
}

/** Files so old that polling has no doubt about them. */
export function aged(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 120))
}

export type Mode = 'events' | 'polling'

/** Watches folders with a short debounce; closed after the test. Keeps the process alive, as a test that waits must. */
export async function watching(
  t: TestContext,
  folders: readonly (string | SourceFolder)[],
  { mode = 'events', ...options }: Partial<WatchOptions> & { readonly mode?: Mode } = {},
): Promise<Watching> {
  let changes: SourceChange[] = []
  let wake = (): void => undefined
  const watcher = await watchSources(
    folders.map((folder) => ({ folder: typeof folder === 'string' ? { path: folder } : folder })),
    {
      ...{ debounceMs: 10, keepAlive: true, usePolling: mode === 'polling' },
      // With events nothing may depend on the regular look.
      pollMs: mode === 'polling' ? 40 : 600_000,
      ...options,
      onChange: (change) => {
        changes.push(change)
        options.onChange?.(change)
        wake()
      },
    },
  )
  t.after(() => watcher.close())
  const until = async (isThere: (change: SourceChange) => boolean): Promise<void> => {
    while (!changes.some(isThere)) await new Promise<void>((resolve) => (wake = resolve))
  }
  return {
    watcher,
    get changes() {
      return changes
    },
    // Whoever is told to look at everything looks at that directory too.
    told: (directory) => until((change) => change.rescan || change.directories.includes(directory)),
    rescan: () => until((change) => change.rescan),
    async forget() {
      // Longer than a debounce, a sweep and the time in which polling mistrusts a fresh file.
      for (let seen = -1; seen !== changes.length;) {
        seen = changes.length
        await new Promise((resolve) => setTimeout(resolve, 160))
      }
      changes = []
    },
  }
}
