import { join, resolve } from 'node:path'
import { findWorkspace } from '../../../config/index.ts'
import { openLocal } from '../../../local/index.ts'
import { type McpOptions, serveHttp, serveStdio } from '../../mcp/index.ts'
import { type Answer, choiceFlag, CHOICES, type Invocation, stringFlag } from '../command.ts'
import { errorOf, MESSAGES, NOTES } from '../messages/index.ts'
import { places } from '../open.ts'

/** Most characters of the list of skills: clients cut the description of a tool at 2,048. */
const INDEX_CHARS = 1_500
const DEFAULT_PORT = '8766'
const MAX_PORT = 65_535

/** `nexus mcp`: the tools and skills of an agent for the client that started this process, or over HTTP. */
export async function serveMcp(invocation: Invocation): Promise<Answer> {
  const options = { ...optionsOf(invocation), signal: invocation.signal }
  if (invocation.flags['http'] === true) await overHttp(invocation, options)
  else if ((await serveStdio(options)) === 'late') process.exit(0)
  return {}
}

function optionsOf(invocation: Invocation): McpOptions {
  const { environment, cwd, terminal, signal, version } = invocation
  const { configPath, ...asked } = places(invocation)
  const sandbox = choiceFlag(invocation, 'sandbox', CHOICES.sandbox)
  return {
    version,
    agentId: stringFlag(invocation, 'agent'),
    workspace: {
      given: stringFlag(invocation, 'workspace'),
      projectDirectory: environment.get('CLAUDE_PROJECT_DIR'),
      ...{ cwd, home: environment.home },
    },
    workspaceOf: (directory) => findWorkspace(directory, environment).directory,
    open: (directory) =>
      openLocal({
        ...asked,
        cwd: directory,
        configPath: configPath && resolve(cwd, configPath),
        sandbox,
        signal,
        prompt: { style: 'list', budgetChars: INDEX_CHARS },
      }),
    log: terminal.note,
  }
}

async function overHttp(invocation: Invocation, options: McpOptions & { signal: AbortSignal }): Promise<void> {
  const { environment, terminal, flags } = invocation
  const given = stringFlag(invocation, 'port') ?? DEFAULT_PORT
  if (!/^\d{1,5}$/.test(given) || Number(given) > MAX_PORT)
    throw errorOf(
      'INVALID_ARGUMENT',
      MESSAGES.notANumber('port', given, { range: `a number up to ${MAX_PORT}`, example: DEFAULT_PORT }),
    )
  await serveHttp({
    ...{ ...options, port: Number(given) },
    ...(flags['no-auth'] !== true && { keyFile: (of: number) => join(environment.nexusHome, 'apikeys', `${of}.key`) }),
    onReady: ({ url, keyFile }) => terminal.note(NOTES.mcpAt(url, keyFile && terminal.shortPath(keyFile))),
  })
}
