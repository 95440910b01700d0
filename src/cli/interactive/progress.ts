import type { Terminal } from '../terminal.ts'

/** What takes less needs no word. */
const EVERY_MS = 1000

/** One line on stderr that says what is going on, only where a person is watching, only when it takes more than a second. */
export interface Progress {
  /** From now on this is going on. */
  begin(what: string): void
  /** Takes the line away; call it before anything else is written. */
  end(): void
}

export function createProgress(terminal: Terminal): Progress {
  let timer: NodeJS.Timeout | undefined
  let isShown = false
  const end = (): void => {
    clearInterval(timer)
    timer = undefined
    if (isShown && !terminal.isDumb) terminal.writeNote('\r\u001b[K')
    isShown = false
  }
  return {
    begin(what) {
      end()
      if (!terminal.isWatched) return
      const startedAt = performance.now()
      timer = setInterval(() => {
        const seconds = Math.round((performance.now() - startedAt) / 1000)
        const text = terminal.paintNote('dim', `${what} … ${seconds} s`)
        // A terminal that cannot take a line back gets one line and no more.
        if (!terminal.isDumb) terminal.writeNote(`\r${text}\u001b[K`)
        else if (!isShown) terminal.note(text)
        isShown = true
      }, EVERY_MS)
      timer.unref()
    },
    end,
  }
}

/** Shows the word while the work is on. */
export async function withProgress<T>(terminal: Terminal, what: string, work: () => Promise<T>): Promise<T> {
  const progress = createProgress(terminal)
  progress.begin(what)
  try {
    return await work()
  } finally {
    progress.end()
  }
}
