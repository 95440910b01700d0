/** runner: one detached process per policy. When its channel closes, it ends everything and then itself. */
import type { ToRunner } from './protocol.ts'
import { Runner } from './runner.ts'

if (process.getuid?.() === 0) throw new Error('the runner never runs as uid 0')
process.umask(0o077)
const runner = new Runner()
process.on('message', (message: ToRunner) => runner.receive(message))
process.on('disconnect', () => void runner.shutDown())
// A terminal's Ctrl-C or a service stop reaches the parent; it decides and closes the channel.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
