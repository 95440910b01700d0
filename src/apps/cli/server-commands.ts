/** server-commands: the rows of the table for the server of agents. */
import { CHOICES, type Rows } from './command.ts'
import { MODEL, option, SANDBOX, WHERE } from './options.ts'

const PORT = { port: option('PORT', 'the port (default 8765, or server.port of nexus.yaml)') }

export const SERVER_COMMANDS: Rows = {
  serve: {
    isService: true,
    reloads: true,
    summary: 'serve agents to programs: JSON-RPC over HTTP with a key, their events, and MCP',
    options: {
      ...PORT,
      host: option('ADDRESS', 'listen there (default 127.0.0.1); another than loopback needs server.tls'),
      'log-level': option('LEVEL', 'what stdout gets, a JSON object a line: debug, info (default), warn or error', {
        choices: CHOICES.level,
      }),
      ...MODEL,
      ...WHERE,
      ...SANDBOX,
    },
    examples: ['nexus serve', 'nexus serve --port 8770 --model openai/gpt-5.1'],
    load: async () => (await import('./commands/serve.ts')).serveAgents,
  },
  shutdown: {
    summary: 'end the server of this workspace, or the one at a port; its agents are saved',
    options: PORT,
    examples: ['nexus shutdown', 'nexus shutdown --port 8770'],
    load: async () => (await import('./commands/server.ts')).shutdownServer,
  },
  'agent detect': {
    summary: 'what listens on a port: a server of Nexus, something else, or nothing',
    options: PORT,
    examples: ['nexus agent detect', 'nexus agent detect --port 8770 --json'],
    load: async () => (await import('./commands/server.ts')).detect,
  },
}
