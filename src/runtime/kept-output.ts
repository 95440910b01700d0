/** kept-output: keeps whole outputs as blobs for some days, and removes the old ones. */
import { type Call, createByteRedactor, isNexusError, type JsonObject, type Outcome } from '../kernel/index.ts'
import type { Blobs, Store } from '../store/index.ts'
import { boundOutcome, OUTCOME_LIMITS, type OutputKeeper, type SavedOutput, withNotes } from '../tools/index.ts'

/** Source: contracts §4.1. */
const KEPT_DAYS = 7
const DAY_MS = 86_400_000
/** One output is kept up to its limit from the beginning; a project keeps its newest outputs. */
const MAX_BYTES = 256 * 1024 ** 2
const MAX_PROJECT_BYTES = 2 * 1024 ** 3

export interface KeptOutput extends OutputKeeper {
  /** Removes what is over, in the background. A failure is left to the next time. */
  tidy(): void
  /** Resolves when no removal is under way. */
  idle(): Promise<void>
}

export function createKeptOutput(blobs: Blobs, store: Store, secrets: readonly (readonly string[])[]): KeptOutput {
  let under: Promise<void> | undefined
  const tidy = (): void => {
    under ??= removeOld(blobs, store)
      .catch(() => undefined)
      .finally(() => {
        under = undefined
      })
  }
  return {
    tidy,
    idle: async () => under,
    open({ callId, sessionId }, name) {
      const writer = blobs.create({ maxBytes: MAX_BYTES })
      const redactor = createByteRedactor(...secrets)
      const about = { name, callId, sessionId, ttlMs: KEPT_DAYS * DAY_MS }
      return {
        write: (bytes) => writer.write(redactor.push(bytes)),
        drop: () => writer.drop(),
        async save(): Promise<SavedOutput> {
          writer.write(redactor.end())
          try {
            const { id, bytes, isCut } = await writer.save(about)
            tidy()
            return { type: 'saved', name, id, bytes, isCut, days: KEPT_DAYS }
          } catch (error) {
            if (!isNexusError(error)) throw error
            return { type: 'lost', name, why: error.message }
          }
        },
      }
    },
  }
}

async function removeOld(blobs: Blobs, store: Store): Promise<void> {
  await store.blobs.trim({ maxBytes: MAX_PROJECT_BYTES })
  await blobs.collect()
}

/** An outcome as it may be recorded and shown: without secrets, then cut to its limits. */
export async function redactAndBound(
  { redact, kept }: { readonly redact: (value: JsonObject) => JsonObject; readonly kept: KeptOutput | undefined },
  { id: callId, sessionId }: Call,
  { outcome, notes = [] }: { readonly outcome: Outcome; readonly notes?: readonly string[] },
): Promise<Outcome> {
  const clean = redact({ outcome, notes } as unknown as JsonObject) as unknown as { outcome: Outcome; notes: string[] }
  const open = (): ReturnType<KeptOutput['open']> | undefined => kept?.open({ callId, sessionId }, 'output')
  return withNotes(await boundOutcome(clean.outcome, OUTCOME_LIMITS, open), clean.notes)
}
