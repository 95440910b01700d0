import { toSafeLine, toSafeText } from '../../../kernel/index.ts'
import type { BlobReference, BlobReferences } from '../../../store/index.ts'
import type { Answer, Invocation } from '../command.ts'
import { errorOf, MESSAGES, NOTES } from '../messages/index.ts'
import { openStored } from '../stored.ts'

/** `nexus sessions show --output <id>`: the bytes as they were kept; a person's terminal gets visible text only. */
export async function showOutput(invocation: Invocation, wanted: string): Promise<Answer> {
  const { terminal } = invocation
  if (invocation.flags['json'] === true) throw errorOf('INVALID_ARGUMENT', MESSAGES.outputIsNoJson())
  await using opened = await openStored(invocation)
  const { store, blobs } = opened
  const reference = await findOutput(store.blobs, wanted.replace(/^tool-output\//, ''))
  if (!reference || !blobs) throw errorOf('FILE_NOT_FOUND', MESSAGES.outputMissing(toSafeLine(wanted)))
  const shown = terminal.isShown ? visibleText() : undefined
  for await (const chunk of blobs.read(reference)) {
    terminal.write(shown ? shown(chunk) : chunk)
    // The rest stays in the file until a slow reader has taken this.
    await terminal.drained()
    if (terminal.outputFailure) break
  }
  if (shown) terminal.write(shown())
  if (reference.isCut) terminal.note(NOTES.outputCut(reference.bytes))
  return {}
}

/** The one with that id, or the only one whose id begins so. */
async function findOutput(blobs: BlobReferences, wanted: string): Promise<BlobReference | undefined> {
  const exact = await blobs.get(wanted)
  if (exact || wanted === '') return exact
  const matching = (await blobs.list()).filter(({ id }) => id.startsWith(wanted))
  return matching.length === 1 ? matching[0] : undefined
}

/** What one line may grow to before it is shown. */
const MOST_HELD_CHARS = 65_536

/** Text for a terminal from chunks of bytes, line by line, so that no chunk ends inside of an escape sequence. */
function visibleText(): (chunk?: Uint8Array) => string {
  const decoder = new TextDecoder()
  let held = ''
  return (chunk) => {
    held += decoder.decode(chunk, { stream: chunk !== undefined })
    const isLong = held.length > MOST_HELD_CHARS
    const end = chunk === undefined || (isLong && !held.includes('\n')) ? held.length : held.lastIndexOf('\n') + 1
    const text = held.slice(0, end)
    held = held.slice(end)
    return toSafeText(text)
  }
}
