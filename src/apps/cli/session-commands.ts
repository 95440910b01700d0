/** session-commands: the rows of the table for sessions, for questions about calls, and for the store of both. */
import { CHOICES, type Rows } from './command.ts'
import { ANSWERS, flag, MODEL, option, SANDBOX, WHERE } from './options.ts'

export const SESSION_COMMANDS: Rows = {
  'sessions list': {
    summary: 'earlier sessions of this workspace',
    options: { all: flag('list the sessions of all workspaces') },
    examples: ['nexus sessions list', 'nexus sessions list --all'],
    load: async () => (await import('./commands/sessions.ts')).listSessions,
  },
  'sessions show': {
    summary: 'what was said and done in a session',
    usage: '<id>',
    names: 'sessions',
    options: { output: option('ID', 'print the whole of an output that was cut for the model') },
    examples: ['nexus sessions show 0196f3', 'nexus sessions show --output 0196f3 > all.txt'],
    load: async () => (await import('./commands/sessions.ts')).showSession,
  },
  'sessions resume': {
    summary: 'go on with a turn whose process ended while a person was asked, or run a message that it left',
    usage: '<session or turn>',
    names: 'sessions',
    options: { ...MODEL, ...WHERE, ...SANDBOX, ...ANSWERS },
    examples: ['nexus sessions resume 0196f3'],
    load: async () => (await import('./commands/run.ts')).resumeSession,
  },
  'sessions compact': {
    summary: 'let the model sum up a session, so that later turns send less; the messages are kept',
    usage: '<session>',
    names: 'sessions',
    options: { ...MODEL, ...WHERE },
    examples: ['nexus sessions compact 0196f3'],
    load: async () => (await import('./commands/run.ts')).compactSession,
  },
  'sessions cancel': {
    summary: 'cancel a message that waits, or stop the turn that runs',
    usage: '<turn or session>',
    options: { request: option('ID', "with a session: the sender's own id of the message") },
    examples: ['nexus sessions cancel 0196f3', 'nexus sessions cancel 0196f3 --request req-7'],
    load: async () => (await import('./commands/sessions.ts')).cancelTurn,
  },
  'sessions remove': {
    summary: 'remove a session with its messages and saved output; its calls stay in the record',
    usage: '<session>',
    examples: ['nexus sessions remove 0196f3'],
    load: async () => (await import('./commands/sessions.ts')).removeSession,
  },
  calls: {
    summary: 'the newest calls of all workspaces, also those without a session: MCP clients, nexus skills run',
    options: {
      origin: option('ORIGIN', 'only calls that came from the model, mcp, cli (nexus skills run), library or rpc', {
        choices: CHOICES.origin,
      }),
      agent: { ...WHERE.agent, help: 'only calls of this agent' },
      limit: option('N', 'how many at most (default 20)'),
    },
    examples: ['nexus calls', 'nexus calls --origin mcp --limit 50'],
    load: async () => (await import('./commands/sessions.ts')).listCalls,
  },
  'changes list': {
    summary: 'what commands changed in this workspace, and what Nexus holds',
    load: async () => (await import('./commands/changes.ts')).listChanges,
  },
  'changes show': {
    summary: 'the files of a change set, the newest by default',
    usage: '[id]',
    options: { diff: flag('show the changed lines') },
    examples: ['nexus changes show', 'nexus changes show 3f2a --diff'],
    load: async () => (await import('./commands/changes.ts')).showChanges,
  },
  'changes keep': {
    summary: 'bring held changes into the workspace',
    usage: '[id] [path…]',
    options: { yes: flag('do not ask'), force: flag('also where a file changed since') },
    examples: ['nexus changes keep .envrc', 'nexus changes keep 3f2a .envrc --yes'],
    load: async () => (await import('./commands/changes.ts')).keepChanges,
  },
  'changes drop': {
    summary: 'give up held changes',
    usage: '[id] [path…]',
    examples: ['nexus changes drop 3f2a'],
    load: async () => (await import('./commands/changes.ts')).dropChanges,
  },
  'changes undo': {
    summary: 'restore what a command replaced or removed',
    usage: '[id] [path…]',
    options: { force: flag('also where a file changed since') },
    examples: ['nexus changes undo', 'nexus changes undo 3f2a src/a.ts --force'],
    load: async () => (await import('./commands/changes.ts')).undoChanges,
  },
  'changes forget': {
    summary: 'remove a change set with the bytes it keeps',
    usage: '[id]',
    examples: ['nexus changes forget 3f2a'],
    load: async () => (await import('./commands/changes.ts')).forgetChanges,
  },
  'approvals list': {
    summary: 'calls that wait for an answer, and answers that are remembered',
    load: async () => (await import('./commands/approvals.ts')).listApprovals,
  },
  'approvals answer': {
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
    },
    examples: ['nexus approvals answer 0196f3 --allow', 'nexus approvals answer 0196f3 --allow --remember exact'],
    load: async () => (await import('./commands/approvals.ts')).answerApproval,
  },
  'approvals forget': {
    summary: 'end a remembered answer',
    usage: '<id>',
    examples: ['nexus approvals forget 0196f3'],
    load: async () => (await import('./commands/approvals.ts')).forgetApproval,
  },
  'db status': {
    summary: 'which database keeps sessions and calls, its schema and size, or why it cannot be used',
    load: async () => (await import('./commands/db.ts')).dbStatus,
  },
  'db migrate': {
    summary: 'bring the schema of the database up to date',
    load: async () => (await import('./commands/db.ts')).dbMigrate,
  },
}
