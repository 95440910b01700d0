/** runner: one detached process per policy. It alone talks to bubblewrap; when its channel closes, it ends everything and itself. */
import { startCommand, type Running } from './command.ts'
import { Profiles } from './profile.ts'
import type { FromRunner, Policy, RunMessage, ToRunner } from './protocol.ts'
import { createTemp, removeTree } from './temp.ts'

if (process.getuid?.() === 0) throw new Error('the runner never runs as uid 0')
process.umask(0o077)

let state: { readonly policy: Policy; readonly profiles: Profiles } | undefined
const running = new Map<number, Running>()
const cancelled = new Set<number>()
let closing = false

process.on('message', (message: ToRunner) => {
  if (message.type === 'configure') void configure(message.policy)
  else if (message.type === 'run') void execute(message)
  else cancel(message.id)
})
process.on('disconnect', () => void shutDown())
// A terminal's Ctrl-C or a service stop reaches the parent; it decides and closes the channel.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

function send(message: FromRunner): void {
  // Without a channel the parent is gone and nobody waits for the answer.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

/** Takes the policy and proves it: a real command under the real profile must begin and end well. */
async function configure(policy: Policy): Promise<void> {
  state = { policy, profiles: new Profiles(policy) }
  const workspace = createTemp(policy.liveDirectory)
  try {
    const end = await confine({
      type: 'run',
      id: 0,
      workspace: { source: workspace, path: workspace },
      readOnly: [],
      startIn: workspace,
      env: {},
      command: 'exit 7',
      timeoutMs: 20_000,
      graceMs: 0,
      maxOutputBytes: 0,
    })
    if (end.exitCode !== 7) throw new Error(`a trial command ended with ${end.end} ${end.exitCode}`)
    send({ type: 'ready' })
  } catch (error) {
    send({ type: 'unavailable', reason: messageOf(error) })
  } finally {
    removeTree(workspace)
  }
}

async function execute(run: RunMessage): Promise<void> {
  try {
    send(await confine(run))
  } catch (error) {
    send({ type: 'failed', id: run.id, reason: messageOf(error) })
  }
}

async function confine(run: RunMessage): Promise<FromRunner & { type: 'end' }> {
  if (!state) throw new Error('the runner has no policy yet')
  const { policy, profiles } = state
  const temp = createTemp(policy.liveDirectory)
  try {
    const args = await profiles.argumentsFor(run, temp)
    if (closing) throw new Error('the runner is ending')
    const command = startCommand(policy.bwrap, args, { run, send })
    running.set(run.id, command)
    if (cancelled.has(run.id)) command.cancel()
    return await command.done
  } finally {
    running.delete(run.id)
    cancelled.delete(run.id)
    removeTree(temp)
  }
}

function cancel(id: number): void {
  const command = running.get(id)
  if (command) command.cancel()
  else cancelled.add(id)
}

/** The parent is gone or wants no more: nothing may outlive it. */
async function shutDown(): Promise<void> {
  closing = true
  const left = [...running.values()]
  for (const command of left) command.kill()
  await Promise.allSettled(left.map((command) => command.done))
  if (state) removeTree(state.policy.liveDirectory)
  process.exit(0)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
