/** live-turn: the reach into a turn that runs in this process: messages that come meanwhile, and its clock. */
import type { StoredMessage } from '../../store/index.ts'
import type { Timer } from './limits.ts'

export interface LiveTurn {
  readonly timer: Timer
  /** Keeps the message in the history; true when it is durable, and the model reads it before its next step. False when the turn is at its end. */
  deliver(message: StoredMessage): Promise<boolean>
  /** The messages that came since the last `take`, in their order. */
  take(): readonly StoredMessage[]
  /** Resolves when no message is being kept; false when one came and was not taken. */
  isQuiet(): Promise<boolean>
  /** Lets no further message in. False when one waits to be read: then the turn stays open. */
  close(): Promise<boolean>
}

export function createLiveTurn(timer: Timer, keep: (message: StoredMessage) => Promise<void>): LiveTurn {
  const arrived: StoredMessage[] = []
  const writing = new Set<Promise<void>>()
  let isOpen = true
  return {
    timer,
    async deliver(message) {
      if (!isOpen) return false
      const write = keep(message).then(() => void arrived.push(message))
      writing.add(write)
      try {
        await write
      } finally {
        writing.delete(write)
      }
      return true
    },
    take: () => arrived.splice(0),
    async isQuiet() {
      await Promise.allSettled(writing)
      return arrived.length === 0
    },
    async close() {
      isOpen = false
      await Promise.allSettled(writing)
      isOpen = arrived.length > 0
      return !isOpen
    },
  }
}
