import { shorten } from '../show/columns.ts'
import type { Terminal } from '../terminal.ts'

/** Shorter work needs no line. */
const EVERY_MS = 1000

/** One line on stderr that says what is going on, only where a person is watching, only when it takes more than a second. */
export interface Progress {
  /** From now on this is going on; a function is asked each time, to say how far it is. */
  begin(what: string | (() => string)): void
  /** Takes the line away. */
  end(): void
}

export function createProgress(terminal: Terminal): Progress {
  let timer: NodeJS.Timeout | undefined
  let isShown = false
  const end = (): void => {
    clearInterval(timer)
    if (isShown && !terminal.isDumb) terminal.writeNote('\r\u001b[K')
    isShown = false
  }
  return {
    begin(what) {
      end()
      if (!terminal.isWatched) return
      const startedAt = performance.now()
      timer = setInterval(() => {
        if (terminal.isAsking) return
        const seconds = Math.round((performance.now() - startedAt) / 1000)
        const done = typeof what === 'string' ? what : what()
        const line = shorten(`${done} … ${seconds} s`, terminal.noteColumns - 1)
        const text = terminal.paintNote('dim', line)
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

export async function withProgress<T>(
  terminal: Terminal,
  what: string | (() => string),
  work: () => Promise<T>,
): Promise<T> {
  const progress = createProgress(terminal)
  progress.begin(what)
  try {
    return await work()
  } finally {
    progress.end()
  }
}
