import { join, resolve } from 'node:path'
import { findWorkspace } from '../../../config/index.ts'
import { openLocal } from '../../../local/index.ts'
import { type McpOptions, serveHttp, serveStdio } from '../../mcp/index.ts'
import { type Answer, choiceFlag, CHOICES, type Invocation, numberFlag, stringFlag } from '../command.ts'
import { places } from '../open.ts'

/** Most characters of the list of skills: clients cut the description of a tool at 2,048. */
const INDEX_CHARS = 1_500
const DEFAULT_PORT = 8766

/** `nexus mcp`: the tools and skills of an agent for the client that started this process, or over HTTP. */
export async function serveMcp(invocation: Invocation): Promise<Answer> {
  const options = { ...mcpOptions(invocation), signal: invocation.signal }
  if (invocation.flags['http'] === true) await overHttp(invocation, options)
  else if ((await serveStdio(options)) === 'late') process.exit(0)
  return {}
}

/** `workspace`: the only directory that is served; default that of the flags or of the client. */
export function mcpOptions(invocation: Invocation, workspace?: string): McpOptions {
  const { environment, cwd, terminal, signal, version } = invocation
  const { configPath, ...asked } = places(invocation)
  const sandbox = choiceFlag(invocation, 'sandbox', CHOICES.sandbox)
  return {
    version,
    agentId: stringFlag(invocation, 'agent'),
    workspace: {
      given: workspace ?? stringFlag(invocation, 'workspace'),
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
  const port = numberFlag(invocation, 'port', { from: 0, to: 65_535, example: DEFAULT_PORT }) ?? DEFAULT_PORT
  const keyOf = (of: number): string => join(environment.nexusHome, 'apikeys', `${of}.key`)
  await serveHttp({
    ...options,
    port,
    keyFile: flags['no-auth'] === true ? undefined : keyOf,
    onReady: ({ url, keyFile }) => {
      const key =
        keyFile && `The key is in ${terminal.shortPath(keyFile)}. Clients send it as: Authorization: Bearer KEY`
      terminal.note(`MCP at ${url}\n${key ?? 'Every program on this machine may call it (--no-auth).'}`)
    },
  })
}
