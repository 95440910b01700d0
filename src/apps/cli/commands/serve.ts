import { join } from 'node:path'
import { createPool, type Pool } from '../../../agents/pool/index.ts'
import { assertValid } from '../../../config/index.ts'
import { createRedactor, inTime } from '../../../kernel/index.ts'
import { mountMcp } from '../../mcp/index.ts'
import { type Closing, createLog, type Generation, serve, type Serving } from '../../server/index.ts'
import { type Answer, choiceFlag, CHOICES, type Invocation, stringFlag } from '../command.ts'
import { chooseModel } from '../model/choose-model.ts'
import { loadHere, openFor, warnUnconfined } from '../open.ts'
import { otherServers } from '../open-pool.ts'
import { mcpOptions } from './mcp.ts'
import { portFlag } from './server.ts'

/** `nexus serve`: logs on stdout, words for people on stderr. Ends with Ctrl-C and SIGTERM; SIGHUP reads the configuration again. */
export async function serveAgents(invocation: Invocation): Promise<Answer> {
  const { environment, terminal, signal, version } = invocation
  const secrets: string[] = []
  const redact = createRedactor(secrets)
  const log = await createLog({
    level: choiceFlag(invocation, 'log-level', CHOICES.level) ?? 'info',
    write: (line) => process.stdout.write(line),
    redact,
  })
  const { server, telemetry } = await settingsOf(invocation)
  await serve({
    version,
    settings: server,
    telemetry,
    log,
    signal,
    keyFile: (port) => join(environment.nexusHome, 'apikeys', `${port}.key`),
    open: (serving) => openGeneration(invocation, serving, secrets),
    onReload: (reload) => {
      process.on('SIGHUP', reload)
      return () => process.off('SIGHUP', reload)
    },
    onReady: ({ url, keyFile }) => {
      terminal.note(`Nexus serves agents at ${url}. The key is in ${terminal.shortPath(keyFile)}.`)
      terminal.note(`MCP clients use ${url}/mcp. Stop it with Ctrl-C, or: nexus shutdown`)
    },
  })
  return {}
}

/** Flags weigh more than settings. */
async function settingsOf(invocation: Invocation) {
  const loaded = await loadHere(invocation)
  assertValid(loaded)
  const { server, telemetry } = loaded.config
  const port = portFlag(invocation) ?? server.port
  return { telemetry, server: { ...server, port, host: stringFlag(invocation, 'host') ?? server.host } }
}

async function openGeneration(invocation: Invocation, serving: Serving, secrets: string[]): Promise<Generation> {
  const local = await openFor(invocation, {
    needsTrust: true,
    isLongRunning: true,
    // A person answers through the server, wherever they are.
    approve: undefined,
    waitForAnswers: true,
  })
  try {
    warnUnconfined(local, invocation)
    secrets.push(...local.secrets.values)
    const model = await chooseModel(local, invocation)
    const { runtime, config, workspace } = local
    const pool = createPool({
      runtime,
      config,
      model,
      serving,
      others: otherServers(local, invocation),
      openModel: (name) => chooseModel(local, { ...invocation, flags: { ...invocation.flags, model: name } }),
    })
    const mcp = await mountMcp(mcpOptions(invocation, workspace.directory))
    // The end of the server comes while the one after a reload still waits.
    let [closing, closed]: (Promise<void> | undefined)[] = []
    return {
      served: { pool, runtime, config, workspace: workspace.directory },
      mcp,
      async close(how) {
        closing ??= mcp.close()
        await closing
        await drained(pool, how)
        closed ??= local.close()
        await closed
      },
    }
  } catch (error) {
    await local.close()
    throw error
  }
}

/** Lets turns end, then cancels them. At the end of the server, questions stay open for the next one. */
async function drained(pool: Pick<Pool, 'close'>, { drainMs, isEnd }: Closing): Promise<void> {
  const leavesQuestions = isEnd
  const draining = pool.close({ drain: true, leavesQuestions })
  await inTime(draining, drainMs)
  await pool.close({ leavesQuestions })
  await draining
}
