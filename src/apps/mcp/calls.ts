/** Calls of the agent. One that a person is asked about waits here until its client comes back with the answer. */
import {
  type CallToolResult,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { type Call, type JsonObject, newId, sha256, toSafeLine } from '../../kernel/index.ts'
import type { Local } from '../../local/index.ts'
import type { AgentHandle, ApprovalAnswer, CallResult } from '../../runtime/index.ts'
import { toModelText } from '../../tools/index.ts'
import { answerOf, approvalForm, QUESTION } from './approval-form.ts'
import { APPROVAL } from './messages.ts'
import { NO_PROGRESS, type Progress, reportProgress } from './progress.ts'

interface State {
  readonly callId: string
  /** Digest of agent, tool and arguments, so that an answer allows nothing else. */
  readonly about: string
}

/** The runtime of the workspace and the agent that calls. */
export interface Opened {
  readonly local: Local
  readonly agent: AgentHandle
  /** The note about the workspace, for its first caller only. */
  takeNotice(): string | undefined
}

export interface CallingClient {
  readonly name: string
  /** It can show a form to a person. */
  readonly canAsk: boolean
  /** False when it says that it runs without a person: then it declines by itself. */
  readonly hasPerson: boolean
  /** It waits with its request open while a person is asked, as clients of 2025 do. */
  readonly staysOpen: boolean
}

export interface Calls {
  /** Makes the call, or goes on with the one that the client brings an answer for. Throws a protocol error for an unknown tool. */
  call(
    opened: Opened,
    request: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined },
    by: { readonly context: ServerContext; readonly client: CallingClient },
  ): Promise<CallToolResult | InputRequiredResult>
  /** Checks what a client brings back. Throws when it was not given by this process, is too old or for another method. */
  verify(state: string, context: ServerContext): Promise<unknown>
  /** Cancels the calls that wait for a person, until each has its end in the ledger. */
  close(): Promise<void>
}

interface Running {
  readonly about: string
  readonly result: Promise<CallResult>
  readonly cancel: () => void
  progress: Progress
}

interface Waiting extends Running {
  readonly call: Call
  readonly canRemember: boolean
  readonly why: string | undefined
  readonly answer: (answer: ApprovalAnswer) => void
}

/** The question itself is open that long. */
const STATE_SECONDS = 600

export function createCalls(): Calls {
  const key = crypto.getRandomValues(new Uint8Array(32))
  const codec = createRequestStateCodec<State>({ key, ttlSeconds: STATE_SECONDS, bind: ({ mcpReq }) => mcpReq.method })
  const waiting = new Map<string, Waiting>()

  async function ask(entry: Waiting, context: ServerContext): Promise<InputRequiredResult> {
    const { call, about } = entry
    waiting.set(call.id, entry)
    return inputRequired({
      inputRequests: { [QUESTION]: inputRequired.elicit(approvalForm(call, entry)) },
      requestState: await codec.mint({ callId: call.id, about }, context),
    })
  }

  /** Asks a client of 2025 while its request is open. An error in place of an answer closes the question. */
  async function askNow(entry: Waiting, { mcpReq }: ServerContext, client: CallingClient): Promise<ApprovalAnswer> {
    const { call, canRemember, result } = entry
    waiting.set(call.id, entry)
    // An answer from elsewhere withdraws the form.
    const over = new AbortController()
    void result.catch(() => undefined).finally(() => over.abort())
    const options = { signal: AbortSignal.any([mcpReq.signal, over.signal]), timeout: STATE_SECONDS * 1000 }
    const question = { method: 'elicitation/create', params: approvalForm(call, entry) } as const
    const response = await mcpReq.send(question, options).catch(() => ({}))
    waiting.delete(call.id)
    return answerOf(response, { canRemember, client })
  }

  /** The waiting call that the client brings an answer for. It is taken out, so that each answer counts once. */
  function take({ callId, about }: State, asked: string): Waiting | undefined {
    const found = waiting.get(callId)
    if (found?.about !== about || about !== asked) return undefined
    waiting.delete(callId)
    return found
  }

  return {
    verify: codec.verify,
    async call(opened, request, { context, client }) {
      const { mcpReq } = context
      const tool = opened.agent.registry.wireNames().toName(request.name) ?? request.name
      const args = (request.arguments ?? {}) as JsonObject
      const about = sha256(JSON.stringify([opened.agent.id, tool, args]))
      const state = mcpReq.requestState<State>()
      if (state === undefined) {
        const { running, first } = begin(opened, { tool, args, about }, { context, client })
        try {
          const begun = await first
          if ('result' in begun) return toToolResult(begun.result, opened, tool)
          const entry: Waiting = Object.assign(running, begun.asked)
          void entry.result.catch(() => undefined).finally(() => waiting.delete(entry.call.id))
          if (!client.staysOpen) return await ask(entry, context)
          entry.answer(await askNow(entry, context, client))
          return toToolResult(await entry.result, opened, tool)
        } finally {
          running.progress.end()
        }
      }
      const entry = take(state, about)
      if (!entry) return { content: [{ type: 'text', text: APPROVAL.over() }], isError: true }
      const response = inputResponse(mcpReq.inputResponses, QUESTION)
      if (response.kind === 'missing') return ask(entry, context)
      entry.progress = reportProgress(mcpReq, tool)
      const unlink = onAbort(mcpReq.signal, entry.cancel)
      try {
        entry.answer(answerOf(response.kind === 'elicit' ? response : {}, { canRemember: entry.canRemember, client }))
        return toToolResult(await entry.result, opened, tool)
      } finally {
        unlink()
        entry.progress.end()
      }
    },
    async close() {
      const entries = [...waiting.values()]
      for (const { cancel } of entries) cancel()
      await Promise.allSettled(entries.map(({ result }) => result))
    },
  }
}

