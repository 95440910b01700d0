import { resolve } from 'node:path'
import { openLocal } from '../../local/index.ts'
import { serveStdio } from '../../mcp/index.ts'
import { choiceFlag, CHOICES, type Invocation, stringFlag } from '../command.ts'
import { skillsDirs } from '../open.ts'

/** Most characters of the list of skills: clients cut the description of a tool at 2,048. */
const INDEX_CHARS = 1_500

/** `nexus mcp`: the tools and skills of an agent for the client that started this process. */
export async function serveMcp(invocation: Invocation): Promise<number> {
  const { environment, cwd, terminal, signal } = invocation
  const configPath = stringFlag(invocation, 'config')
  const sandbox = choiceFlag(invocation, 'sandbox', CHOICES.sandbox)
  const directories = skillsDirs(invocation)
  const end = await serveStdio({
    version: invocation.version,
    agentId: stringFlag(invocation, 'agent'),
    workspace: {
      given: stringFlag(invocation, 'workspace'),
      projectDirectory: environment.get('CLAUDE_PROJECT_DIR'),
      ...{ cwd, home: environment.home },
    },
    open: (directory) =>
      openLocal({
        ...{ cwd: directory, environment, skillsDirs: directories, signal },
        ...(configPath !== undefined && { configPath: resolve(cwd, configPath) }),
        ...(sandbox !== undefined && { sandbox }),
        ...(invocation.flags['trust'] === true && { trusted: true }),
        prompt: { style: 'list', budgetChars: INDEX_CHARS },
      }),
    log: terminal.note,
    signal,
  })
  if (end === 'late') process.exit(0)
  return 0
}
