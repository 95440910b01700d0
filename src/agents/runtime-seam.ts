import type { Catalog } from '../catalog/index.ts'
import type {
  Decision,
  JsonObject,
  JsonSchema,
  JsonValue,
  LedgerEntry,
  Outcome,
  StreamRedactor,
} from '../kernel/index.ts'

/** A tool as the model is told about it. `wireName` is what providers accept, `name` what policy and ledger say. */
export interface AgentTool {
  readonly wireName: string
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
}

/** The part of the runtime that an agent needs; `Runtime` satisfies it. */
export interface AgentRuntime {
  readonly projectId: string
  catalog(agentId: string): Catalog
  /** The skills section of the system prompt; empty when the agent sees no skill. */
  instructions(agentId: string): string
  /** Only what the agent may call. */
  definitions(agentId: string): readonly AgentTool[]
  /** Between turns: picks up changed skills. */
  refresh(signal?: AbortSignal): Promise<void>
  snapshot(agentId: string): JsonObject
  /** Blanks secrets: what is stored and shown goes through it. */
  redact<T extends JsonValue>(value: T): T
  /** The same for one text that comes in pieces. */
  redactStream(): StreamRedactor
  /** Decides, records, runs and records one call. Rejects only when the record cannot be kept. */
  call(
    request: {
      readonly tool: string
      readonly arguments: JsonObject
      readonly agentId: string
      readonly sessionId?: string
      readonly turnId?: string
      readonly callId?: string
      readonly origin: 'model'
    },
    options: {
      readonly signal?: AbortSignal
      readonly onOutput?: (chunk: { readonly stream: 'stdout' | 'stderr'; readonly text: string }) => void
      readonly onDecision?: (decision: Decision) => void
    },
  ): Promise<{ readonly entry: LedgerEntry; readonly decision: Decision; readonly outcome: Outcome }>
}
