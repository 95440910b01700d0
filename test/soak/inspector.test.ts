/** What a user does first, from a packed install in an empty directory, with the unmodified inspector of MCP as the client. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { type Answer, install, pack, run } from '../installed.ts'
import { whySkipped } from '../machine/sandbox/required.ts'
import { processesWith, until } from '../apps/mcp/client.ts'

const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0'
/** The inspector's words for the protocols of 2025 and 2026. */
const INSPECTOR_ERAS = ['legacy', 'modern'] as const
const SALES = 'region,revenue\nNorth,120\nSouth,80\nNorth,40\n'

const room = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-inspector-')))
const home = join(room, 'home')
const project = join(room, 'project')
const inspector = join(room, 'inspector')
/** What Cursor reads; the inspector reads the same form. */
const clientFile = join(home, '.cursor/mcp.json')
const env = {
  ...{ HOME: home, MCP_INSPECTOR_SECRET_STORE: 'memory' },
  // Its process between commands: of this test alone.
  ...{ MCP_INSPECTOR_DAEMON_DIR: join(room, 'daemon'), MCP_INSPECTOR_DAEMON_TOKEN: randomBytes(16).toString('hex') },
}
let offline: string | undefined

const nexus = (...args: string[]): Answer => run(join(project, 'node_modules/.bin/nexus'), args, { cwd: project, env })
const mcpdo = (...args: string[]): Answer =>
  run(join(inspector, 'node_modules/.bin/mcpdo'), ['--format', 'json', '--catalog', clientFile, ...args], {
    ...{ cwd: project, env },
  })

/** What `mcp-inspector --cli` prints for one request to the server of the client's file. */
function inspect(era: string, ...args: string[]): string {
  const words = ['--cli', '--config', clientFile, '--server', 'nexus', '--protocol-era', era, ...args]
  const { status, stdout, stderr } = run(join(inspector, 'node_modules/.bin/mcp-inspector'), words, {
    ...{ cwd: project, env },
  })
  assert.equal(status, 0, stderr)
  return stdout
}

function skips(t: TestContext): boolean {
  const why = offline === undefined ? whySkipped() : `npm cannot reach its registry (${offline})`
  if (why !== undefined) t.skip(why)
  return why !== undefined
}

before(() => {
  const held = join(home, '.nexus/skills/needs-a-program')
  mkdirSync(held, { recursive: true })
  const needs = 'metadata: { requires: { bins: [no-such-program] } }'
  writeFileSync(join(held, 'SKILL.md'), `---\nname: needs-a-program\ndescription: Waits.\n${needs}\n---\n\nText\n`)
  offline = install(project, pack(room)) ?? install(inspector, INSPECTOR)
  writeFileSync(join(project, 'sales.csv'), SALES)
})
after(() => {
  if (offline === undefined) mcpdo('daemon', 'stop')
  rmSync(room, { recursive: true, force: true, maxRetries: 5 })
})

test('one command adds Nexus to the file of a client, and it answers from there', (t) => {
  if (skips(t)) return
  const installed = nexus('mcp', 'install', 'cursor')
  assert.equal(installed.status, 0, installed.stderr)
  const checked = nexus('mcp', 'check', 'cursor')
  assert.equal(checked.status, 0, checked.stdout)
})

for (const era of INSPECTOR_ERAS) {
  test(`the inspector (${era}) finds no fault in tools and skills, and sees why a skill is held`, (t) => {
    if (skips(t)) return
    inspect(era, '--method', 'tools/list', '--strict')
    const reports = inspect(era, '--method', 'skills/list', '--verify', '--require-digests')
    assert.match(reports, /"name":"csv-report","conformance":\[\]/)
    const read = inspect(era, '--method', 'resources/read', '--uri', 'nexus://skills')
    const [{ text }] = (JSON.parse(read) as { contents: [{ text: string }] }).contents
    const { held } = JSON.parse(text) as { held: { name: string; reasons: { text: string }[] }[] }
    const [reason] = held.find(({ name }) => name === 'needs-a-program')?.reasons ?? []
    assert.equal(reason?.text, 'missing binary: no-such-program')
  })

  test(`a person at the inspector (${era}) loads a skill, is asked about its script, agrees, and it runs in the sandbox`, (t) => {
    if (skips(t)) return
    const settings = join(home, '.nexus/nexus.yaml')
    writeFileSync(settings, 'agents: [{ id: main, tools: { ask: [run_command] } }]\n')
    t.after(() => {
      mcpdo('disconnect', 'nexus')
      rmSync(settings)
    })
    const connected = mcpdo('connect', 'nexus', '--era', era)
    assert.equal(connected.status, 0, connected.stderr)
    const call = (tool: string, args: Record<string, string>): string =>
      mcpdo('--connection', 'nexus', 'tools/call', tool, JSON.stringify(args)).stdout
    const loaded = call('load_skill', { skill_name: 'csv-report' })
    const [, script = ''] = /node \\"([^"\\]+report\.mjs)\\"/.exec(loaded) ?? []
    const command = `node "${script}" sales.csv --group region --value revenue --out ${era}; curl -sm 5 https://example.com || echo no network`
    const asked = JSON.parse(call('run_command', { command, skill_name: 'csv-report' })) as {
      elicitationPending: { elicitationId: string; message: string }
    }
    const { elicitationId, message } = asked.elicitationPending
    assert.ok(message.includes(script) && message.includes(`--out ${era};`), message)
    assert.equal(existsSync(join(project, era)), false)
    const answered = mcpdo('elicitation/respond', elicitationId, 'answer:=once')
    assert.match(answered.stdout, /no network/, answered.stderr)
    assert.match(readFileSync(join(project, era, 'summary.md'), 'utf8'), /North/)
  })
}

test('the SDK client, with the entry of the client file, cancels a run', async (t) => {
  if (skips(t)) return
  const { mcpServers } = JSON.parse(readFileSync(clientFile, 'utf8')) as {
    mcpServers: { nexus: { command: string; args: string[] } }
  }
  const client = new Client({ name: 'test', version: '1' })
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
  const start = { ...mcpServers.nexus, cwd: project, env: { ...env, PATH: path }, stderr: 'ignore' as const }
  await client.connect(new StdioClientTransport(start))
  t.after(() => client.close())
  const mark = `nexus-mcp-installed-${process.pid}`
  const controller = new AbortController()
  const call = client.callTool(
    { name: 'run_command', arguments: { command: `exec -a ${mark} sleep 300` } },
    { signal: controller.signal },
  )
  await until(() => processesWith(mark).length > 0)
  const from = performance.now()
  controller.abort()
  await assert.rejects(call)
  await until(() => processesWith(mark).length === 0)
  t.diagnostic(`the command was gone after ${Math.round(performance.now() - from)} ms`)
})
