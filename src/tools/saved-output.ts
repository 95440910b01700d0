/** saved-output: keeps the whole of an output whose beginning the model sees, and words where it is. */
import { type JsonObject, serviceKey, type ToolContext } from '../kernel/index.ts'
import { OUTPUTS } from './messages.ts'

export interface OutputKeeper {
  /** Begins to keep one output; secrets are blanked on the way. Never throws. */
  open(call: Pick<ToolContext, 'callId' | 'sessionId'>, name: string): OutputSaver
}

export interface OutputSaver {
  /** Takes all bytes in order. Never throws. */
  write(bytes: Uint8Array): void
  save(): Promise<SavedOutput>
  drop(): void
}

export type SavedOutput = { readonly name: string } & (
  | {
      readonly type: 'saved'
      readonly id: string
      readonly bytes: number
      readonly isCut: boolean
      readonly days: number
    }
  | { readonly type: 'lost'; readonly why: string }
)

export const OUTPUT_KEEPER = serviceKey<OutputKeeper>('outputKeeper')

/** The place of a saved output in an envelope. Source: contracts §4.1, `full_output_path`. */
export function pathOf(saved: SavedOutput | undefined): string | null {
  return saved?.type === 'saved' ? `tool-output/${saved.id}` : null
}

export function describeSaved(saved: SavedOutput): string {
  return saved.type === 'saved' ? OUTPUTS.saved(saved) : OUTPUTS.lost(saved)
}

export function savedRows(saved: readonly SavedOutput[]): JsonObject[] {
  return saved.flatMap((each) =>
    each.type === 'saved' ? [{ name: each.name, id: each.id, bytes: each.bytes, is_cut: each.isCut }] : [],
  )
}

export interface StreamSavers {
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): void
  /** Keeps the streams that are cut and drops the others. */
  finish(isCut: { readonly stdout: boolean; readonly stderr: boolean }): Promise<readonly SavedOutput[]>
}

export function openStreams(keeper: OutputKeeper, context: ToolContext): StreamSavers {
  const savers = { stdout: keeper.open(context, 'stdout'), stderr: keeper.open(context, 'stderr') }
  return {
    write: (stream, bytes) => savers[stream].write(bytes),
    async finish(isCut) {
      const saved: SavedOutput[] = []
      for (const name of ['stdout', 'stderr'] as const) {
        if (isCut[name]) saved.push(await savers[name].save())
        else savers[name].drop()
      }
      return saved
    },
  }
}
