import { errorOf, many } from '../failure.ts'
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type Change,
  checkServer,
  type Client,
  CLIENTS,
  findClient,
  planInstall,
  planUninstall,
  readEntry,
  type Scope,
  type Server,
  type ServerCheck,
  type Where,
  writeChange,
} from '../../clients/index.ts'
import { type Diagnostic, isJsonObject, type JsonObject, toSafeLine, commandFix } from '../../../kernel/index.ts'
import { type Answer, argument, choiceFlag, CHOICES, type Invocation, stringFlag } from '../command.ts'
import { confirm } from '../interactive/confirm.ts'
import { loadHere } from '../open.ts'
import { printDiff } from '../show/diff.ts'
import { formatDiagnostic } from '../terminal.ts'

/** The key of our entry in the files of clients. */
function entryName(invocation: Invocation): string {
  const name = stringFlag(invocation, 'name') ?? 'nexus'
  if (/^[A-Za-z0-9][\w-]{0,63}$/.test(name)) return name
  const message = `'${toSafeLine(name)}' cannot be the name of an entry.`
  throw errorOf('INVALID_ARGUMENT', message, 'Use letters, digits, - and _: --name nexus-skills')
}

/** `nexus mcp install <client>`: shows what changes in the client's file, and writes it. */
export async function installInClient(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const place = await placeOf(invocation)
  const { client, scope } = place
  const server = serverOf(invocation, place)
  const change = planInstall(place, server)
  const { show, ...answer } = await apply(change, place, invocation)
  return {
    ...answer,
    show: () => {
      show()
      if (change.before === change.after) return
      if (server.command.some((word) => word.includes('/_npx/')))
        terminal.note(
          'The entry starts Nexus from the cache of npx, which npm may remove. Install it first: npm install -g nexus-skills',
        )
      if (scope === 'project')
        terminal.note('The paths in this file are those of this machine. Others of the team run the same command.')
      terminal.note(
        `Next: restart ${client.title}. To check the entry: ${terminal.commandLine(['mcp', 'check', client.id])}`,
      )
    },
  }
}

/** `nexus mcp uninstall <client>`: takes the entry out again. */
export async function uninstallFromClient(invocation: Invocation): Promise<Answer> {
  const place = await placeOf(invocation)
  return apply(planUninstall(place), place, invocation)
}

type EntryPlace = Awaited<ReturnType<typeof placeOf>>

async function placeOf(invocation: Invocation) {
  const scope: Scope = choiceFlag(invocation, 'scope', CHOICES.scope) ?? 'user'
  return { client: clientOf(invocation), scope, where: await whereOf(invocation), name: entryName(invocation) }
}

/** Makes the change unless it is only to be shown. Throws CONFLICT when an entry of the user would go and no person agrees. */
async function apply(change: Change, { client, scope, name }: EntryPlace, invocation: Invocation) {
  const { terminal, flags } = invocation
  const { path, before = '', after } = change
  const isDry = flags['dry-run'] === true
  const isSame = before === after
  const isWritten = !isSame && !isDry
  const shown = terminal.shortPath(path)
  // A person is asked about what they see.
  if (!isSame) printDiff({ before, after }, shown, terminal)
  if (isWritten) await askAboutForeign(change, client, name, invocation)
  const copy = isWritten ? await writeChange(change) : undefined
  const written = isDry ? `Nothing was written (--dry-run): ${shown}` : `Changed ${shown}`
  const state = { changed: !isSame, written: isWritten, before, after, copy: copy ?? null }
  return {
    data: { client: client.id, scope, file: path, ...state },
    show: () => {
      terminal.line(isSame ? `Nothing to change in ${shown}.` : written)
      if (copy !== undefined) terminal.note(`A copy of the old file: ${terminal.shortPath(copy)}`)
    },
  }
}

/** Asks before an entry goes that does not start Nexus. Throws CONFLICT unless a person agrees. */
async function askAboutForeign(
  { path, foreign }: Change,
  client: Client,
  name: string,
  invocation: Invocation,
): Promise<void> {
  const { terminal, flags } = invocation
  if (foreign === undefined || flags['force'] === true) return
  const shown = terminal.shortPath(path)
  const question = `This entry of ${shown} is not one of Nexus. Change it? A copy of the file is kept.`
  if (terminal.isInteractive && flags['json'] !== true && (await confirm(question, invocation))) return
  const command = toSafeLine(client.server(foreign).command.map(String).join(' '))
  throw errorOf(
    'CONFLICT',
    `Nexus did not change ${shown}: its entry ${name} starts another program: ${command}.`,
    'Choose another name with --name nexus-skills. Or let Nexus change the entry with --force.',
  )
}

