/** table: where each client keeps its MCP servers, under which key, and in which form. Their sources are in docs/clients.md. */
import { join } from 'node:path'
import { isJsonObject, type JsonObject, nearest } from '../../kernel/index.ts'

/** Whose file: the user's own, or that of one project, which others of its team read too. */
export type Scope = 'user' | 'project'

/** The paths of clients depend on it. */
export interface Where {
  readonly home: string
  /** Directory of the project. */
  readonly project: string
  /** Where replaced entries are kept. */
  readonly nexusHome: string
  /** A variable of the environment. */
  get(name: string): string | undefined
  /** Default that of this process. */
  readonly platform?: NodeJS.Platform
}

/** How a client starts Nexus. */
export interface Server {
  /** The program, by absolute path, and its arguments. */
  readonly command: readonly string[]
  /** Variables that it gets besides the client's own. */
  readonly environment: Readonly<Record<string, string>>
}

/** One program that starts MCP servers. */
export interface Client {
  readonly id: string
  readonly title: string
  readonly format: 'json' | 'toml'
  /** Absolute paths: the first that exists is used, else the first. */
  readonly files: Readonly<Record<'user', (where: Where) => readonly string[]>> &
    Readonly<Partial<Record<'project', (where: Where) => readonly string[]>>>
  /** The keys that lead to the servers of a document. */
  readonly keys: (document: JsonObject) => readonly string[]
  readonly entry: (server: Server, scope: Scope) => JsonObject
  /** The program of an entry, as it is written there. */
  readonly server: (entry: JsonObject) => { readonly command: readonly unknown[]; readonly environment: unknown }
  /** True for a program that starts servers in no project, and names none. */
  readonly needsWorkspace?: true
}

const configHome = ({ home, get }: Where): string => get('XDG_CONFIG_HOME') ?? join(home, '.config')

/** Where programs with windows keep their settings. */
function applicationData(where: Where): string {
  const { home, get, platform = process.platform } = where
  if (platform === 'darwin') return join(home, 'Library/Application Support')
  if (platform === 'win32') return get('APPDATA') ?? join(home, 'AppData/Roaming')
  return configHome(where)
}

/** Zed keeps its settings below ~/.config on macOS too. */
function zedHome(where: Where): string {
  const { home, platform = process.platform } = where
  if (platform === 'win32') return join(applicationData(where), 'Zed')
  return join(platform === 'darwin' ? join(home, '.config') : configHome(where), 'zed')
}
const below =
  (...paths: readonly string[]) =>
  ({ project }: Where): readonly string[] =>
    paths.map((path) => join(project, path))

function plainEntry({ command: [command = '', ...args], environment }: Server): JsonObject {
  return { command, args, ...(Object.keys(environment).length > 0 && { env: environment }) }
}

/** The form that most clients share. */
const PLAIN = {
  format: 'json',
  keys: () => ['mcpServers'],
  entry: plainEntry,
  server: ({ command, args, env }) => ({
    command: [command, ...(Array.isArray(args) ? (args as readonly unknown[]) : [])],
    environment: env,
  }),
} as const satisfies Partial<Client>

const withType = (server: Server): JsonObject => ({ type: 'stdio', ...plainEntry(server) })

