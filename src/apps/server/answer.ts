/** Writing answers to a response of Node. */
import type { ServerResponse } from 'node:http'
import type { Refusal } from './refusals.ts'

/** After so long without an answer, blanks show proxies and clients that the connection is alive: JSON may begin with them. */
const QUIET_MS = 10_000

export function sendText(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) {
    response.end(text)
    return
  }
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text)
}

export function refuse(response: ServerResponse, { status, error }: Refusal): void {
  if (response.headersSent) return
  const isEarly = !response.req.complete
  const wait = status === 503 || status === 429 ? { 'retry-after': '1' } : {}
  const text = JSON.stringify({ error })
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...wait,
    // Its body is not read.
    ...(isEarly && { connection: 'close' }),
  })
  response.end(text)
  if (isEarly) response.once('finish', () => response.req.destroy())
}

/** Sends the text when it is there, and a blank every 10 s before. */
export async function sendLate(response: ServerResponse, text: Promise<string>): Promise<void> {
  const timer = setInterval(() => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/json' })
    response.write(' ')
  }, QUIET_MS)
  response.once('close', () => clearInterval(timer))
  const whole = await text
  clearInterval(timer)
  sendText(response, 200, whole)
}
