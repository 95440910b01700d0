import { errorOf } from '../failure.ts'
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
} from '../../../config/index.ts'
import { toSafeLine, commandFix } from '../../../kernel/index.ts'
import { type Answer, type Invocation, stringFlag } from '../command.ts'
import { confirm } from '../interactive/confirm.ts'
import { printDiagnostics, notADirectory } from '../open.ts'
import { TRUST_QUESTION, itemsText } from '../show/consent.ts'
import type { Terminal } from '../terminal.ts'

/** `nexus trust [directory]`: remembered by real path under the Nexus home. Exit code 1 when the person says no. */
export async function trust(invocation: Invocation): Promise<Answer> {
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
    terminal.note(was ? `Untrusted from now on: ${toSafeLine(path)}` : `${toSafeLine(path)} was not trusted.`)
  } else if (flags['list'] !== true) isTrusted = await giveTrust(loaded, invocation)
  const directories = (await listTrusted(nexusHome)).workspaces.map((workspace) => workspace.directory)
  return {
    data: { directories },
    diagnostics: before.diagnostics,
    exit: isTrusted ? 0 : 1,
    show: () => {
      if (flags['list'] === true) for (const directory of directories) terminal.line(toSafeLine(directory))
    },
  }
}

function directoryOf({ cwd, positionals: [given] }: Invocation): string | undefined {
  return given === undefined ? undefined : resolve(cwd, given)
}

function load(invocation: Invocation): Promise<LoadedConfig> {
  const { environment, cwd } = invocation
  const configPath = stringFlag(invocation, 'config')
  const within = directoryOf(invocation) ?? cwd
  return loadConfig({ cwd: within, environment, configPath: configPath && resolve(cwd, configPath) })
}

/** Findings with which no setting of a file is read: what is trusted could not be shown. */
const UNREAD = ['config-syntax', 'config-yaml-refused', 'config-duplicate-key', 'config-encoding', 'config-too-large']

/** Shows what trusting means here, asks, and remembers what was shown; false when the person says no. */
async function giveTrust(loaded: LoadedConfig, invocation: Invocation): Promise<boolean> {
  const { terminal, flags } = invocation
  const { workspace, nexusHome } = loaded
  if (loaded.homeIsWorkspace)
    throw errorOf(
      'CONFIG_INVALID',
      `The workspace ${toSafeLine(workspace.directory)} contains your list of trusted workspaces (${toSafeLine(nexusHome)}, because of HOME). It could trust itself.`,
      'Set HOME or NEXUS_HOME to a directory of yours outside the workspace. --trust trusts for one run.',
    )
  checkDirectory(directoryOf(invocation), loaded)
  const broken = loaded.diagnostics.find(({ code, path }) => workspace.files.includes(path) && UNREAD.includes(code))
  if (broken) {
    printDiagnostics([broken], terminal)
    throw errorOf(
      'CONFIG_INVALID',
      `The workspace is still untrusted: Nexus cannot read ${toSafeLine(broken.path)}, so it cannot show what you would trust.`,
      commandFix('Correct the file. To check it:', 'config', 'check'),
    )
  }
  const consent = await consentOf(loaded)
  const items = itemsText(consent, workspace.directory)
  if (consent.text) terminal.note(['nexus.yaml:', consent.text.replace(/^/gm, '    ')].join('\n'))
  const canAnswer = terminal.isInteractive || flags['yes'] === true
  if (items !== '' && !canAnswer)
    throw errorOf(
      'UNTRUSTED_WORKSPACE',
      `${toSafeLine(workspace.directory)} is still untrusted. These settings need your consent, and there is no terminal to ask you.\n${items}`,
      commandFix('Read the list, then run:', 'trust', workspace.directory, '--yes'),
    )
  if (items !== '') terminal.note(items)
  const isAsked = terminal.isInteractive && flags['yes'] !== true && consent.text
  if (isAsked && !(await confirm(TRUST_QUESTION, invocation))) {
    terminal.note(`Still untrusted: ${toSafeLine(workspace.directory)}`)
    return false
  }
  await trustWorkspace({ nexusHome, directory: workspace.directory, shown: consent.shown })
  const now = await load(invocation)
  printDiagnostics(
    now.diagnostics.filter(({ path }) => workspace.files.includes(path)),
    terminal,
  )
  terminal.note(describeTrusted(now, consent, terminal))
  return true
}

/** Trust in a directory that is not the workspace would have no effect. */
function checkDirectory(given: string | undefined, { workspace: { directory } }: LoadedConfig): void {
  if (given === undefined) return
  const stat = statSync(given, { throwIfNoEntry: false })
  if (!stat)
    throw errorOf(
      'FILE_NOT_FOUND',
      `The directory ${toSafeLine(given)} does not exist.`,
      commandFix('Name the directory of a workspace. To see those that are trusted:', 'trust', '--list'),
    )
  if (!stat.isDirectory()) throw notADirectory(given)
  const own = statSync(directory)
  if (own.ino === stat.ino && own.dev === stat.dev) return
  throw errorOf(
    'INVALID_ARGUMENT',
    `${toSafeLine(given)} is not a workspace. It is part of the workspace ${toSafeLine(directory)}.`,
    commandFix('To trust the whole workspace:', 'trust', directory),
  )
}

function refuseMore({ flags, positionals }: Invocation): void {
  if (flags['remove'] !== true && positionals.length === 0) return
  const other = positionals.length === 0 ? '--remove' : 'directory'
  throw errorOf(
    'INVALID_ARGUMENT',
    `nexus trust --list shows all workspaces and takes no ${other}.`,
    commandFix('Type:', 'trust', '--list'),
  )
}

function describeTrusted(
  { workspace, textOf, layers }: LoadedConfig,
  { shown }: Consent,
  { commandLine }: Terminal,
): string {
  const sections = layers
    .filter(({ path }) => shown.has(path))
    .flatMap(({ document }) => Object.keys(document))
    .map(toSafeLine)
  const isSame = [...shown].every(([path, text]) => textOf(path) === text)
  const line = commandLine(['trust'])
  const settings =
    shown.size === 0
      ? `none, because there is no nexus.yaml. If you add one, run ${line} again.`
      : `${[...new Set(sections)].join(', ') || 'none'}, as they are now. If you edit them to allow more, run ${line} again.`
  return [
    `Trusted: ${toSafeLine(workspace.directory)}`,
    '  skills    all in its folders, also those that are added or changed later',
    `  settings  ${settings}`,
    ...(isSame ? [] : [`  The file changed while you read it. Run: ${line}`]),
  ].join('\n')
}
