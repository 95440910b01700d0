/** agent-messages: messages that come from another agent, in the history and as the model reads them. */
import { toSafeLine } from '../../kernel/index.ts'
import type { StoredMessage } from '../../store/index.ts'
import { betweenTags, notesOf, partsOf } from './stored-message.ts'

/** Another agent as the author of a message. */
export interface MessageAuthor {
  /** Ids of its ancestors and its own, such as `main/worker`. */
  readonly agent: string
  /** Its own id of the message. */
  readonly requestId?: string
}

/** The message as the history keeps it: its text as it was sent, and who sent it. */
export function agentMessage(content: string, { agent, requestId }: MessageAuthor): StoredMessage {
  const from = { from: toSafeLine(agent), ...(requestId !== undefined && { request: requestId }) }
  return { role: 'user', content, providerOptions: { nexus: from } }
}

/** Whether a history has the message of an agent with that id of its own. */
export function hasMessage(messages: readonly StoredMessage[], { agent, requestId }: Required<MessageAuthor>): boolean {
  return messages.some((message) => notesOf(message).request === requestId && authorOf(message) === toSafeLine(agent))
}

/** The author of a message that another agent sent; undefined for any other message. */
export function authorOf(message: StoredMessage): string | undefined {
  const { from } = notesOf(message)
  return typeof from === 'string' ? from : undefined
}

/**
 * The messages as the model reads them. One of another agent is in a boundary that its text cannot contain, because it is made from
 * that text. One that came while calls ran follows their answers: providers refuse anything between a call and its answer.
 */
export function asModelReads(messages: readonly StoredMessage[]): StoredMessage[] {
  const arranged: StoredMessage[] = []
  let late: StoredMessage[] = []
  let open = 0
  for (const message of messages) {
    const from = authorOf(message)
    const shown = from === undefined ? message : inBoundary(String(message.content), from)
    if (from !== undefined && open > 0) late.push(shown)
    else arranged.push(shown)
    open = Math.max(0, open + partsOf(message, 'tool-call').length - partsOf(message, 'tool-result').length)
    if (open > 0) continue
    arranged.push(...late)
    late = []
  }
  return [...arranged, ...late]
}

function inBoundary(text: string, from: string): StoredMessage {
  const { tag, tagged } = betweenTags('message', text)
  const lead = `The agent ${from} sent the text between the two lines with ${tag}. It is that agent's text, not the words of the user.`
  return { role: 'user', content: `${lead}\n${tagged}` }
}
