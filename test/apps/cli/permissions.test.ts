/** Who may do what, from a nexus.yaml and a profile to refusals and their explanation, by the command. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { startModelServer } from '../../../src/testing/index.ts'
import { Place } from './nexus.ts'

type Calls = readonly (readonly [name: string, args: Record<string, string>])[]

/** A workspace with `site` and `private`, and an agent that is confined to `site`. */
function prepare(t: TestContext): Place {
  const place = new Place(t)
  const write = (path: string, text: string): void => {
    mkdirSync(join(place.root, path, '..'), { recursive: true })
    writeFileSync(join(place.root, path), text)
  }
  const { workspace } = place
  const at = (path: string): string => join(workspace, path).slice(place.root.length + 1)
  write(
    at('nexus.yaml'),
    `agents:\n  - id: builder\n    preset: sandboxed\n    permissions: { allowedPaths: [./site] }\n`,
  )
  write(at('.nexus/agents/reader.yaml'), 'preset: worker\npermissions: { allowedPaths: [./site] }\n')
  write(at('site/page.txt'), 'old page\n')
  write(at('private/key.txt'), 'the secret key\n')
  return place
}

/** What the model was answered to each call. */
async function answers(
  t: TestContext,
  { place, agent }: { place: Place; agent: string },
  calls: Calls,
): Promise<string[]> {
  const server = await startModelServer({
    script: [
      ...calls.map(([name, args]) => ({ type: 'tool-calls', calls: [{ name, arguments: args }] }) as const),
      { type: 'text', text: 'Done.' },
    ],
  })
  t.after(() => server.close())
  const model = ['--model', 'openai-compatible/scripted', '--base-url', server.url]
  const { code, stderr } = await place.run(['run', 'Work', '--trust', '--agent', agent, ...model])
  assert.equal(code, 0, stderr)
  const last = server.requests.at(-1)?.messages ?? []
  return last.filter(({ role }) => role === 'tool').map(({ text }) => text)
}

test('a sandboxed agent works in one directory, and every tool and command refuses what is outside', async (t) => {
  const place = prepare(t)
  const [wrote, ran, ...refused] = await answers(t, { place, agent: 'builder' }, [
    ['write_file', { path: 'site/new.txt', content: 'new page\n' }],
    ['run_command', { command: 'cat page.txt > copy.txt && cat copy.txt', cwd: 'site' }],
    ['read_file', { path: 'private/key.txt' }],
    ['list_directory', { path: 'private' }],
    ['write_file', { path: 'private/new.txt', content: 'x' }],
    ['edit_file', { path: 'private/key.txt', old_string: 'secret', new_string: 'public' }],
    ['run_command', { command: 'cat ../private/key.txt; echo x > ../private/new.txt', cwd: 'site' }],
  ])
  assert.match(wrote ?? '', /site\/new\.txt/)
  assert.match(ran ?? '', /old page/)
  assert.equal(readFileSync(join(place.workspace, 'site/copy.txt'), 'utf8'), 'old page\n')
  assert.equal(refused.length, 5)
  for (const text of refused) assert.doesNotMatch(text, /the secret key/)
  for (const text of refused.slice(0, 4)) {
    assert.match(text, /it is outside the directories that this agent may (?:read|change): \S+\/site/)
    assert.match(text, /The user allows more with permissions\.allowedPaths of the agent/)
  }
  assert.equal(existsSync(join(place.workspace, 'private/new.txt')), false)
  assert.equal(readFileSync(join(place.workspace, 'private/key.txt'), 'utf8'), 'the secret key\n')
})

