/** The words of every error about models and agents. `model` is `provider/name`, already safe to print. */
import { commandFix, type ProposedCommand, toSafeLine } from '../../kernel/index.ts'
import type { Approval } from '../../store/index.ts'

export interface Words {
  readonly message: string
  readonly fix: string
}

const words = (message: string, fix: string): Words => ({ message, fix })

/** How a model is written. */
const FORMS = 'openai/<name>, anthropic/<name> or openai-compatible/<name>'
const LOCAL_ADDRESS = 'http://127.0.0.1:11434/v1'

/** The key that an address did not get. */
const withheldKey = (variable: string | undefined): string =>
  variable === undefined ? '' : ` ${variable} is set, but it belongs to another address.`

/** How to give a model a key: for the provider's own address, or for another one. */
function keyFix(variable: string, about: { readonly isOwn: boolean; readonly isWithheld: boolean }): string {
  if (about.isOwn) return `Set ${variable}, or write model.apiKey: \${${variable}} in nexus.yaml.`
  const typed = about.isWithheld
    ? 'Give the address with --base-url'
    : `Set ${variable} and give the address with --base-url`
  return `${typed}, or write model.apiKey: \${${variable}} in nexus.yaml beside its baseUrl.`
}

/** A model that cannot be asked, because the settings lack something. */
export const SETUP = {
  noProvider: (spec: string) => words(`The model '${spec}' names no provider.`, `Write it as ${FORMS}.`),
  unknownProvider: (name: string) =>
    words(
      `Nexus does not know the model provider '${name}'.`,
      `Write the model as ${FORMS}. A server with OpenAI's interface is openai-compatible.`,
    ),
  noName: (provider: string) =>
    words(`The provider ${provider} is given without a model.`, `Write the model as ${FORMS}.`),
  noAddress: (name: string) =>
    words(
      `The model openai-compatible/${name} has no address.`,
      `Set OPENAI_BASE_URL, or write model.baseUrl in nexus.yaml, such as ${LOCAL_ADDRESS}.`,
    ),
  /** `address`: another one than the provider's own. */
  noKey: (
    model: string,
    key: { readonly variable: string; readonly withheld: string | undefined; readonly address: string | undefined },
  ) =>
    words(
      `The model ${model} has no key${key.address === undefined ? '' : ` for ${key.address}`}.${withheldKey(key.withheld)}`,
      keyFix(key.variable, { isOwn: key.address === undefined, isWithheld: key.withheld !== undefined }),
    ),
  badAddress: (address: string) =>
    words(
      `The model's base URL cannot be used: ${address}.`,
      `Write an http or https address without user and password, such as ${LOCAL_ADDRESS}. The key goes into model.apiKey.`,
    ),
  badLimit: (name: string, value: number, least: number) =>
    words(`The limit ${name} is ${value}.`, `Use a whole number from ${least} up.`),
}

const TRY_ANOTHER = 'choose another model with --model.'