/** `nexus mcp check [client]`: starts what each client would start. Exit code 1 when one of them does not answer. */
export async function checkClients(invocation: Invocation): Promise<Answer> {
  const { terminal, positionals } = invocation
  const where = await whereOf(invocation)
  const asked = positionals.length > 0 ? [clientOf(invocation)] : CLIENTS
  const name = entryName(invocation)
  const found = asked.flatMap((client) => entriesOf(client, where, name))
  const rows: Row[] = []
  for (const each of found) rows.push({ ...each, result: await start(each, where, invocation.signal) })
  const diagnostics = rows.length === 0 ? [nothingInstalled(asked, where)] : rows.flatMap(diagnosticsOf)
  const entries = rows.map(({ client, scope, path, result }) => ({ client: client.id, scope, file: path, ...result }))
  return {
    data: { entries },
    diagnostics,
    show: () => {
      for (const { client, path, result } of rows)
        if (result.type === 'answered')
          terminal.line(
            `${terminal.paint('green', '✓')} ${client.title}  ${terminal.shortPath(path)}  answered in ${result.ms} ms: MCP ${result.protocol}, ${many(result.tools, 'tool')}`,
          )
      for (const diagnostic of diagnostics) terminal.line(formatDiagnostic(diagnostic, terminal))
    },
  }
}

interface Installed {
  readonly client: Client
  readonly scope: Scope
  readonly path: string
  readonly entry: JsonObject
}

interface Row extends Installed {
  readonly result: ServerCheck
}

function entriesOf(client: Client, where: Where, name: string): readonly Installed[] {
  return CHOICES.scope.flatMap((scope) => {
    if (client.files[scope] === undefined) return []
    const { path, entry } = readEntry({ client, scope, where, name })
    return entry === undefined ? [] : [{ client, scope, path, entry }]
  })
}

function start({ client, entry }: Installed, where: Where, signal: AbortSignal): Promise<ServerCheck> {
  const { command, environment } = client.server(entry)
  const given = isJsonObject(environment) ? environment : {}
  const variables = Object.entries(given).filter((each): each is [string, string] => typeof each[1] === 'string')
  return checkServer({
    command: command.map(String),
    environment: {
      HOME: where.home,
      ...(client.id === 'claude-code' && { CLAUDE_PROJECT_DIR: where.project }),
      ...Object.fromEntries(variables),
    },
    cwd: client.needsWorkspace ? '/' : where.project,
    signal,
  })
}

function diagnosticsOf({ path, result }: Row): readonly Diagnostic[] {
  if (result.type === 'answered') return []
  const { code, message, fix } = result
  return [{ code, severity: 'error', path, message, fix }]
}

function nothingInstalled([client, ...others]: readonly Client[], where: Where): Diagnostic {
  const isOne = client !== undefined && others.length === 0
  const path = isOne ? (client.files.user(where)[0] ?? '') : where.project
  const fix = commandFix('Add one:', 'mcp', 'install', isOne ? client.id : 'claude-code')
  const message = `${isOne ? `${client.title} has no entry` : 'No client has an entry'} that starts Nexus.`
  return { code: 'mcp-not-installed', severity: 'error', path, message, ...fix }
}

function clientOf(invocation: Invocation): Client {
  const given = argument(invocation, 'a client', ['claude-code'])
  const found = findClient(given)
  if ('id' in found) return found
  throw errorOf(
    'INVALID_ARGUMENT',
    `Nexus does not know the client ${toSafeLine(given)}.`,
    found.near === undefined
      ? `Name one of: ${CLIENTS.map(({ id }) => id).join(', ')}.`
      : `Did you mean ${found.near}?`,
  )
}

async function whereOf(invocation: Invocation): Promise<Where> {
  const { workspace } = await loadHere(invocation)
  const { home, nexusHome, get } = invocation.environment
  return { home, nexusHome, project: workspace.directory, get }
}

/** This program, by absolute paths: a client that a desktop starts finds neither a version manager's Node nor `nexus`. */
function serverOf(invocation: Invocation, { client, scope, where }: EntryPlace): Server {
  const { cwd, environment } = invocation
  const given = stringFlag(invocation, 'workspace')
  const needed = client.needsWorkspace === true && scope === 'user' ? where.project : undefined
  const workspace = given === undefined ? needed : resolve(cwd, given)
  if (workspace !== undefined && (workspace === '/' || workspace === environment.home))
    throw errorOf(
      'INVALID_ARGUMENT',
      `${client.title} starts servers in no project, and ${toSafeLine(workspace)} is not one.`,
      'Name the project: --workspace DIR',
    )
  const agent = stringFlag(invocation, 'agent')
  const nexusHome = environment.get('NEXUS_HOME')
  return {
    command: [
      process.execPath,
      realpathSync(process.argv[1] ?? ''),
      'mcp',
      ...(workspace === undefined ? [] : ['--workspace', workspace]),
      ...(agent === undefined ? [] : ['--agent', agent]),
    ],
    environment: nexusHome === undefined ? {} : { NEXUS_HOME: nexusHome },
  }
}
