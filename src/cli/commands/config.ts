import { loadConfig, maskConfig } from '../../config/index.ts'
import { hasErrors } from '../../kernel/index.ts'
import { type Invocation, stringFlag } from '../command.ts'
import { envelope } from '../envelope.ts'
import { formatDiagnostic } from '../terminal.ts'

/** `nexus config check`: exit code 1 when a file has an error. */
export async function checkConfig(invocation: Invocation): Promise<number> {
  const { terminal, environment, cwd } = invocation
  const configPath = stringFlag(invocation, 'config')
  const loaded = await loadConfig({ cwd, environment, ...(configPath !== undefined && { configPath }) })
  const bad = hasErrors(loaded.diagnostics)
  if (invocation.flags['json'] === true) {
    const data = { files: [...loaded.files], workspace: { ...loaded.workspace }, config: maskConfig(loaded.config) }
    terminal.json(envelope('config check', data, loaded.diagnostics))
    return bad ? 1 : 0
  }
  for (const diagnostic of loaded.diagnostics) terminal.line(formatDiagnostic(diagnostic, terminal.paint))
  const files =
    loaded.files.length === 0 ? 'No nexus.yaml was found; the defaults hold.' : `Read: ${loaded.files.join(', ')}`
  terminal.line(`${bad ? terminal.paint('red', '✗') : terminal.paint('green', '✓')} ${files}`)
  terminal.line(
    `  workspace ${loaded.workspace.directory} (${loaded.workspace.trusted ? 'trusted' : 'not trusted: nexus trust'})`,
  )
  return bad ? 1 : 0
}
