import { CHOICES, type Rows } from './command.ts'
import { flag, option, SANDBOX, WHERE } from './options.ts'

const NAME = { name: option('NAME', 'the name of the entry (default nexus)') }

const SCOPE = {
  scope: option('SCOPE', 'user (default): the file of the user; project: that of the project, which its team shares', {
    choices: CHOICES.scope,
  }),
  ...NAME,
  force: flag('also replace or remove an entry that does not start Nexus'),
  'dry-run': flag('show what would change, and write nothing'),
}

/** The commands for clients of the Model Context Protocol: the server, and the entries of clients that start it. */
export const MCP_COMMANDS: Rows = {
  mcp: {
    isService: true,
    summary: 'serve the tools and skills of an agent to an MCP client, which starts this command',
    options: {
      workspace: option(
        'DIR',
        'the project (default: CLAUDE_PROJECT_DIR, a root of the client, or the working directory)',
      ),
      http: flag('serve HTTP on 127.0.0.1, with a key, to clients that connect to a running server'),
      port: option('PORT', 'with --http: the port (default 8766)'),
      'no-auth': flag('with --http: no key; every program on this machine may call'),
      ...WHERE,
      ...SANDBOX,
    },
    examples: ['nexus mcp', 'nexus mcp --http --port 8766', 'nexus mcp --workspace ~/project --agent reviewer'],
    load: async () => (await import('./commands/mcp.ts')).serveMcp,
  },
  'mcp install': {
    summary: 'add Nexus to the MCP servers of a client: claude-code, cursor, vscode, codex …',
    usage: '<client>',
    choices: CHOICES.client,
    options: { ...SCOPE, workspace: option('DIR', 'always serve this project'), agent: WHERE.agent },
    examples: ['nexus mcp install claude-code', 'nexus mcp install cursor --scope project --dry-run'],
    load: async () => (await import('./commands/mcp-clients.ts')).installInClient,
  },
  'mcp uninstall': {
    summary: 'remove Nexus from the MCP servers of a client',
    usage: '<client>',
    choices: CHOICES.client,
    options: SCOPE,
    examples: ['nexus mcp uninstall claude-code'],
    load: async () => (await import('./commands/mcp-clients.ts')).uninstallFromClient,
  },
  'mcp check': {
    summary: 'start Nexus as each client would, and name what is wrong where it gets no answer',
    usage: '[client]',
    choices: CHOICES.client,
    options: { ...NAME },
    examples: ['nexus mcp check', 'nexus mcp check claude-code'],
    load: async () => (await import('./commands/mcp-clients.ts')).checkClients,
  },
}
