import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type Consent,
  consentOf,
  listTrusted,
  loadConfig,
  type LoadedConfig,
  trustWorkspace,
  untrustWorkspace,
} from '../../config/index.ts'
import { NexusError, shellWord, toSafeLine } from '../../kernel/index.ts'
import { type Invocation, stringFlag } from '../command.ts'
import { envelope } from '../envelope.ts'
import { askYesNo } from '../interactive/ask.ts'
import { printDiagnostics } from '../open.ts'
import { itemsText } from '../show/consent.ts'

/** `nexus trust [directory]`: remembered by real path under the Nexus home. Exit code 1 when the person says no. */
export async function trust(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation
  if (flags['list'] === true) refuseMore(invocation)
  const loaded = await load(invocation)
  const { nexusHome } = loaded
  const before = await listTrusted(nexusHome)
  printDiagnostics(before.diagnostics, terminal)
  let isTrusted = true
  if (flags['remove'] === true) {
    const path = await untrustWorkspace({ nexusHome, directory: directoryOf(invocation) ?? loaded.workspace.directory })
    const was = before.workspaces.some((workspace) => workspace.directory === path)
    terminal.note(was ? `No longer trusted: ${toSafeLine(path)}` : `${toSafeLine(path)} was not trusted.`)
  } else if (flags['list'] !== true) isTrusted = await giveTrust(loaded, invocation)
  const directories = (await listTrusted(nexusHome)).workspaces.map((workspace) => workspace.directory)
  const exit = isTrusted ? 0 : 1
  if (flags['json'] === true)
    terminal.json(envelope('trust', { directories }, { diagnostics: before.diagnostics, exit }))
  else if (flags['list'] === true) for (const directory of directories) terminal.line(toSafeLine(directory))
  return exit
}

function directoryOf({ cwd, positionals: [given] }: Invocation): string | undefined {
  return given === undefined ? undefined : resolve(cwd, given)
}

function load(invocation: Invocation): Promise<LoadedConfig> {
  const { environment, cwd } = invocation
  const configPath = stringFlag(invocation, 'config')
  return loadConfig({
    cwd: directoryOf(invocation) ?? cwd,
    environment,
    ...(configPath !== undefined && { configPath: resolve(cwd, configPath) }),
  })
}

/** Shows what trusting means here, asks, and remembers what was shown; false when the person says no. */
async function giveTrust(loaded: LoadedConfig, invocation: Invocation): Promise<boolean> {
  const { terminal, flags } = invocation
  const { workspace, nexusHome } = loaded
  if (loaded.homeIsWorkspace) throw cannotRemember(loaded)
  checkDirectory(directoryOf(invocation), loaded)
  const consent = await consentOf(loaded)
  const items = itemsText(consent, workspace.directory)
  if (consent.text) terminal.note(['nexus.yaml:', consent.text.replace(/^/gm, '    ')].join('\n'))
  const canAnswer = terminal.isInteractive || flags['yes'] === true
  if (items !== '' && !canAnswer) throw needsAnswer(loaded, items)
  if (items !== '') terminal.note(items)
  const isAsked = terminal.isInteractive && flags['yes'] !== true && consent.text
  if (isAsked && !(await askYesNo('Trust this workspace from now on?', invocation))) {
    terminal.note(`Not trusted: ${toSafeLine(workspace.directory)}`)
    return false
  }
  await trustWorkspace({ nexusHome, directory: workspace.directory, shown: consent.shown })
  const now = await load(invocation)
  printDiagnostics(
    now.diagnostics.filter(({ path }) => workspace.files.includes(path)),
    terminal,
  )
  terminal.note(describeTrusted(now, consent))
  return true
}

/** Trust in a directory that is not the workspace would have no effect. */
function checkDirectory(given: string | undefined, { workspace: { directory } }: LoadedConfig): void {
  if (given === undefined) return
  const stat = statSync(given, { throwIfNoEntry: false })
  if (!stat?.isDirectory())
    throw new NexusError('FILE_NOT_FOUND', `There is no directory ${toSafeLine(given)}.`, {
      fix: 'Name the directory of a workspace.',
    })
  const own = statSync(directory)
  if (own.ino === stat.ino && own.dev === stat.dev) return
  throw new NexusError(
    'INVALID_ARGUMENT',
    `${toSafeLine(given)} is not a workspace. It is part of the workspace ${toSafeLine(directory)}.`,
    { fix: `Run: nexus trust ${shellWord(directory)}` },
  )
}

/** Nobody is there to read the list and answer. */
function needsAnswer({ workspace: { directory } }: LoadedConfig, items: string): NexusError {
  return new NexusError(
    'UNTRUSTED_WORKSPACE',
    `${toSafeLine(directory)} is not trusted. No one could be asked about its settings.\n${items}`,
    { fix: `Read the list, then run: nexus trust ${shellWord(directory)} --yes` },
  )
}

/** The list would lie in the workspace that it is about. */
function cannotRemember({ workspace, nexusHome }: LoadedConfig): NexusError {
  const message = `HOME puts your list of trusted workspaces (${toSafeLine(nexusHome)}) into the workspace ${toSafeLine(workspace.directory)}, which could then trust itself.`
  return new NexusError('CONFIG_INVALID', message, {
    fix: 'Set HOME, or NEXUS_HOME, to a directory of yours outside of it; --trust trusts for one run.',
  })
}

function refuseMore({ flags, positionals }: Invocation): void {
  if (flags['remove'] !== true && positionals.length === 0) return
  const other = positionals.length === 0 ? '--remove' : 'directory'
  throw new NexusError('INVALID_ARGUMENT', `nexus trust: --list shows all workspaces and takes no ${other}.`, {
    fix: 'nexus trust --list',
  })
}

/** What is trusted now. */
function describeTrusted({ workspace, textOf, layers }: LoadedConfig, { shown }: Consent): string {
  const sections = layers
    .filter(({ path }) => shown.has(path))
    .flatMap(({ document }) => Object.keys(document))
    .map(toSafeLine)
  const isSame = [...shown].every(([path, text]) => textOf(path) === text)
  const settings =
    shown.size === 0
      ? 'none: there is no nexus.yaml; one that is added counts only after nexus trust'
      : `those shown: ${[...new Set(sections)].join(', ') || 'nothing'}; an edit that widens them counts only after nexus trust`
  return [
    `Trusted: ${toSafeLine(workspace.directory)}`,
    '  skills    all in its folders, also those that are added or changed later',
    `  settings  ${settings}`,
    ...(isSame ? [] : ['  The file changed while you read it. Run: nexus trust']),
  ].join('\n')
}
