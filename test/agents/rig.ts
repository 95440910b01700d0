import { buildCatalog } from '../../src/catalog/index.ts'
import {
  type AgentEvent,
  type AgentOptions,
  type AgentRuntime,
  createAgent,
  resolveModel,
} from '../../src/agents/index.ts'
import { createStreamRedactor, type Decision, failed, type JsonObject, type Outcome } from '../../src/kernel/index.ts'
import { createMemoryStore, type Store } from '../../src/store/index.ts'
import { type ModelScript, type ModelServer, startModelServer } from '../../src/testing/index.ts'

/** A tool of a test: plain text is a success. */
export type TestTool = (
  args: JsonObject,
  call: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
) => Promise<Outcome> | Outcome

export interface RigOptions {
  readonly script: ModelScript
  readonly tools?: Readonly<Record<string, TestTool>>
  /** Offered to nobody; calls of them are denied. */
  readonly hidden?: readonly string[]
  readonly agent?: Partial<AgentOptions>
  readonly store?: Store
  readonly instructions?: string
}

/** An agent over real HTTP to a scripted model, a real store, and tools of the test's own. */
export async function startRig(options: RigOptions) {
  await using starting = new AsyncDisposableStack()
  const server = starting.use(await startModelServer({ script: options.script }))
  const store = options.store ?? createMemoryStore({ projectId: 'default' })
  const runtime = createTestRuntime(options, store)
  const agent = createAgent({
    id: 'main',
    runtime,
    model: options.agent?.model ?? (await localModel(server)),
    sessions: store.sessions,
    ...options.agent,
    limits: { retryDelayMs: 1, ...options.agent?.limits },
  })
  const events: AgentEvent[] = []
  const running = starting.move()
  return {
    server,
    store,
    agent,
    events,
    send: (content: string, signal?: AbortSignal) =>
      agent.send(content, { onEvent: (event) => events.push(event), ...(signal && { signal }) }),
    ofType: <Type extends AgentEvent['type']>(type: Type) =>
      events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type),
    history: () => store.sessions.messages(agent.sessionId),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** The scripted model, as a local server would be used. */
export async function localModel(server: Pick<ModelServer, 'url'>) {
  const environment = { openaiBaseUrl: server.url, openaiApiKey: 'sk-test-key' }
  const model = await resolveModel({ spec: 'openai-compatible/scripted', environment })
  if (!model) throw new Error('no model')
  return model
}

/** A runtime of the tests' own tools over a real ledger. */
export function createTestRuntime(
  { tools = {}, hidden = [], instructions = '' }: RigOptions,
  store: Store,
): AgentRuntime {
  return {
    projectId: store.projectId,
    catalog: () => buildCatalog({ gated: { ready: [], held: [] } }),
    redact: (value) => value,
    redactStream: () => createStreamRedactor(),
    instructions: () => instructions,
    definitions: () =>
      Object.keys(tools)
        .filter((name) => !hidden.includes(name))
        .map((name) => ({
          wireName: name.replace(/[:.]/g, '__'),
          name,
          description: name,
          parameters: { type: 'object' },
        })),
    refresh: async () => undefined,
    snapshot: () => ({ version: '1' }),
    loadedSkills: () => [],
    recallSkills: () => undefined,
    outdatedSkills: async () => [],
    async call(
      { callId = '', agentId = 'main', origin = 'model', ...request },
      { signal = new AbortController().signal, onOutput, onDecision } = {},
    ) {
      const tool = hidden.includes(request.tool) ? undefined : tools[request.tool]
      const decision: Decision = tool
        ? { type: 'allow', rule: 'test' }
        : { type: 'deny', rule: 'test', reason: `There is no tool '${request.tool}'.` }
      await store.ledger.open({ ...request, id: callId, projectId: store.projectId, agentId, origin }, decision)
      onDecision?.(decision)
      const outcome = tool
        ? await tool(request.arguments, { signal, onOutput: (text) => onOutput?.({ stream: 'stdout', text }) })
        : failed('PERMISSION_DENIED', `There is no tool '${request.tool}'.`)
      return { entry: await store.ledger.close(callId, outcome), decision, outcome }
    },
  }
}

/** The tool answers in a history, in order: which call, and what the model reads. */
export function toolAnswers(messages: readonly JsonObject[]): { readonly id: string; readonly text: string }[] {
  return messages
    .filter((message) => message.role === 'tool')
    .flatMap((message) => message.content as unknown as { toolCallId: string; output: { value: string } }[])
    .map((part) => ({ id: part.toolCallId, text: part.output.value }))
}

/** True when every tool call of a history has exactly one answer, after it. */
export function isWhole(messages: readonly JsonObject[]): boolean {
  const open: string[] = []
  for (const message of messages) {
    const parts = Array.isArray(message.content) ? (message.content as JsonObject[]) : []
    if (message.role !== 'tool' && open.length > 0) return false
    for (const part of parts) {
      if (part.type === 'tool-call') open.push(String(part.toolCallId))
      if (part.type !== 'tool-result') continue
      const at = open.indexOf(String(part.toolCallId))
      if (at < 0) return false
      open.splice(at, 1)
    }
  }
  return open.length === 0 && messages.at(-1)?.role === 'assistant'
}
