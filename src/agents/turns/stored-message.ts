/** stored-message: the parts of a message of a history, and what Nexus noted about it. */
import { isJsonObject, type JsonObject, type JsonValue, sha256 } from '../../kernel/index.ts'
import type { StoredMessage } from '../../store/index.ts'

export function contentOf({ content = [] }: StoredMessage): readonly JsonValue[] {
  return Array.isArray(content) ? content : [content]
}

/** The calls of an answer of the model, or the results in the answer to them. */
export function partsOf(message: StoredMessage, type: 'tool-call' | 'tool-result'): JsonObject[] {
  return contentOf(message).filter((part): part is JsonObject => isJsonObject(part) && part.type === type)
}

/** The notes of Nexus about a message; no provider gets them. */
export function notesOf({ providerOptions }: StoredMessage): JsonObject {
  const notes = isJsonObject(providerOptions) ? providerOptions.nexus : undefined
  return isJsonObject(notes) ? notes : {}
}

/** A text between two lines that it cannot contain, because their tag is made from `seed`, which has the text in it. */
export function betweenTags(
  kind: 'answer' | 'message' | 'conversation',
  text: string,
  seed = text,
): { readonly tag: string; readonly tagged: string } {
  const tag = `${kind}-${sha256(seed).slice(0, 16)}`
  return { tag, tagged: `<${tag}>\n${text}\n</${tag}>` }
}
