import { toVisibleLines } from '../../../kernel/index.ts'

/** Longer lines are shown in pieces, so that what is kept back stays small. */
const MOST_KEPT_CHARS = 4096

/** Makes whole lines of text that comes in chunks. */
export interface LineBuffer {
  add(chunk: string): void
  /** Gives out what came after the last line break. */
  flush(): void
}

/** `show` gets one or more whole lines at a time, with their line breaks. */
export function createLineBuffer(show: (lines: string) => void): LineBuffer {
  let kept = ''
  return {
    add(chunk) {
      kept += chunk
      const end = kept.lastIndexOf('\n') + 1
      if (end > 0) show(kept.slice(0, end))
      kept = kept.slice(end)
      if (kept.length <= MOST_KEPT_CHARS) return
      show(kept)
      kept = ''
    },
    flush() {
      if (kept !== '') show(kept)
      kept = ''
    },
  }
}

/** A command behind a bar, line for line, so that no line of it can be taken for one of ours. */
export function quoteCommand(command: string): readonly string[] {
  return toVisibleLines(command).map((line) => `  | ${line}`)
}