/** A model that was asked and did not answer. `detail` is what the provider said, as the end of a sentence. */
export const FAILURES = {
  stepTimedOut: (model: string, seconds: number) =>
    words(
      `The model ${model} did not finish its answer within ${seconds} s.`,
      'Try again, use a faster model, or raise the step time limit.',
    ),
  refusedConnection: (model: string) =>
    words(
      `No server answers for the model ${model}: the connection was refused.`,
      'Start the model server, or correct its address (--base-url, model.baseUrl or OPENAI_BASE_URL).',
    ),
  badPort: (model: string) =>
    words(
      `Nexus sent no request to the model ${model}: HTTP clients refuse the port of its address.`,
      'Let the model server listen on another port, such as 8080, and correct its address (--base-url, model.baseUrl or OPENAI_BASE_URL).',
    ),
  hostNotFound: (model: string) =>
    words(
      `The host of the model ${model} was not found.`,
      'Check the network and the address (model.baseUrl, OPENAI_BASE_URL).',
    ),
  unreadable: (model: string) =>
    words(
      `The model ${model} sent an answer that cannot be read.`,
      "Try again. If it fails again, the address does not use this provider's interface.",
    ),
  closedConnection: (model: string, isStarted: boolean) =>
    words(
      `The model ${model} closed the connection ${isStarted ? 'in the middle of its answer' : 'before it answered'}.`,
      'Try again. If it fails again, check the network and the model server.',
    ),
  failed: (model: string, detail: string) =>
    words(`The model ${model} failed${detail}`, `Try again, or ${TRY_ANOTHER}`),
  notFound: (model: string, detail: string) =>
    words(
      `The model ${model} was not found (404)${detail}`,
      "Check the model's name and its address. Most addresses end with /v1, such as --base-url http://127.0.0.1:11434/v1.",
    ),
  /** `seconds`: how long the provider asks to wait. */
  tooManyRequests: (model: string, seconds: number | undefined) =>
    words(
      `The model ${model} refused the request: too many requests (429)${seconds === undefined ? '' : `; it asks to wait ${seconds} s`}.`,
      `Wait and try again, check the account's rate limit and credit, or ${TRY_ANOTHER}`,
    ),
  serverFailed: (model: string, status: number, detail: string) =>
    words(`The model ${model} failed on its side (${status})${detail}`, `Try again later, or ${TRY_ANOTHER}`),
  refused: (model: string, status: number, detail: string) =>
    words(
      `The model ${model} refused the request (${status})${detail}`,
      `Check the settings of the model, start a new session, or ${TRY_ANOTHER}`,
    ),
  tooLong: (model: string, detail: string) =>
    words(
      `The request to the model ${model} is longer than it can take${detail}`,
      `Set model.contextTokens in nexus.yaml, start a new session, or ${TRY_ANOTHER}`,
    ),
  keyMissing: (
    model: string,
    status: number,
    key: { readonly variable: string; readonly withheld?: string | undefined },
  ) =>
    words(
      `The model ${model} needs a key, and Nexus sent none (${status}).${withheldKey(key.withheld)}`,
      keyFix(key.variable, { isOwn: false, isWithheld: key.withheld !== undefined }),
    ),
  /** `from`: the variable or setting of the key that was sent. */
  keyRefused: (model: string, status: 401 | 403, from: string | undefined) =>
    words(
      `The model ${model} refused ${status === 401 ? 'the key' : 'access with the key'}${from === undefined ? '' : ` from ${from}`} (${status}).`,
      `Check that ${from ?? 'the key'} is valid for this address and may use this model.`,
    ),
}

/** An agent or a message that cannot be used as given. */
export const AGENTS = {
  otherAgent: (about: { readonly sessionId: string; readonly owner: string; readonly id: string }) =>
    words(
      `Session ${about.sessionId} belongs to the agent '${about.owner}', not to '${about.id}'.`,
      'Leave out the session to start a new one.',
    ),
  noSession: (id: string) =>
    words(
      `The agent '${id}' was opened without a session, so it has no history.`,
      'Open it with one: runtime.openAgent({ sessionId: crypto.randomUUID() })',
    ),
  emptyMessage: () => words('The message to the agent is empty.', 'Write what the agent should do.'),
  notWaiting: ({ turnId, sessionId }: { readonly turnId: string; readonly sessionId: string }) => ({
    message: `No message ${turnId} waits in session ${sessionId}.`,
    ...commandFix('List what waits:', 'sessions', 'show', sessionId),
  }),
  listenerThrew: (error: unknown) => `A listener of agent events threw: ${String(error)}`,
}

/** Notices to a person during a turn. */
export const NOTICES = {
  /** `openCalls`: the tools of calls without an answer. */
  repaired: ({ openCalls, fate }: { readonly openCalls: readonly string[]; readonly fate: 'unknown' | 'not run' }) => {
    if (openCalls.length === 0) return 'The turn before this one was cut off.'
    const before = 'The turn before this one was cut off'
    return fate === 'not run'
      ? `${before} before ${openCalls.join(', ')} ran. Nexus does not run it by itself.`
      : `${before} in ${openCalls.join(', ')}: outcome unknown. Nexus does not run it again by itself.`
  },
  /** `unloaded`: skills whose text the model does not have any more. */
  cut: (about: {
    readonly by: 'oldest_first' | 'middle_out' | 'compaction'
    readonly count: number
    readonly sessionId: string
    readonly unloaded: readonly string[]
  }) => {
    const { by, count, sessionId, unloaded } = about
    const how = by === 'compaction' ? 'A summary of the model replaces' : 'The model no longer reads'
    const lost = unloaded.length === 0 ? '' : ` Skills without room: ${unloaded.join(', ')}.`
    const lead = `The context was full. ${how} ${count} ${count === 1 ? 'message' : 'messages'} of the session, which are kept.${lost} To read them:`
    return noticeWith(lead, 'sessions', 'show', sessionId)
  },
  cutForModel: (count: number, unloaded: readonly string[]) =>
    `[${count} ${count === 1 ? 'message' : 'messages'} of this conversation left out: the context was full.${unloaded.length === 0 ? '' : ` Load again what you need of these skills: ${unloaded.join(', ')}.`}]`,
  noSummary: () => 'The model gave no summary of the older messages, so they are left out without one.',
  nothingToCut: () => 'Nothing to compact: the history has no message that the model reads.',
  emptySummary: () => 'The model gave an empty summary, so the history is as it was.',
  cutAtLength: () => 'The answer was cut: the model reached its output limit.',
  cutByFilter: () => "The answer was cut by the provider's content filter.",
  emptyAnswer: () => 'The model gave an empty answer.',
}