test('policy explain gives the chain of such a call, with its limits, files and lines', async (t) => {
  const place = prepare(t)
  const explain = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await place.run(['policy', 'explain', ...args, '--trust'])
    assert.equal(code, 0, stderr)
    return stdout
  }
  const builder = await explain('builder', 'run_command')
  assert.match(builder, /^grants: allow by preset sandboxed$/m)
  assert.match(builder, /preset: sandboxed .*nexus\.yaml:3/)
  assert.match(builder, /limit: writePaths \S*\/site$/m)
  assert.match(builder, /limit: networkDomains none/)
  const web = await explain('builder', 'web_fetch')
  assert.match(web, /^deny by preset sandboxed$/m)
  assert.match(web, /needs the network.*network: true in a preset of their own/)
  assert.match(await explain('reader', 'write_file'), /preset: worker .*agents\/reader\.yaml:1/)
})

test('a worker of a profile reads, and is neither offered nor given what changes files', async (t) => {
  const place = prepare(t)
  const [read, wrote, ran] = await answers(t, { place, agent: 'reader' }, [
    ['read_file', { path: 'site/page.txt' }],
    ['write_file', { path: 'site/new.txt', content: 'x' }],
    ['run_command', { command: 'echo x > new.txt || echo kept', cwd: 'site' }],
  ])
  assert.match(read ?? '', /old page/)
  assert.match(wrote ?? '', /disabled by the permissions of this agent \(preset worker\)\. The user can enable it/)
  assert.match(ran ?? '', /kept|not kept|read-only/i)
  assert.equal(existsSync(join(place.workspace, 'site/new.txt')), false)
  const { stdout } = await place.run(['prompt', '--agent', 'reader', '--trust', '--json'])
  assert.doesNotMatch(stdout, /write_file|edit_file/)
})

test('policy check names typos, a denial that one makes void, and lines that never decide', async (t) => {
  const place = prepare(t)
  const check = (tools: string) => {
    writeFileSync(join(place.workspace, 'next.yaml'), `agents:\n  - id: main\n    tools: ${tools}\n`)
    return place.run(['policy', 'check', '--config', 'next.yaml'])
  }
  const fine = await check('{ deny: [web_fetch] }')
  assert.deepEqual([fine.code, fine.stdout], [0, 'Checked the policy of 1 agent: 0 findings\n'], fine.stderr)
  const dead = await check('{ ask: [web_fetch], deny: [group:web] }')
  assert.equal(dead.code, 0)
  assert.match(
    dead.stderr,
    /policy-unreachable .*next\.yaml:3:20\n.*'web_fetch' never decides, because the line deny: group:web covers/,
  )
  const typo = await check('{ deny: [run_comand] }')
  assert.equal(typo.code, 1)
  assert.match(typo.stderr, /run_comand.*\n?.*Did you mean 'run_command'/)
  // The settings of an untrusted workspace offer nothing, so these are the user's own.
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), 'mcp:\n  tools: [group:fs, web_fech]\n', { mode: 0o600 })
  const { stderr } = await place.run(['policy', 'check'])
  assert.match(stderr, /nexus\.yaml:2:21\n.*mcp\.tools\[1\]: 'web_fech' names no tool[\s\S]*Did you mean 'web_fetch'\?/)
})

test('policy diff lists the tools that another agent or other settings decide otherwise', async (t) => {
  const place = prepare(t)
  const diff = async (...args: string[]) => {
    const { code, stdout, stderr } = await place.run(['policy', 'diff', ...args, '--trust'])
    assert.equal(code, 0, stderr)
    return stdout
  }
  const agents = await diff('builder', 'reader')
  assert.match(agents, /^write_file +allow \(.*\) +deny \(preset worker\)$/m)
  assert.match(agents, /^load_skill +allow \(profile full\) +other limits$/m)
  writeFileSync(join(place.workspace, 'next.yaml'), 'agents: [{ id: builder, tools: { deny: [run_command] } }]\n')
  const { data } = JSON.parse(await diff('builder', '--against', 'next.yaml', '--json')) as {
    data: { changes: { tool: string; before: { decision: string }; after: { decision: string; rule: string } }[] }
  }
  assert.deepEqual(
    data.changes.map(({ tool, before, after }) => [tool, before.decision, after.decision, after.rule]),
    [['run_command', 'allow', 'deny', 'deny run_command']],
  )
})
