import { DEFAULTS, type Diagnostic, NexusError } from '../../../kernel/index.ts'
import { throwIfAborted } from '../../../machine/skill-files/index.ts'
import { type SkillSource, SOURCE_LIMITS, type SourceFolder } from '../source.ts'
import { gatherChanges, type SourceChange } from './changes.ts'
import { type RootHost, watchRoot } from './root-watch.ts'

/** More events than this between two deliveries, and the system may have dropped some: everything is opened anew. */
const MAX_EVENTS = 4_096

export interface WatchOptions {
  /** Told once for all that changed until it was quiet; never after closing. Must not throw. */
  readonly onChange: (change: SourceChange) => void
  /** Told of each diagnostic when it arises. Must not throw. */
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void
  /** Quiet time before `onChange`, in milliseconds. Default 250. Source: seed 001, `watchDebounceMs`. */
  readonly debounceMs?: number
  /** Milliseconds between two checks where the roots are, and between two polls where there are no events. Default 1,000. */
  readonly pollMs?: number
  /** Use no events even where there are some. Default false. */
  readonly usePolling?: boolean
  /** Directories below one root that are watched. Default 50,000. */
  readonly maxDirectories?: number
  /** Keeps the process alive while watching. Default false. */
  readonly keepAlive?: boolean
  readonly signal?: AbortSignal
}

/** A watch on the folders of sources. It is ready when you have it: every change from then on is reported. */
export interface Watcher extends AsyncDisposable {
  /** `polling` as soon as one root is polled; `diagnostics` say why. */
  readonly mode: 'events' | 'polling'
  readonly diagnostics: readonly Diagnostic[]
  close(): Promise<void>
}

/**
 * Watches the folders of sources, also those that do not exist yet; sources without a folder are left out.
 * Where events run out it polls and says so. Throws CANCELLED when the signal aborts before it is ready, INVALID_ARGUMENT for bad numbers.
 */
export async function watchSources(
  sources: readonly Pick<SkillSource, 'folder'>[],
  options: WatchOptions,
): Promise<Watcher> {
  const { debounceMs = DEFAULTS.watchDebounceMs, pollMs = 1_000, keepAlive = false } = options
  checkNumbers({ debounceMs, pollMs })
  throwIfAborted(options.signal)
  // Loaded here, so that programs that watch nothing do not load it.
  const { watch } = await import('chokidar')
  throwIfAborted(options.signal)
  const closing = new AbortController()
  const diagnostics: Diagnostic[] = []
  let events = 0

  const changes = gatherChanges({
    ...{ debounceMs, keepAlive, signal: closing.signal },
    deliver: (change) => {
      const isFlood = events > MAX_EVENTS
      events = 0
      options.onChange(change)
      for (const root of roots) {
        if (isFlood) void root.open()
        else root.checkDirectories()
      }
    },
  })
  const host: RootHost = {
    ...{ watch, changes, keepAlive, signal: closing.signal },
    // chokidar refuses 0.
    pollMs: Math.max(pollMs, 1),
    usePolling: options.usePolling ?? false,
    maxDirectories: options.maxDirectories ?? SOURCE_LIMITS.maxDirectories,
    counted: () => void events++,
    report: (diagnostic) => {
      diagnostics.push(diagnostic)
      options.onDiagnostic?.(diagnostic)
    },
  }
  const roots = foldersOf(sources).map((folder) => watchRoot(folder, host))
  const checking = setInterval(() => {
    for (const root of roots) root.check()
  }, host.pollMs)
  if (!keepAlive) checking.unref()

  async function close(): Promise<void> {
    options.signal?.removeEventListener('abort', onAbort)
    clearInterval(checking)
    closing.abort()
    await Promise.all(roots.map((root) => root.close()))
  }

  function onAbort(): void {
    void close()
  }

  options.signal?.addEventListener('abort', onAbort)
  try {
    // In turn, so that the first roots get the watches when they are scarce.
    for (const root of roots) await root.open()
    throwIfAborted(options.signal)
  } catch (error) {
    await close()
    throw error
  }
  return {
    get mode() {
      return roots.some((root) => root.isPolling) ? 'polling' : 'events'
    },
    diagnostics,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function foldersOf(sources: readonly Pick<SkillSource, 'folder'>[]): SourceFolder[] {
  const folders = new Map<string, SourceFolder>()
  for (const { folder } of sources) if (folder) folders.set(`${folder.path}\u0000${folder.within ?? ''}`, folder)
  return [...folders.values()]
}

function checkNumbers(numbers: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (Number.isFinite(value) && value >= 0) continue
    throw new NexusError('INVALID_ARGUMENT', `${name} is ${value}, not a number of milliseconds.`, {
      fix: `Leave ${name} out, or give a number from 0 up.`,
    })
  }
}
