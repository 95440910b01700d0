/** unwritten-step: an answer of the model with calls, until it is durable: with the record of its first call, which saves a write, else by itself. */
import type { Lease, Turns, TurnStep } from '../../store/index.ts'

export interface UnwrittenStep {
  /** `record` writes it too, and is given undefined when it is written. */
  writtenBy<T>(record: (step: TurnStep | undefined) => Promise<T>): Promise<T>
  /** Durable when it returns. */
  write(): Promise<void>
}

/** `number`: how many answers its turn has with it. */
export function unwrittenStep(
  turns: Turns,
  { turnId, lease, step, number }: { turnId: string; lease: Lease; step: TurnStep; number: number },
): UnwrittenStep {
  let state: 'unwritten' | 'unclear' | 'written' = 'unwritten'
  return {
    async writtenBy(record) {
      if (state === 'written') return record(undefined)
      // A write that fails may be there all the same, as when the connection was lost at its end.
      state = 'unclear'
      const result = await record(step)
      state = 'written'
      return result
    },
    async write() {
      const isThere = state === 'written' || (state === 'unclear' && (await turns.get(turnId))?.use.steps === number)
      if (!isThere) await turns.step(turnId, lease, step)
      state = 'written'
    },
  }
}