/** In the order in which they are listed. */
export const CLIENTS: readonly Client[] = [
  {
    ...PLAIN,
    id: 'claude-code',
    title: 'Claude Code',
    files: {
      user: ({ home, get }) => [join(get('CLAUDE_CONFIG_DIR') ?? home, '.claude.json')],
      project: below('.mcp.json'),
    },
    entry: withType,
  },
  {
    ...PLAIN,
    id: 'claude-desktop',
    title: 'Claude Desktop',
    files: { user: (where) => [join(applicationData(where), 'Claude/claude_desktop_config.json')] },
    needsWorkspace: true,
  },
  {
    ...PLAIN,
    id: 'cursor',
    title: 'Cursor',
    files: { user: ({ home }) => [join(home, '.cursor/mcp.json')], project: below('.cursor/mcp.json') },
  },
  {
    ...PLAIN,
    id: 'vscode',
    title: 'VS Code',
    files: {
      user: (where) => [join(applicationData(where), 'Code/User/mcp.json')],
      project: below('.vscode/mcp.json'),
    },
    keys: () => ['servers'],
    entry: withType,
  },
  {
    ...PLAIN,
    id: 'copilot',
    title: 'Copilot CLI',
    files: {
      user: ({ home, get }) => [join(get('COPILOT_HOME') ?? join(home, '.copilot'), 'mcp-config.json')],
      project: below('.mcp.json', '.github/mcp.json'),
    },
    entry: (server, scope) => ({ ...withType(server), ...(scope === 'user' && { tools: ['*'] }) }),
  },
  {
    ...PLAIN,
    id: 'codex',
    title: 'Codex',
    format: 'toml',
    files: {
      user: ({ home, get }) => [join(get('CODEX_HOME') ?? join(home, '.codex'), 'config.toml')],
      project: below('.codex/config.toml'),
    },
    keys: () => ['mcp_servers'],
  },
  {
    ...PLAIN,
    id: 'opencode',
    title: 'opencode',
    files: {
      user: (where) => ['opencode.jsonc', 'opencode.json'].map((name) => join(configHome(where), 'opencode', name)),
      project: below('opencode.jsonc', 'opencode.json', '.opencode/opencode.jsonc', '.opencode/opencode.json'),
    },
    // Version 2 keeps the servers one level deeper. An entry that is called "servers" has a type.
    keys: ({ mcp }) =>
      isJsonObject(mcp) && isJsonObject(mcp['servers']) && typeof mcp['servers']['type'] !== 'string'
        ? ['mcp', 'servers']
        : ['mcp'],
    entry: ({ command, environment }) => ({
      type: 'local',
      command,
      enabled: true,
      ...(Object.keys(environment).length > 0 && { environment }),
    }),
    server: ({ command, environment }) => ({
      command: Array.isArray(command) ? (command as readonly unknown[]) : [command],
      environment,
    }),
  },
  {
    ...PLAIN,
    id: 'zed',
    title: 'Zed',
    files: { user: (where) => [join(zedHome(where), 'settings.json')], project: below('.zed/settings.json') },
    keys: () => ['context_servers'],
    entry: (server) => ({ source: 'custom', ...plainEntry(server) }),
  },
  {
    ...PLAIN,
    id: 'antigravity',
    title: 'Antigravity',
    files: { user: ({ home }) => [join(home, '.gemini/config/mcp_config.json')] },
    needsWorkspace: true,
  },
  {
    ...PLAIN,
    id: 'devin',
    title: 'Devin Desktop (Windsurf)',
    files: {
      user: (where) => [
        join(configHome(where), 'devin/mcp_config.json'),
        join(where.home, '.codeium/windsurf/mcp_config.json'),
      ],
      project: below('.devin/mcp_config.json'),
    },
    needsWorkspace: true,
  },
]

/** Programs and scripts that are Nexus, by the end of their path. */
const NEXUS = /(?:^|[\\/])(?:nexus(?:-skills)?(?:@[^\\/]*|\.[a-z]+)?|dist[\\/]cli[\\/]bin\.cjs)$/

/** True for an entry whose command is `nexus mcp`, in whatever way it is started. */
export function startsNexus(client: Client, entry: JsonObject): boolean {
  const words = client.server(entry).command.map(String)
  const at = words.findIndex((word) => NEXUS.test(word))
  return at >= 0 && words[at + 1] === 'mcp'
}

const ALIASES: Readonly<Record<string, string>> = {
  claude: 'claude-code',
  'claude-app': 'claude-desktop',
  'vs-code': 'vscode',
  'copilot-cli': 'copilot',
  'github-copilot-cli': 'copilot',
  windsurf: 'devin',
  'devin-desktop': 'devin',
}

/** The client of a name, or the nearest name. */
export function findClient(name: string): Client | { readonly near: string | undefined } {
  const wanted = name.trim().toLowerCase()
  const id = Object.hasOwn(ALIASES, wanted) ? ALIASES[wanted] : wanted
  const found = CLIENTS.find((client) => client.id === id)
  return found ?? { near: nearest(wanted, [...CLIENTS.map((client) => client.id), ...Object.keys(ALIASES)]) }
}
