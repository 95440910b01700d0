import { type ErrorCode, NexusError, type ProposedCommand } from '../../../kernel/index.ts'

/** The words of an error: what happened, and one complete next step. */
export interface Message {
  readonly message: string
  readonly fix?: string
  readonly proposal?: ProposedCommand
}

/** A table of messages, each made from facts. */
export type Messages = Readonly<Record<string, (...facts: never[]) => Message>>

/** The error with these words. */
export function errorOf(code: ErrorCode, { message, ...rest }: Message, cause?: unknown): NexusError {
  return new NexusError(code, message, { ...rest, ...(cause !== undefined && { cause }) })
}
