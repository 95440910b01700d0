/** A session as a user has it: one command sets up a client's file, then that client uses Nexus. The picture in the README shows it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Place } from '../cli/nexus.ts'

/** One line of the terminal. */
export interface Line {
  readonly kind: 'typed' | 'said' | 'added' | 'client'
  readonly text: string
}

const SALES = 'region,revenue\nNorth,120\nSouth,80\nNorth,40\n'

/** Runs it in an empty project, with real processes and the SDK's client. What differs from run to run is replaced. */
export async function runSession(place: Place): Promise<readonly Line[]> {
  const project = join(place.root, 'project')
  mkdirSync(project)
  const lines: Line[] = []
  const nexus = async (...args: string[]): Promise<void> => {
    lines.push({ kind: 'typed', text: `nexus ${args.join(' ')}` })
    const { stdout } = await place.run(args, { cwd: project, env: { NEXUS_HOME: '' } })
    for (const text of stdout.trimEnd().split('\n'))
      lines.push({ kind: text.startsWith('+') ? 'added' : 'said', text: steady(text, place) })
  }
  writeFileSync(join(project, 'sales.csv'), SALES)
  await nexus('mcp', 'install', 'cursor')
  await nexus('mcp', 'check', 'cursor')

  const file = readFileSync(join(place.root, '.cursor/mcp.json'), 'utf8')
  const { nexus: entry } = (JSON.parse(file) as { mcpServers: Record<string, { command: string; args: string[] }> })
    .mcpServers
  const { env } = place.options({ env: { NEXUS_HOME: '' } }) as { env: Record<string, string> }
  const client = new Client({ name: 'session', version: '1' })
  await client.connect(
    new StdioClientTransport({
      ...(entry as { command: string; args: string[] }),
      cwd: project,
      env,
      stderr: 'ignore',
    }),
  )
  try {
    const call = async (
      name: string,
      args: Record<string, unknown>,
      shows: (text: string) => string,
    ): Promise<string> => {
      lines.push({ kind: 'client', text: `${name} ${steady(JSON.stringify(args), place)}` })
      const { content, isError } = await client.callTool({ name, arguments: args })
      const [first] = content as readonly { text?: string }[]
      const text = first?.text ?? ''
      for (const each of shows(text).split('\n'))
        lines.push({ kind: 'said', text: `${isError ? '✗ ' : ''}${steady(each, place)}` })
      return text
    }
    const loaded = await call('load_skill', { skill_name: 'csv-report' }, (text) => `${text.split('\n')[0] ?? ''} …`)
    const [, script = ''] = /node "([^"]+report\.mjs)"/.exec(loaded) ?? []
    const command = `node "${script}" sales.csv --group region --value revenue --out report`
    await call('run_command', { command, skill_name: 'csv-report' }, (text) => text.trim())
    await call('run_command', { command: 'cat report/summary.md | head -3' }, (text) => text.trim())
    await call('run_command', { command: 'curl -sS https://example.com' }, (text) => text.trim())
    lines.push({ kind: 'client', text: 'resources/read nexus://skills' })
    const { contents } = await client.readResource({ uri: 'nexus://skills' })
    const { held } = JSON.parse((contents[0] as { text: string }).text) as { held: readonly Held[] }
    for (const { name, reasons } of held)
      lines.push({ kind: 'said', text: `held: ${name}  ${reasons.map(({ text }) => text).join('; ')}` })
  } finally {
    await client.close()
  }
  return lines
}

interface Held {
  readonly name: string
  readonly reasons: readonly { readonly text: string }[]
}

/** Times, digests and the paths of this machine, in a form that is the same everywhere. */
function steady(text: string, { root }: Place): string {
  return text
    .replaceAll(process.execPath, '/usr/bin/node')
    .replace(/"\S*\/dist\/cli\/bin\.cjs"/, '"/usr/lib/node_modules/nexus-skills/dist/cli/bin.cjs"')
    .replace(/\d+ ms/, '312 ms')
    .replace(/"uid":\d+/, '"uid":200000')
    .replace(/\/\S*\/revisions\/[0-9a-f]{64}\//g, '/…/')
    .replaceAll(root, '~')
}
