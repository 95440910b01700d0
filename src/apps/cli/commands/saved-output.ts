import { commandFix, toSafeLine, toSafeText } from '../../../kernel/index.ts'
import type { BlobReference, BlobReferences } from '../../../store/index.ts'
import type { Answer, Invocation } from '../command.ts'
import { errorOf } from '../failure.ts'
import { createLineBuffer } from '../show/lines.ts'
import { matchingIds, openStored } from '../stored.ts'

/** `nexus sessions show --output <id>`: the bytes as they were kept; a person's terminal gets visible text only. */
export async function showOutput(invocation: Invocation, wanted: string): Promise<Answer> {
  const { terminal } = invocation
  if (invocation.flags['json'] === true) {
    const message = 'A saved output is printed as it is, so --output and --json cannot be used together.'
    throw errorOf('INVALID_ARGUMENT', message, 'Leave out --json.')
  }
  await using opened = await openStored(invocation)
  const { store, blobs } = opened
  const reference = await findOutput(store.blobs, wanted.replace(/^tool-output\//, ''))
  if (!reference || !blobs) {
    const message = `No saved output has the id ${toSafeLine(wanted)}, or it was removed: outputs are kept for 7 days.`
    const lead = 'The outcome of a call names its output. See the sessions:'
    throw errorOf('FILE_NOT_FOUND', message, commandFix(lead, 'sessions', 'list', '--all'))
  }
  // By lines, so that no chunk ends inside of an escape sequence.
  const lines = terminal.isShown ? createLineBuffer((text) => terminal.write(toSafeText(text))) : undefined
  const decoder = new TextDecoder()
  for await (const chunk of blobs.read(reference)) {
    if (lines) lines.add(decoder.decode(chunk, { stream: true }))
    else terminal.write(chunk)
    // The rest stays in the file until a slow reader has taken this.
    await terminal.drained()
    if (terminal.outputFailure) break
  }
  lines?.add(decoder.decode())
  lines?.flush()
  if (reference.isCut) terminal.note(`The command wrote more: only the first ${reference.bytes} bytes were kept.`)
  return {}
}

/** The one with that id, or the only one whose id begins so. */
async function findOutput(blobs: BlobReferences, wanted: string): Promise<BlobReference | undefined> {
  const exact = await blobs.get(wanted)
  if (exact || wanted === '') return exact
  const matching = matchingIds(await blobs.list(), wanted)
  return matching.length === 1 ? matching[0] : undefined
}
