/** approvals: the one broker of a project. A person is asked about a recorded call, here or from another process. */
import { coversCommand, type ShownCommand } from '../authorize/index.ts'
import { errorMessage, NexusError } from '../kernel/index.ts'
import type { Answer, Answered, Approval, Store } from '../store/index.ts'
import { ASKED, ERRORS } from './messages.ts'
import { createWaker } from './waiting.ts'
import type { ApprovalAnswer, ApprovalsBroker, AskedCall, Parts } from './types.ts'

/** A longer timer of Node ends at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** The broker as calls use it. */
export interface AskingBroker extends ApprovalsBroker {
  /** Whether anybody can answer: without a callback, and where no other process is waited for, an `ask` is a denial. */
  readonly canAsk: boolean
  /** True when a remembered answer covers the call. */
  isRemembered(
    about: {
      readonly agentId: string
      readonly tool: string
      readonly scope: string
      readonly skillDigest: string | undefined
    },
    shown: ShownCommand,
  ): Promise<boolean>
  /** The texts of the answers that are remembered for it. */
  rememberedTexts(about: Parameters<AskingBroker['isRemembered']>[0]): Promise<readonly string[]>
  /** Waits until the question about a recorded call is answered, expires or is cancelled. */
  ask(
    approvalId: string,
    about: {
      readonly call: AskedCall
      readonly question: string
      /** Why the rules of the agent alone do not decide. */
      readonly why?: string | undefined
      readonly signal: AbortSignal
      /** Asks about this call, in place of the runtime's own. */
      readonly approve?: NonNullable<Parts['approve']>
    },
  ): Promise<Reply>
}

/** How a question ended. `by` says who allowed the call; `unanswered`: without a yes or a no. */
export type Reply =
  | { readonly type: 'allowed'; readonly by: string }
  | { readonly type: 'denied'; readonly reason: string }
  | { readonly type: 'unanswered'; readonly reason: string }

export function createApprovals(
  store: Store,
  parts: Pick<Parts, 'approve' | 'mayAnswer' | 'waitForAnswers'>,
): AskingBroker {
  const { mayAnswer = ({ kind }) => kind !== 'agent', waitForAnswers = false } = parts
  const { approvals } = store
  const leaving = new AbortController()
  let onLeft = (_agentKey: string): void => undefined

  async function answer(id: string, given: Answer): Promise<Answered> {
    const approval = await approvals.get(id)
    if (approval && !mayAnswer(given, approval)) {
      const { message, ...fix } = ERRORS.mayNotAnswer({ by: given.by, id })
      throw new NexusError('CALL_DENIED', message, fix)
    }
    return approvals.answer(id, given)
  }

  /** Asks the callback, and records what it says as the answer. Resolves to why there is none, if it gave none. */
  async function askHere(
    id: string,
    { call, question, why, signal, approve = parts.approve }: Parameters<AskingBroker['ask']>[1],
  ): Promise<string | undefined> {
    if (!approve) return undefined
    try {
      const said = await approve(call, question, signal, why)
      if (signal.aborted) return undefined
      // `approve` is the caller's code: only what is clearly an answer is one.
      if (typeof said !== 'boolean' && typeof said?.isAllowed !== 'boolean') return ASKED.closed(question)
      await answer(id, toAnswer(said))
      return undefined
    } catch (error) {
      return signal.aborted ? undefined : ASKED.callbackFailed(question, errorMessage(error))
    }
  }

  return {
    canAsk: parts.approve !== undefined || waitForAnswers,
    list: async () => {
      await store.reclaim()
      return approvals.list({ states: ['open'] })
    },
    answer,
    remembered: () => approvals.remembered(),
    forget: (id) => approvals.forget(id),
    leave(listener) {
      onLeft = listener
      leaving.abort()
    },
    async isRemembered(about, shown) {
      const known = await approvals.remembered(about)
      return known.some((each) => each.skillDigest === about.skillDigest && coversCommand(each, shown))
    },
    async rememberedTexts(about) {
      const known = await approvals.remembered(about)
      return known.filter(({ skillDigest }) => skillDigest === about.skillDigest).map(({ text }) => text)
    },
    async ask(id, about) {
      const asking = new AbortController()
      const signal = AbortSignal.any([about.signal, asking.signal, leaving.signal])
      let unanswered: string | undefined
      // One that waited for its next owner may have its answer.
      const known = await approvals.get(id)
      if (known?.state !== 'open') return toReply(known, about.question, undefined)
      void askHere(id, { ...about, signal }).then((why) => {
        unanswered = why
        if (why !== undefined) asking.abort()
      })
      try {
        const ended = await untilEnded(store, id, signal)
        const isLeft = ended === undefined && leaving.signal.aborted && !about.signal.aborted
        if (!isLeft) return toReply(ended, about.question, unanswered)
      } finally {
        asking.abort()
      }
      onLeft(known.agentId)
      // Nothing of the call happens any more, just like after a kill.
      return new Promise(() => undefined)
    },
  }
}

function toAnswer(said: NonNullable<ApprovalAnswer>): Answer {
  const callback = { by: 'callback', kind: 'person' } as const
  if (typeof said === 'boolean') return { isAllowed: said, ...callback }
  const { remember, ...answer } = said
  // The session is remembered by who asks.
  return { ...callback, ...answer, remember: remember === 'session' ? undefined : remember }
}

/** The question when it is no longer open; undefined when the caller cancelled. */
async function untilEnded(store: Store, id: string, signal: AbortSignal): Promise<Approval | undefined> {
  const waker = await createWaker(store, ({ references }) => references.approvalId === id)
  let timer: NodeJS.Timeout | undefined
  try {
    for (;;) {
      if (signal.aborted) return undefined
      const approval = await store.approvals.get(id)
      if (approval?.state !== 'open') return approval
      // On the store's clock it may be a little later: then the sweeper sees it.
      const ttlMs = approval.expiresAt - approval.createdAt
      timer ??= setTimeout(() => void store.reclaim().catch(() => undefined), Math.min(ttlMs, MAX_TIMER_MS))
      await waker.next(signal)
    }
  } finally {
    clearTimeout(timer)
    waker.stop()
  }
}

/** `unanswered`: why `approve` gave no answer. */
function toReply(approval: Approval | undefined, question: string, unanswered: string | undefined): Reply {
  switch (approval?.state) {
    case 'allowed':
      return { type: 'allowed', by: ASKED.answerer(approval) }
    case 'denied':
      return { type: 'denied', reason: ASKED.saidNo() }
    case 'expired':
      return { type: 'unanswered', reason: ASKED.late(question) }
    case 'open':
    case 'not run':
    case undefined:
      return { type: 'unanswered', reason: unanswered ?? ASKED.cancelled(question) }
  }
}
