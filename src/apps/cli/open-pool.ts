/** open-pool: the agents of this machine, for commands. */
import { createPool, type Pool } from '../../agents/pool/index.ts'
import type { ModelChoice } from '../../agents/turns/index.ts'
import type { Local } from '../../local/index.ts'
import type { Invocation } from './command.ts'
import { chooseModel } from './model/choose-model.ts'
import { openFor, type OpenOptions } from './open.ts'
import { otherServers } from './other-servers.ts'
import { eventLine } from './show/agents.ts'
import type { Terminal } from './terminal.ts'

/** A pool over a local runtime. The model is looked for when an agent first asks it. */
export function poolOver(local: Local, invocation: Invocation, known?: ModelChoice): Pool {
  const { runtime, config } = local
  let chosen: Promise<ModelChoice> | undefined
  const model = (): Promise<ModelChoice> => (chosen ??= chooseModel(local, invocation))
  const openModel = (name: string): Promise<ModelChoice> =>
    chooseModel(local, { ...invocation, flags: { ...invocation.flags, model: name } })
  return createPool({ runtime, config, model: known ?? model, openModel, others: otherServers(local, invocation) })
}

/** Notes what other agents than this one do, until it is disposed of. */
export function noteOthers(pool: Pool, id: string, terminal: Terminal): Disposable {
  const stop = pool.listen((event) => {
    const line = event.agentId === id ? undefined : eventLine(event, terminal.besideDocument())
    if (line !== undefined) terminal.note(line)
  })
  return { [Symbol.dispose]: stop }
}

/** Opens runtime and pool, and closes both when the work is over. */
export async function withPool<T>(
  invocation: Invocation,
  options: OpenOptions,
  work: (pool: Pool, local: Local) => Promise<T>,
): Promise<T> {
  await using local = await openFor(invocation, options)
  const pool = poolOver(local, invocation)
  try {
    return await work(pool, local)
  } finally {
    await pool.close()
  }
}