type First =
  | { readonly result: CallResult }
  | { readonly asked: Pick<Waiting, 'call' | 'canRemember' | 'why' | 'answer'> }

/** Starts a call; `first` is its result, or the question that it waits for. */
function begin(
  { agent, local }: Opened,
  { tool, args, about }: { readonly tool: string; readonly args: JsonObject; readonly about: string },
  { context: { mcpReq }, client }: { readonly context: ServerContext; readonly client: CallingClient },
): { readonly running: Running; readonly first: Promise<First> } {
  const controller = new AbortController()
  const cancel = (): void => controller.abort()
  const unlink = onAbort(mcpReq.signal, cancel)
  const asked = Promise.withResolvers<First>()
  const approve = async (call: Call, _question: string, signal: AbortSignal, why?: string): Promise<ApprovalAnswer> => {
    const open = await local.runtime.approvals.list()
    const canRemember = open.find(({ callId }) => callId === call.id)?.canRemember === true
    const { promise, resolve, reject } = Promise.withResolvers<ApprovalAnswer>()
    onAbort(signal, () => reject(signal.reason as Error))
    asked.resolve({ asked: { call, canRemember, why, answer: resolve } })
    return promise
  }
  const request = { tool, arguments: args, origin: 'mcp', callId: newId() } as const
  const result = agent.call(request, {
    signal: controller.signal,
    onOutput: (chunk) => running.progress.onOutput(chunk),
    ...(client.canAsk ? { approve } : { whyNotAsked: APPROVAL.cannotAsk(toSafeLine(client.name)) }),
  })
  const running: Running = { about, result, cancel, progress: NO_PROGRESS }
  running.progress = reportProgress(mcpReq, tool)
  const first = Promise.race([result.then((done) => ({ result: done })), asked.promise]).finally(() => {
    // An answered request of 2026 is over: only its retry can cancel the call now.
    if (!client.staysOpen) unlink()
  })
  return { running, first }
}

/** Names that nothing has are an error of the protocol, so that clients do not show them as a failed run. */
function toToolResult({ outcome }: CallResult, opened: Opened, tool: string): CallToolResult {
  if (outcome.type === 'failed' && outcome.code === 'NOT_FOUND' && !opened.agent.registry.has(tool))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, outcome.message)
  const notice = opened.takeNotice()
  const texts = notice === undefined ? [toModelText(outcome)] : [toModelText(outcome), notice]
  // Text alone: clients that get data beside it show the model the data, or both.
  const content = texts.map((text) => ({ type: 'text', text }) as const)
  return outcome.type === 'failed' ? { content, isError: true } : { content }
}

function onAbort(signal: AbortSignal, then: () => void): () => void {
  if (signal.aborted) then()
  else signal.addEventListener('abort', then, { once: true })
  return () => signal.removeEventListener('abort', then)
}
