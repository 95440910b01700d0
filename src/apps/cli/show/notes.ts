import { type Outcome } from '../../../kernel/index.ts'

/** What the sandbox has to say about a command, such as a changed file that was not taken back. */
export function notesOf({ data }: Pick<Outcome, 'data'>): readonly string[] {
  const notes = data?.['notes']
  return Array.isArray(notes) ? notes.map(String) : []
}
