import type { Command } from './command.ts'
import { SANDBOX, WHERE } from './options.ts'

/** The commands that serve clients of the Model Context Protocol, in the order of `nexus --help`. */
export const MCP_COMMANDS: readonly Command[] = [
  {
    name: 'mcp',
    isService: true,
    summary: 'serve the tools and skills of an agent to an MCP client, which starts this command',
    options: {
      workspace: {
        type: 'string',
        value: 'DIR',
        help: 'the project (default: CLAUDE_PROJECT_DIR, a root of the client, or the working directory)',
      },
      http: {
        type: 'boolean',
        help: 'serve HTTP on 127.0.0.1, with a key, to clients that connect to a running server',
      },
      port: { type: 'string', value: 'PORT', help: 'with --http: the port (default 8766)' },
      'no-auth': { type: 'boolean', help: 'with --http: no key; every program on this machine may call' },
      ...WHERE,
      ...SANDBOX,
    },
    examples: ['nexus mcp', 'nexus mcp --http --port 8766', 'nexus mcp --workspace ~/project --agent reviewer'],
    load: async () => (await import('./commands/mcp.ts')).serveMcp,
  },
]
