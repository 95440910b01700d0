import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Place } from '../cli/nexus.ts'
import { connect } from './client.ts'

const OF_CLIENTS = ['read_file', 'write_file', 'edit_file', 'list_directory', 'web_fetch', 'sleep']

function configure(place: Place, text: string): void {
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), text)
}

test('a client is offered the skill tools and run_command, and the two that a model needs at once are marked', async (t) => {
  const { client } = await connect(t, new Place(t), { args: ['--trust'] })
  const { tools } = await client.listTools()
  assert.deepEqual(
    tools.map(({ name, _meta }) => [name, _meta?.['anthropic/alwaysLoad'] ?? false]),
    [
      ['load_skill', true],
      ['read_skill_file', false],
      ['run_command', true],
    ],
  )
})

for (const [how, settings, names] of [
  ['mcp.tools', 'mcp: { tools: [group:fs, "web_*"] }', OF_CLIENTS.slice(0, 5)],
  ['the profile of the agent', 'agents: [{ id: main, tools: { profile: coding } }]', OF_CLIENTS.slice(0, 5)],
  ['tools.allow of the agent', 'agents: [{ id: main, tools: { allow: [sleep] } }]', ['sleep']],
  [
    'mcp.tools, but not against the policy',
    'mcp: { tools: ["*"] }\nagents: [{ id: main, tools: { deny: [group:fs] } }]',
    ['web_fetch', 'sleep'],
  ],
] as const)
  test(`file, web and sleep tools are offered by ${how}`, async (t) => {
    const place = new Place(t)
    configure(place, settings)
    const { client } = await connect(t, place, { args: ['--trust'] })
    const offered = (await client.listTools()).tools.map(({ name }) => name)
    assert.deepEqual(OF_CLIENTS.filter((name) => offered.includes(name)).sort(), [...names].sort())
  })

test('a result is text once: it repeats neither itself nor the arguments', async (t) => {
  const place = new Place(t)
  const { client } = await connect(t, place, { args: ['--trust'] })
  const [content, command] = ['x'.repeat(10_000), `echo ${'y'.repeat(5_000)}`]
  writeFileSync(join(place.workspace, 'long.txt'), content)
  const sizeOf = async (name: string, args: Record<string, unknown>): Promise<number> => {
    const { content: parts, ...rest } = await client.callTool({ name, arguments: args })
    assert.deepEqual(
      Object.keys(rest).filter((key) => key !== '_meta'),
      [],
    )
    return JSON.stringify(parts).length
  }
  assert.ok((await sizeOf('write_file', { path: 'new.txt', content })) < 500)
  assert.ok((await sizeOf('read_file', { path: 'long.txt' })) < 10_500)
  assert.ok((await sizeOf('run_command', { command })) < 5_500)
  for (const tool of (await client.listTools()).tools) assert.equal('outputSchema' in tool, false, tool.name)
})

/** Skills with long descriptions. */
function fill(place: Place, count: number): void {
  for (let index = 0; index < count; index++) {
    const directory = join(place.workspace, 'skills', `skill-${index}`)
    mkdirSync(directory, { recursive: true })
    const head = `name: skill-${index}\ndescription: Use it for number ${index}. ${'More about it. '.repeat(20)}`
    writeFileSync(join(directory, 'SKILL.md'), `---\n${head}\n---\n\nText\n`)
  }
}

test('the instructions list the skills within a budget, and name only tools that are offered', async (t) => {
  const place = new Place(t)
  configure(
    place,
    'agents: [{ id: main }, { id: reader, tools: { deny: [run_command] } }, { id: bare, tools: { deny: [group:skills] } }]',
  )
  const instructionsOf = async (...args: string[]): Promise<string> =>
    (await connect(t, place, { args: ['--trust', ...args] })).client.getInstructions() ?? ''
  const whole = await instructionsOf()
  assert.match(whole, /Load it with load_skill.*run_command runs its scripts.*- greet: Greets by name/s)
  assert.doesNotMatch(whole, /find_skills/)
  assert.doesNotMatch(await instructionsOf('--agent', 'reader'), /run_command/)
  assert.doesNotMatch(await instructionsOf('--agent', 'bare'), /load_skill|greet/)
  fill(place, 200)
  const cut = await instructionsOf()
  assert.ok(cut.length < 1_300, String(cut.length))
  assert.match(cut, /- skill-0\b[\s\S]*\d+ more: call find_skills/)
})

test('where only the client can name the workspace, its instructions name no skill and no tool', async (t) => {
  const place = new Place(t)
  const instructionsOf = async (options: Parameters<typeof connect>[2]): Promise<string> =>
    (await connect(t, place, { era: '2025-11-25', ...options })).client.getInstructions() ?? ''
  assert.doesNotMatch(await instructionsOf({ args: ['--trust'] }), /load_skill|run_command|greet/)
  assert.match(await instructionsOf({ args: ['--trust', '--workspace', place.workspace] }), /- greet/)
  assert.match(await instructionsOf({ args: ['--trust'], env: { CLAUDE_PROJECT_DIR: place.workspace } }), /- greet/)
})

test('settings that cannot be read do not stop the start of a client', async (t) => {
  const place = new Place(t)
  configure(place, 'agents: [')
  const { client } = await connect(t, place)
  assert.match(client.getInstructions() ?? '', /^Nexus offers skills/)
})
