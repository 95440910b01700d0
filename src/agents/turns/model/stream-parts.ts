/** stream-parts: what is taken out of a provider's stream before the SDK reads it. */
import type { LanguageModelMiddleware } from 'ai'
import { toSafeLine } from '../../../kernel/index.ts'

type StreamPart =
  Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapStream']>>> extends { stream: ReadableStream<infer Part> }
    ? Part
    : never

/**
 * Takes the provider's warnings out of the stream, and cuts arguments that are nested too deeply. The SDK would print them, and its switch for that is a global that
 * belongs to the program we run in.
 */
export function takeWarnings(into: string[]): LanguageModelMiddleware {
  return {
    wrapStream: async ({ doStream }) => {
      const { stream, ...rest } = await doStream()
      const quiet = new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          if (part.type === 'tool-call') return controller.enqueue({ ...part, input: shallow(part.input) })
          if (part.type !== 'stream-start') return controller.enqueue(part)
          into.push(...part.warnings.map(describeWarning))
          controller.enqueue({ ...part, warnings: [] })
        },
      })
      return { ...rest, stream: stream.pipeThrough(quiet) }
    },
  }
}

/** Deeper arguments exhaust the stack of the SDK; cut, they are no JSON any more and are answered as unreadable. */
const MAX_DEPTH = 100

function shallow(json: string): string {
  let depth = 0
  let isText = false
  for (let index = 0; index < json.length; index++) {
    const character = json[index]
    if (character === '"') isText = !isText
    else if (isText) index += character === '\\' ? 1 : 0
    else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    if (depth > MAX_DEPTH) return json.slice(0, Math.min(index, 200))
  }
  return json
}

function describeWarning(warning: Extract<StreamPart, { type: 'stream-start' }>['warnings'][number]): string {
  if (warning.type === 'other') return toSafeLine(warning.message)
  return toSafeLine(
    'feature' in warning ? `${warning.feature}: ${warning.details ?? 'not supported'}` : JSON.stringify(warning),
  )
}
