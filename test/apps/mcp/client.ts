import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { Client, type ClientOptions } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Place, StartOptions } from '../cli/nexus.ts'

/** Both eras of the protocol, as the SDK's client is told to speak them. */
export const ERAS = {
  '2025-11-25': { mode: 'legacy' },
  '2026-07-28': { mode: { pin: '2026-07-28' } },
} as const

export type Era = keyof typeof ERAS

export interface ConnectOptions extends StartOptions {
  readonly era?: Era
  readonly args?: readonly string[]
  readonly capabilities?: ClientOptions['capabilities']
  readonly listChanged?: ClientOptions['listChanged']
  /** Before it connects. */
  readonly prepare?: (client: Client) => void
}

type Test = { after: (fn: () => Promise<void>) => void }

/** The SDK's own client over a real `nexus mcp`. */
export async function connect(t: Test, place: Place, options: ConnectOptions = {}) {
  const { era = '2026-07-28', args = [], capabilities = {}, listChanged, prepare } = options
  const [command = '', ...line] = place.line(['mcp', ...args])
  const { cwd, env } = place.options(options) as { cwd: string; env: Record<string, string> }
  const transport = new StdioClientTransport({ command, args: line, cwd, env, stderr: 'pipe' })
  let log = ''
  transport.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const versionNegotiation = ERAS[era]
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation, capabilities, ...(listChanged && { listChanged }) },
  )
  prepare?.(client)
  await client.connect(transport)
  t.after(() => client.close())
  return { client, transport, log: () => log }
}

type Message = {
  readonly id?: number | string | null
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** A client that writes what it wants: lines to `nexus mcp`, and the messages that come back. */
export class RawClient {
  readonly child: ChildProcess
  readonly received: Message[] = []
  /** Lines on stdout that are no JSON. */
  readonly noise: string[] = []

  constructor(t: Test, place: Place, options: StartOptions & { readonly args?: readonly string[] } = {}) {
    this.child = place.start(['mcp', ...(options.args ?? [])], { ...options, stdin: 'pipe' })
    this.child.stdin?.on('error', () => undefined)
    const lines = createInterface({ input: this.child.stdout as NodeJS.ReadableStream })
    lines.on('line', (line) => {
      try {
        this.received.push(JSON.parse(line) as Message)
      } catch {
        this.noise.push(line)
      }
    })
    t.after(async () => void this.child.kill('SIGKILL'))
  }

  write(text: string): void {
    this.child.stdin?.write(text)
  }

  send(message: Message | Record<string, unknown>): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  /** The first message that fits, once it is there. */
  async wait(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.received.find(fits)
      if (found) return found
      if (this.child.exitCode !== null) throw new Error(`nexus mcp ended with ${this.child.exitCode}`)
      await sleep(10)
    }
  }

  /** The answer to a request with that id. */
  answer(id: number | string): Promise<Message> {
    return this.wait((message) => message.id === id && message.method === undefined)
  }

  async initialize(capabilities: Record<string, unknown> = {}): Promise<Message> {
    const clientInfo = { name: 'raw', version: '1' }
    this.send({ id: 'init', method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities, clientInfo } })
    const answer = await this.answer('init')
    this.send({ method: 'notifications/initialized' })
    return answer
  }
}

/** The calls that the state of that place has, oldest first. */
export function ledgerOf(place: Place) {
  const database = new DatabaseSync(join(place.home, 'state/nexus.db'), { readOnly: true })
  const rows = database.prepare('select call, state, outcome, decision from ledger_entries order by seq').all()
  database.close()
  return rows.map(({ call, state, outcome, decision }) => ({
    ...(JSON.parse(String(call)) as { id: string; origin: string; tool: string; arguments: Record<string, unknown> }),
    state,
    outcome: String(outcome),
    decision: String(decision),
  }))
}

/** A real `nexus mcp --http` on a free port, with its key. */
export async function startHttp(t: Test, place: Place, args: readonly string[]) {
  const child = place.start(['mcp', '--http', '--port', '0', ...args])
  t.after(async () => void child.kill('SIGKILL'))
  let log = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (log += chunk))
  await until(() => /MCP at \S+\n.+\n/.test(log) || child.exitCode !== null)
  const [, url = ''] = /MCP at (\S+)/.exec(log) ?? []
  if (url === '') throw new Error(log)
  const port = Number(new URL(url).port)
  const file = join(place.home, 'apikeys', `${port}.key`)
  const key = args.includes('--no-auth') ? '' : readFileSync(file, 'utf8')
  return { child, url, port, key, log: () => log }
}

/** Ids of the processes whose command line contains the text. */
export function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        name !== String(process.pid) &&
        readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text)
      )
    } catch {
      return false // gone meanwhile, or not ours to read
    }
  })
}

/** Waits up to a minute, so that a test that waits for nothing fails instead of stopping the run. */
export async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 60_000; !(await check()); await sleep(20))
    if (performance.now() > end) throw new Error(`not within a minute: ${check}`)
}
