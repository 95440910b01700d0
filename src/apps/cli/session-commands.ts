/** session-commands: the rows of the table for sessions, for questions about calls, and for the store of both. */
import { CHOICES, type Command } from './command.ts'
import { ANSWERS, flag, JSON_OPTION, MODEL, option, SANDBOX, WHERE } from './options.ts'

export const SESSION_COMMANDS: readonly Command[] = [
  {
    name: 'sessions list',
    summary: 'earlier sessions of this workspace',
    options: { all: flag('list the sessions of all workspaces'), ...JSON_OPTION },
    examples: ['nexus sessions list', 'nexus sessions list --all'],
    load: async () => (await import('./commands/sessions.ts')).listSessions,
  },
  {
    name: 'sessions show',
    summary: 'what was said and done in a session',
    usage: '<id>',
    names: 'sessions',
    options: {
      output: option('ID', 'print the whole of an output that was cut for the model'),
      ...JSON_OPTION,
    },
    examples: ['nexus sessions show 0196f3', 'nexus sessions show --output 0196f3 > all.txt'],
    load: async () => (await import('./commands/sessions.ts')).showSession,
  },
  {
    name: 'sessions resume',
    summary: 'go on with a turn whose process ended while a person was asked, or run a message that it left',
    usage: '<session or turn>',
    names: 'sessions',
    options: { ...MODEL, ...WHERE, ...SANDBOX, ...ANSWERS, ...JSON_OPTION },
    examples: ['nexus sessions resume 0196f3'],
    load: async () => (await import('./commands/run.ts')).resumeSession,
  },
  {
    name: 'sessions cancel',
    summary: 'cancel a message that waits, or stop the turn that runs',
    usage: '<turn>',
    options: JSON_OPTION,
    examples: ['nexus sessions cancel 0196f3'],
    load: async () => (await import('./commands/sessions.ts')).cancelTurn,
  },
  {
    name: 'calls',
    summary: 'the newest calls of all workspaces, also those without a session: MCP clients, nexus skills run',
    options: {
      origin: option('ORIGIN', 'only calls that came from the model, mcp, cli (nexus skills run), library or rpc', {
        choices: CHOICES.origin,
      }),
      agent: { ...WHERE.agent, help: 'only calls of this agent' },
      limit: option('N', 'how many at most (default 20)'),
      ...JSON_OPTION,
    },
    examples: ['nexus calls', 'nexus calls --origin mcp --limit 50'],
    load: async () => (await import('./commands/sessions.ts')).listCalls,
  },
  {
    name: 'approvals list',
    summary: 'calls that wait for an answer, and answers that are remembered',
    options: JSON_OPTION,
    examples: ['nexus approvals list'],
    load: async () => (await import('./commands/approvals.ts')).listApprovals,
  },
  {
    name: 'approvals answer',
    summary: 'allow or deny a call of another process',
    usage: '<id>',
    options: {
      allow: flag('let it run'),
      deny: flag('refuse it'),
      remember: option(
        'KIND',
        'with --allow: do not ask again for this command (exact), or for the beginning shown (prefix)',
        { choices: CHOICES.remember },
      ),
      ...JSON_OPTION,
    },
    examples: ['nexus approvals answer 0196f3 --allow', 'nexus approvals answer 0196f3 --allow --remember exact'],
    load: async () => (await import('./commands/approvals.ts')).answerApproval,
  },
  {
    name: 'approvals forget',
    summary: 'end a remembered answer',
    usage: '<id>',
    options: JSON_OPTION,
    examples: ['nexus approvals forget 0196f3'],
    load: async () => (await import('./commands/approvals.ts')).forgetApproval,
  },
  {
    name: 'db status',
    summary: 'which database keeps sessions and calls, its schema and size, or why it cannot be used',
    options: JSON_OPTION,
    examples: ['nexus db status'],
    load: async () => (await import('./commands/db.ts')).dbStatus,
  },
  {
    name: 'db migrate',
    summary: 'bring the schema of the database up to date',
    options: JSON_OPTION,
    examples: ['nexus db migrate'],
    load: async () => (await import('./commands/db.ts')).dbMigrate,
  },
]
