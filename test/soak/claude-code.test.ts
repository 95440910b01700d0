/** The real Claude Code, from npm at an exact version, against a local model: it downloads about 200 MB once, so it runs here. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { type ModelRequest, type Reply, startModelServer } from '../../src/testing/index.ts'
import { ended, Place } from '../apps/cli/nexus.ts'
import { ledgerOf } from '../apps/mcp/client.ts'
import { whySkipped } from '../machine/sandbox/required.ts'
import { ROOT } from '../source-tree.ts'

const VERSION = '2.1.330'
const DIRECTORY = join(ROOT, 'node_modules/.cache', `claude-code-${VERSION}`)
const PROGRAM = join(DIRECTORY, 'node_modules/.bin/claude')
const [LOAD, RUN] = ['mcp__nexus__load_skill', 'mcp__nexus__run_command']

/** Why it cannot be had here; undefined once it is installed. */
function whyNoClaude(): string | undefined {
  if (existsSync(PROGRAM)) return undefined
  mkdirSync(DIRECTORY, { recursive: true })
  writeFileSync(join(DIRECTORY, 'package.json'), '{ "private": true }')
  const args = ['install', '--no-audit', '--no-fund', `@anthropic-ai/claude-code@${VERSION}`]
  const { status, stderr, error } = spawnSync('npm', args, { cwd: DIRECTORY, encoding: 'utf8' })
  return status === 0 ? undefined : `Claude Code cannot be installed from npm: ${error?.message ?? stderr.slice(-300)}`
}

/** A model that loads the skill, runs the command that its text names, and repeats what came out. */
function reply({ messages, toolNames }: ModelRequest): Reply {
  if (!toolNames.includes(LOAD)) return { type: 'text', text: 'The tools of Nexus are not here.' }
  const results = messages.filter(({ role }) => role === 'tool').map(({ text }) => text)
  const [loaded, ran] = results
  if (loaded === undefined) return { type: 'tool-calls', calls: [{ name: LOAD, arguments: { skill_name: 'greet' } }] }
  if (ran !== undefined) return { type: 'text', text: `It says: ${ran}` }
  const [, script = ''] = /bash "([^"]+)"/.exec(loaded) ?? []
  const command = { command: `bash "${script}" Ada`, skill_name: 'greet' }
  return { type: 'tool-calls', calls: [{ name: RUN, arguments: command }] }
}

test('Claude Code shows its model load_skill at first, loads a skill and runs its script', async (t) => {
  const why = whySkipped() ?? whyNoClaude()
  if (why !== undefined) return t.skip(why)
  const place = new Place(t)
  const server = await startModelServer({ script: reply })
  t.after(() => server.close())
  const [command, ...args] = place.line(['mcp', '--trust'])
  const config = join(place.root, 'mcp.json')
  writeFileSync(config, JSON.stringify({ mcpServers: { nexus: { command, args, env: { NEXUS_HOME: place.home } } } }))
  const options = ['--output-format', 'stream-json', '--verbose', '--mcp-config', config, '--strict-mcp-config']
  const env = {
    ANTHROPIC_BASE_URL: new URL(server.url).origin,
    ANTHROPIC_API_KEY: 'scripted',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }
  const child = spawn(
    PROGRAM,
    ['-p', 'Greet Ada', ...options, '--allowedTools', `${LOAD},${RUN}`],
    place.options({ env }),
  )
  const { code, stdout, stderr } = await ended(child)
  assert.equal(code, 0, stdout + stderr)

  const [first] = server.requests.filter(({ toolNames }) => toolNames.length > 0)
  const tools = (first?.body['tools'] ?? []) as readonly Record<string, unknown>[]
  const load = tools.find(({ name }) => name === LOAD)
  assert.match(String(load?.['description']), /- greet: Greets by name/, 'the first request has the list of skills')
  assert.match(JSON.stringify(load?.['input_schema']), /"skill_name"/)
  assert.ok(tools.some(({ name }) => name === RUN))
  assert.match(stdout, /It says: [^"]*hello Ada/)
  assert.deepEqual(
    ledgerOf(place).map(({ origin, tool, state }) => [origin, tool, state]),
    [
      ['mcp', 'load_skill', 'done'],
      ['mcp', 'run_command', 'done'],
    ],
  )
})
