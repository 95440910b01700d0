import { resolve } from 'node:path'
import { listTrusted, loadConfig, trustWorkspace, untrustWorkspace } from '../../config/index.ts'
import { toSafeLine } from '../../kernel/index.ts'
import type { Invocation } from '../command.ts'
import { envelope } from '../envelope.ts'

/** `nexus trust [directory]`: remembered by real path under the Nexus home. */
export async function trust(invocation: Invocation): Promise<number> {
  const { terminal, environment } = invocation
  const loaded = await loadConfig({ cwd: resolve(invocation.cwd, invocation.positionals[0] ?? '.'), environment })
  const { nexusHome } = loaded
  if (invocation.flags['list'] !== true) {
    const directory =
      invocation.positionals[0] === undefined
        ? loaded.workspace.directory
        : resolve(invocation.cwd, invocation.positionals[0])
    const change = invocation.flags['remove'] === true ? untrustWorkspace : trustWorkspace
    const realPath = await change({ nexusHome, directory })
    terminal.note(
      invocation.flags['remove'] === true
        ? `No longer trusted: ${toSafeLine(realPath)}`
        : `Trusted: ${toSafeLine(realPath)}\nIts skills and its nexus.yaml take effect from now on.`,
    )
  }
  const { directories } = await listTrusted(nexusHome)
  if (invocation.flags['json'] === true) terminal.json(envelope('trust', { directories: [...directories] }))
  else if (invocation.flags['list'] === true) for (const directory of directories) terminal.line(toSafeLine(directory))
  return 0
}
