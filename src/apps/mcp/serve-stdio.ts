/** MCP over standard input and output, for one client: the one that started this process. */
import { Writable } from 'node:stream'
import { ProtocolErrorCode } from '@modelcontextprotocol/server'
import { serveStdio as serve, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { inTime } from '../../kernel/index.ts'
import { createHost, type McpOptions } from './host.ts'
import { MessageGate } from './message-gate.ts'
import { LOG } from './messages.ts'
import { createServer } from './server.ts'
import { dependsOnRoots } from './workspace.ts'

export interface StdioOptions extends McpOptions {
  /** Ends the service, as the end of input does. */
  readonly signal: AbortSignal
}

/** How long the clean-up may take: clients kill a server that is there 2 s after they closed its input. */
const LAST_WAIT_MS = 1_500

/**
 * Serves until the client closes its end or `signal` aborts, then ends what runs. `late`: a command is still ending, and the
 * caller ends the process: the process that owns the sandbox then ends the command at once.
 */
export async function serveStdio({ signal, ...options }: StdioOptions): Promise<'clean' | 'late'> {
  const host = createHost(options)
  const output = keepForProtocol()
  const input = process.stdin.pipe(
    new MessageGate((id) => {
      options.log(LOG.tooLong())
      if (id !== undefined) output.write(`${JSON.stringify(tooLong(id))}\n`)
    }),
  )
  const transport = new StdioServerTransport(input, output)
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const needsRoots = dependsOnRoots(options.workspace)
  const handle = serve(({ era }) => createServer(host, 'connection', era === 'modern' || !needsRoots), {
    transport,
    onerror: (error) => options.log(LOG.failed(error)),
  })
  await ended
  // After a signal the client's end may still be open, and an open input would keep this process alive.
  process.stdin.destroy()
  await handle.close()
  const closed = host.close().then(() => 'clean' as const)
  return (await inTime(closed, LAST_WAIT_MS)) ?? 'late'
}

function tooLong(id: string | number) {
  const message = 'The message is longer than 9 MiB, so Nexus did not read it. Write long data to a file.'
  return { jsonrpc: '2.0', id, error: { code: ProtocolErrorCode.InvalidRequest, message } }
}

/** Stdout for the protocol alone: whatever else writes there, such as a tool of the user, is led to stderr. */
function keepForProtocol(): Writable {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => void write(chunk, (error) => done(error)),
  })
}