/** Messages of ended processes that are named one by one. */
const MOST_LEFT = 3

/** The turn of a session that waits for an answer, and its question where it is still open. */
export interface WaitingTurn {
  readonly turnId: string
  readonly sessionId: string
  readonly question: Pick<Approval, 'id' | 'tool' | 'command'> | undefined
}

/** A turn that this caller did not see to its end. */
export const TURNS = {
  interrupted: ({ turnId, sessionId }: { readonly turnId: string; readonly sessionId: string }) => ({
    message: `The turn ${turnId} was cut off: the process that ran it ended. What it had done is in the history.`,
    ...commandFix(
      'Inspect the session, then send the message again with a new request id:',
      'sessions',
      'show',
      sessionId,
    ),
  }),
  /** `isCancelled`: the store took the cancellation, so the message no longer waits. */
  notRun: (about: {
    readonly turnId: string
    readonly sessionId: string
    readonly isCancelled: boolean
    readonly cause: string
  }) => {
    const { turnId, sessionId, isCancelled, cause } = about
    return isCancelled
      ? {
          message: `The message ${turnId} was cancelled before it ran. ${cause}`,
          fix: 'Send it again with a new request id.',
        }
      : {
          message: `The message ${turnId} did not run, and still waits in session ${sessionId}. ${cause}`,
          ...commandFix('Cancel it, so that later messages run:', 'sessions', 'cancel', turnId),
        }
  },
  leftAgain: ({
    turnId,
    sessionId,
    cause,
  }: {
    readonly turnId: string
    readonly sessionId: string
    readonly cause: string
  }) => ({
    message: `The message ${turnId} did not run, and still waits in session ${sessionId}. ${cause}`,
    ...commandFix('To run it:', 'sessions', 'resume', turnId),
  }),
  timedOut: (seconds: number) =>
    words(`The turn did not end within ${seconds} s.`, 'Give it a smaller task, or raise the turn time limit.'),
  fault: () => ({ message: 'The turn ended because of a fault in Nexus.' }),
  unknownFailure: () => ({ message: 'The turn failed.' }),
  left: ({ ids, sessionId }: { readonly ids: readonly string[]; readonly sessionId: string }) => [
    ...ids
      .slice(0, MOST_LEFT)
      .flatMap((id) => [
        noticeWith(`The process of message ${id} ended before the message ran. To run it:`, 'sessions', 'resume', id),
        noticeWith('To cancel it:', 'sessions', 'cancel', id),
      ]),
    ...(ids.length > MOST_LEFT
      ? [noticeWith(`Further such messages: ${ids.length - MOST_LEFT}. To list them:`, 'sessions', 'show', sessionId)]
      : []),
  ],
  waitsForAnswer: ({ turnId, sessionId, question }: WaitingTurn) => [
    question
      ? noticeWith(
          `Session ${sessionId} waits for an answer about ${toSafeLine(question.tool)}: ${toSafeLine(question.command)}. To answer:`,
          ...['approvals', 'answer', question.id, '--allow'],
        )
      : noticeWith(
          `Session ${sessionId} has a turn that waits to go on. To go on:`,
          ...['sessions', 'resume', sessionId],
        ),
    ...(question ? [noticeWith('Then go on:', 'sessions', 'resume', sessionId)] : []),
    noticeWith('To cancel that turn:', 'sessions', 'cancel', turnId),
  ],
  waits: ({ turnId, sessionId }: { readonly turnId: string; readonly sessionId: string }) =>
    noticeWith(
      `Session ${sessionId} has another turn, so this message waits. To cancel it:`,
      'sessions',
      'cancel',
      turnId,
    ),
  runsAlready: ({ turnId }: { readonly turnId: string }) =>
    noticeWith(
      `The turn ${turnId} runs already, so this call waits for its result. To cancel it:`,
      'sessions',
      'cancel',
      turnId,
    ),
}

/** A sentence that ends with a command of Nexus, for an event. */
function noticeWith(
  lead: string,
  ...args: readonly string[]
): { readonly text: string; readonly proposal: ProposedCommand } {
  const { fix, proposal } = commandFix(lead, ...args)
  return { text: fix, proposal }
}
