import { isJsonObject } from '../kernel/index.ts'
import type { StoredMessage } from '../store/index.ts'
import type { TurnContext } from './turn-context.ts'

/** The words of one answer as they come, told to the listener without secrets. */
export interface Spoken {
  /** What was told. */
  readonly text: string
  /** Whether anything came, be it held back. */
  readonly hasBegun: boolean
  add(text: string): void
  /** Tells what was held back as the possible beginning of a secret, blanked when the answer was cut there. */
  end(isCut: boolean): void
}

export function createSpoken({ agent, emit }: Pick<TurnContext, 'agent' | 'emit'>): Spoken {
  const stream = agent.redactStream()
  let told = ''
  let hasBegun = false
  const tell = (text: string): void => {
    if (text === '') return
    told += text
    emit({ type: 'text-delta', text })
  }
  return {
    get text() {
      return told
    },
    get hasBegun() {
      return hasBegun
    },
    add(text) {
      hasBegun ||= text !== ''
      tell(stream.push(text))
    },
    end: (isCut) => tell(stream.end(isCut)),
  }
}

/** A message that ends where the answer was cut, without the beginning of a secret there. What is whole is blanked when it is stored. */
export function withoutCutSecret(message: StoredMessage, agent: TurnContext['agent']): StoredMessage {
  if (!Array.isArray(message.content)) return message
  const last = message.content.at(-1)
  if (!isJsonObject(last) || typeof last.text !== 'string') return message
  const stream = agent.redactStream()
  const text = stream.push(last.text) + stream.end(true)
  return { ...message, content: [...message.content.slice(0, -1), { ...last, text }] }
}
