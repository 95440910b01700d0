/** entered: a workspace that one command can work in, however that is made. */
import type { Mount, Seen } from '../runner/protocol.ts'
import type { Left } from './left.ts'

/** A workspace that a command can work in now. */
export interface Entered {
  readonly mount: Mount
  /** The directory in which the overlay of the command is mounted; absent without one. */
  readonly layer?: string
  /** The parts that the command sees; absent = all. */
  readonly view?: readonly Seen[]
  /** Dependency directories in it that are the workspace's own, read-only. */
  readonly bound?: readonly string[]
  /** Takes the changes back, in at most `maxMs`; returns what the caller should know. Call it exactly once. */
  leave(maxMs: number): Promise<Left>
}
