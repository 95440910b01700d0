import type { Outcome } from '../../kernel/index.ts'

/** What the sandbox has to say about a command, such as a changed file that was not taken back. */
export function notesOf({ data }: Pick<Outcome, 'data'>): readonly string[] {
  const notes = data?.['notes']
  return Array.isArray(notes) ? notes.map(String) : []
}

/** The message of a failure without the notes, which are shown beside it. */
export function messageWithoutNotes(failure: Extract<Outcome, { type: 'failed' }>): string {
  return notesOf(failure).length === 0 ? failure.message : (failure.message.split('\nNote: ', 1)[0] ?? '')
}
