/** check: starts a server as a client would, asks it for its tools, and names what is wrong when there is no answer. */
import { type ProgramRequest, runProgram } from '../../machine/host/index.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownValue, toSafeLine } from '../../kernel/index.ts'

export type ServerCheck =
  | {
      readonly type: 'answered'
      readonly name: string
      readonly protocol: string
      readonly tools: number
      readonly ms: number
    }
  | { readonly type: 'fault'; readonly code: string; readonly message: string; readonly fix: string }

/** The newest version that starts with `initialize`; a server may answer with another. */
const PROTOCOL = '2025-11-25'
const TIMEOUT_MS = 20_000
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024
const MAX_SAID = 2_000

/** Rejects only with the reason of an aborted signal. */
export async function checkServer({
  timeoutMs = TIMEOUT_MS,
  ...start
}: Pick<ProgramRequest, 'command' | 'environment' | 'cwd' | 'signal'> & {
  readonly timeoutMs?: number
}): Promise<ServerCheck> {
  const began = performance.now()
  const result = await runProgram({
    ...start,
    timeoutMs,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    maxErrorBytes: MAX_SAID,
    input: REQUESTS.map((request) => `${JSON.stringify(request)}\n`).join(''),
    // The server ends when its input does, so that comes after the last answer.
    endInputAfter: (stdout) => {
      const { messages, noise } = messagesIn(stdout)
      return noise !== undefined || REQUEST_IDS.every((id) => answerTo(id, messages) !== undefined)
    },
  })
  const { messages, noise } = messagesIn(result.stdout)
  const [initialized, listed] = REQUEST_IDS.map((id) => answerTo(id, messages))
  if (noise !== undefined)
    return fault(
      'mcp-noise',
      `The server wrote a line to stdout that is not an MCP message: ${noise}`,
      'Remove what writes there: a shell profile, a wrapper or a version manager.',
    )
  if (initialized && listed) return judged(initialized, listed, Math.round(performance.now() - began))
  const stderr = Buffer.from(result.stderr ?? []).toString('utf8')
  const said = toSafeLine(stderr.trim())
  const wrote = said === '' ? '' : ` It wrote: ${said}`
  if (result.type === 'ended') {
    const how = result.signal === undefined ? `exit code ${result.code}` : `signal ${result.signal}`
    return fault(
      'mcp-ended',
      `The server ended before it answered: ${how}.${wrote || ' It wrote nothing to stderr.'}`,
      'Correct what it reports, then check again.',
    )
  }
  if (result.reason === 'time')
    return fault(
      'mcp-silent',
      `The server did not answer within ${timeoutMs / 1_000} s.${wrote}`,
      'Start the command of the entry in a terminal, and check what it waits for.',
    )
  return fault(
    'mcp-not-started',
    `The client cannot start ${toSafeLine(start.command[0] ?? '')}: it ${result.why}.`,
    'Write the absolute path of the program. nexus mcp install does that.',
  )
}

const REQUESTS: readonly JsonObject[] = [
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: 'nexus-mcp-check', version: '1' } },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 2, method: 'tools/list' },
]
const REQUEST_IDS = [1, 2]

interface Written {
  readonly messages: readonly JsonObject[]
  /** The first line that is no message. */
  readonly noise?: string
}

/** The last line is left out: it may not be whole yet. */
function messagesIn(stdout: Uint8Array = new Uint8Array()): Written {
  const lines = Buffer.from(stdout).toString('utf8').split('\n')
  const messages: JsonObject[] = []
  for (const line of lines.slice(0, -1).filter((each) => each.trim() !== '')) {
    const message = parsed(line)
    if (message === undefined) return { messages, noise: toSafeLine(line).slice(0, MAX_SHOWN) }
    messages.push(message)
  }
  return { messages }
}

const MAX_SHOWN = 200

function parsed(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) && value['jsonrpc'] === '2.0' ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

function answerTo(id: number, messages: readonly JsonObject[]): JsonObject | undefined {
  return messages.find((message) => message['id'] === id && !Object.hasOwn(message, 'method'))
}

function judged(initialized: JsonObject, listed: JsonObject, ms: number): ServerCheck {
  for (const { error } of [initialized, listed])
    if (isJsonObject(error)) {
      const why = toSafeLine(textOf(error['message'])).slice(0, MAX_SHOWN)
      return fault('mcp-refused', `The server refused the client: ${why}`, 'Correct what it reports, then check again.')
    }
  const { result } = initialized
  const about = isJsonObject(result) ? result : {}
  const info = ownValue(about, 'serverInfo')
  const tools = isJsonObject(listed['result']) ? ownValue(listed['result'], 'tools') : undefined
  return {
    type: 'answered',
    name: toSafeLine(textOf(isJsonObject(info) ? info['name'] : undefined)),
    protocol: toSafeLine(textOf(about['protocolVersion'])),
    tools: Array.isArray(tools) ? tools.length : 0,
    ms,
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function fault(code: string, message: string, fix: string): ServerCheck {
  return { type: 'fault', code, message, fix }
}
