/** Signs of life while a call runs: clients stop waiting after 60 s without one. */
import type { ServerContext } from '@modelcontextprotocol/server'
import { type OnOutput, toSafeLine } from '../../kernel/index.ts'

const INTERVAL_MS = 5_000
/** Between two that are sent for output. */
const OUTPUT_INTERVAL_MS = 1_000
const MAX_MESSAGE_CHARS = 200

export interface Progress {
  /** The last line of output becomes the message. */
  readonly onOutput: OnOutput
  end(): void
}

export const NO_PROGRESS: Progress = { onOutput: () => undefined, end: () => undefined }

/** Sends progress at once, with output, and every 5 s, when the client asked for it. */
export function reportProgress({ _meta, notify }: ServerContext['mcpReq'], tool: string): Progress {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return NO_PROGRESS
  const begun = performance.now()
  let sent = 0
  let line = ''
  let lastAt = -OUTPUT_INTERVAL_MS

  function send(): void {
    lastAt = performance.now()
    const seconds = Math.round((lastAt - begun) / 1000)
    const message = line || `${toSafeLine(tool)} runs${seconds === 0 ? '' : ` for ${seconds} s`}`
    const params = { progressToken, progress: ++sent, message }
    // The call matters, not its progress: a client that went away is noticed by the transport.
    void notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }

  send()
  const timer = setInterval(send, INTERVAL_MS)
  return {
    onOutput: ({ text }) => {
      const last = text.trimEnd().split('\n').at(-1) ?? ''
      if (last !== '') line = toSafeLine(last).slice(0, MAX_MESSAGE_CHARS).toWellFormed()
      if (performance.now() - lastAt >= OUTPUT_INTERVAL_MS) send()
    },
    end: () => clearInterval(timer),
  }
}
