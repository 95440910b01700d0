/** A program that uses the sandbox, for tests that kill it or start it elsewhere: node parent.ts <stateDir> <workspace> <command> [mode]. */
import { writeSync } from 'node:fs'
import { createSandbox } from '../../../src/machine/sandbox/index.ts'

const [stateDir = '', workspace = '', command = '', mode] = process.argv.slice(2)
const workspaceMode = mode === 'mirror' ? mode : 'auto'
const sandbox = await createSandbox({ kind: 'local', projectId: 'default', stateDir, workspaceMode })
for (const { code, message } of sandbox.diagnostics ?? []) writeSync(1, `${code} ${message}\n`)
try {
  const result = await sandbox.run({ command, workspace, onOutput: ({ text }) => void writeSync(1, text) })
  writeSync(1, `\nend ${result.end} ${result.exitCode} ${result.notes.join('; ')}\n`)
} catch (error) {
  const { code, message, fix } = error as { code?: string; message?: string; fix?: string }
  writeSync(1, `\nerror ${code} ${message} | ${fix}\n`)
}
// No close: the runner has to notice by itself that nobody is left.
