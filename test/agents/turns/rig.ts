import { parsePolicy } from '../../../src/authorize/index.ts'
import { type AgentEvent, type AgentOptions, createAgent, resolveModel } from '../../../src/agents/turns/index.ts'
import { type JsonObject, newId, type Outcome, type Tool } from '../../../src/kernel/index.ts'
import { type AgentHandle, createRuntime } from '../../../src/runtime/index.ts'
import { createMemoryStore, type Store } from '../../../src/store/index.ts'
import { type ModelScript, type ModelServer, startModelServer } from '../../../src/testing/index.ts'
import { defineTool } from '../../../src/tools/index.ts'

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
  readonly sessionId?: string
}

/** An agent over real HTTP to a scripted model, a real store, and tools of the test's own. */
export async function startRig(options: RigOptions) {
  await using starting = new AsyncDisposableStack()
  const server = starting.use(await startModelServer({ script: options.script }))
  const store = options.store ?? (await createMemoryStore({ projectId: 'default' }))
  const agent = createAgent({
    agent: await openTestAgent(options, store, options.sessionId),
    model: options.agent?.model ?? (await localModel(server)),
    store,
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

/** An agent of a real runtime with the tests' own tools, over a real ledger. */
export async function openTestAgent(
  { tools = {}, hidden = [] }: Pick<RigOptions, 'tools' | 'hidden'>,
  store: Store,
  sessionId: string = newId(),
): Promise<AgentHandle> {
  const runtime = await createRuntime({
    sources: [],
    facts: { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false },
    store,
    toolTimeoutMs: 0,
    agents: [{ id: 'main', policy: parsePolicy({ deny: hidden }).rules }],
    registerTools: (registry) => {
      // The tools of a test are all there is.
      registry.unregister('sleep')
      for (const [name, run] of Object.entries(tools)) registry.register(name, () => toTool(name, run))
    },
  })
  return runtime.openAgent({ sessionId })
}

function toTool(name: string, run: TestTool): Tool {
  return defineTool({
    name,
    description: name,
    parameters: { type: 'object' },
    execute: (args, { signal, onOutput }) =>
      run(args, { signal, onOutput: (text) => onOutput?.({ stream: 'stdout', text }) }),
  })
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
