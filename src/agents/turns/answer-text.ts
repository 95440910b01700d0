import { isJsonObject } from '../../kernel/index.ts'
import type { StoredMessage } from '../../store/index.ts'
import type { TurnContext } from './turn-context.ts'

/** The words of one answer as they come, sent to the listener without secrets. */
export interface AnswerText {
  /** The text that was sent. */
  readonly text: string
  /** Whether anything came, even if it is not sent yet. */
  readonly hasBegun: boolean
  add(text: string): void
  /** Sends what was kept back as the possible beginning of a secret, redacted when the answer was cut there. */
  end(isCut: boolean): void
}

export function createAnswerText({ agent, emit }: Pick<TurnContext, 'agent' | 'emit'>): AnswerText {
  const stream = agent.redactStream()
  let sent = ''
  let hasBegun = false
  const send = (text: string): void => {
    if (text === '') return
    sent += text
    emit({ type: 'text-delta', text })
  }
  return {
    get text() {
      return sent
    },
    get hasBegun() {
      return hasBegun
    },
    add(text) {
      hasBegun ||= text !== ''
      send(stream.push(text))
    },
    end: (isCut) => send(stream.end(isCut)),
  }
}

/** The model's reasoning as it comes, without secrets. */
export interface Thoughts {
  begin(): void
  add(text: string): void
  end(): void
}

export function createThoughts({ agent, emit }: Pick<TurnContext, 'agent' | 'emit'>): Thoughts {
  let stream = agent.redactStream()
  let isActive = false
  const send = (text: string): void => {
    if (text !== '') emit({ type: 'reasoning-delta', text })
  }
  const begin = (): void => {
    if (isActive) return
    isActive = true
    stream = agent.redactStream()
    emit({ type: 'reasoning', isActive })
  }
  return {
    begin,
    add(text) {
      begin()
      send(stream.push(text))
    },
    end() {
      if (!isActive) return
      isActive = false
      send(stream.end(true))
      emit({ type: 'reasoning', isActive })
    },
  }
}

/** A message that ends where the answer was cut, without the beginning of a secret there. Whole secrets are redacted when it is stored. */
export function withoutCutSecret(message: StoredMessage, agent: TurnContext['agent']): StoredMessage {
  if (!Array.isArray(message.content)) return message
  const last = message.content.at(-1)
  if (!isJsonObject(last) || typeof last.text !== 'string') return message
  const stream = agent.redactStream()
  const text = stream.push(last.text) + stream.end(true)
  return { ...message, content: [...message.content.slice(0, -1), { ...last, text }] }
}
