import { join, resolve } from 'node:path'
import {
  listTrusted,
  loadConfig,
  type LoadedConfig,
  textForConsent,
  trustWorkspace,
  untrustWorkspace,
} from '../../config/index.ts'
import { NexusError, toSafeLine } from '../../kernel/index.ts'
import type { Invocation } from '../command.ts'
import { envelope } from '../envelope.ts'
import { printDiagnostics } from '../open.ts'

/** `nexus trust [directory]`: remembered by real path under the Nexus home. */
export async function trust(invocation: Invocation): Promise<number> {
  const { terminal, environment, flags } = invocation
  const [given] = invocation.positionals
  if (flags['list'] === true) refuseMore(invocation)
  const loaded = await loadConfig({ cwd: resolve(invocation.cwd, given ?? '.'), environment })
  const { workspace, nexusHome } = loaded
  const before = await listTrusted(nexusHome)
  printDiagnostics(before.diagnostics, terminal)
  if (flags['list'] !== true) {
    const directory = given === undefined ? workspace.directory : resolve(invocation.cwd, given)
    if (flags['remove'] === true) {
      const path = await untrustWorkspace({ nexusHome, directory })
      const was = before.workspaces.some((workspace) => workspace.directory === path)
      terminal.note(was ? `No longer trusted: ${toSafeLine(path)}` : `${toSafeLine(path)} was not trusted.`)
    } else if (loaded.homeIsWorkspace) throw cannotRemember(loaded)
    else terminal.note(await describeTrusted(await trustWorkspace({ nexusHome, directory }), invocation))
  }
  const directories = (await listTrusted(nexusHome)).workspaces.map((workspace) => workspace.directory)
  if (flags['json'] === true)
    terminal.json(envelope('trust', { directories }, { diagnostics: before.diagnostics, exit: 0 }))
  else if (flags['list'] === true) for (const directory of directories) terminal.line(toSafeLine(directory))
  return 0
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

/** What was trusted just now, and what was not. All of nexus.yaml is shown: whoever trusts it must be able to see what it says. */
async function describeTrusted(directory: string, { environment, terminal }: Invocation): Promise<string> {
  const loaded = await loadConfig({ cwd: directory, environment })
  const { workspaces } = await listTrusted(loaded.nexusHome)
  const config = workspaces.find((workspace) => workspace.directory === directory)?.config
  const path = join(directory, 'nexus.yaml')
  const sections = Object.keys(loaded.layers.find((layer) => layer.path === path)?.document ?? {})
  printDiagnostics(
    loaded.diagnostics.filter((diagnostic) => diagnostic.path === path),
    terminal,
  )
  const text = textForConsent(loaded)
  const settings =
    config === 'absent'
      ? 'there is no nexus.yaml; one that appears later counts only after nexus trust'
      : config === undefined
        ? 'its nexus.yaml cannot be read and is not trusted'
        : `nexus.yaml as it is now (${config.slice(0, 19)}…), which sets: ${toSafeLine(sections.join(', ')) || 'nothing'}; once changed, it counts only after nexus trust`
  return [
    `Trusted: ${toSafeLine(directory)}`,
    '  skills    all that its folders hold, also those that are added or changed later',
    `  settings  ${settings}`,
    ...(text ? [text.replace(/^/gm, '    ')] : []),
  ].join('\n')
}
