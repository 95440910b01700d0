import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { Place } from '../cli/nexus.ts'
import { connect, type Era, ERAS, ledgerOf, processesWith, RawClient, until } from './client.ts'

const TOKEN = `nexus-mcp-${process.pid}`

interface Result {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly isError?: boolean
}

const textOf = ({ content }: Result): string => content.map(({ text = '' }) => text).join('\n')

for (const era of Object.keys(ERAS) as Era[])
  test(`a client of ${era} lists tools, loads a skill and runs its script`, async (t) => {
    const place = new Place(t)
    const { client } = await connect(t, place, { era, args: ['--trust'] })
    assert.equal(client.getServerVersion()?.name, 'nexus')
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name)
    for (const name of ['load_skill', 'read_skill_file', 'run_command']) assert.ok(names.includes(name), names.join())
    for (const { title, annotations, inputSchema } of tools) {
      assert.ok(title)
      assert.equal(typeof annotations?.readOnlyHint, 'boolean')
      assert.equal(inputSchema.type, 'object')
      assert.deepEqual(
        ['anyOf', 'oneOf', 'allOf'].filter((key) => key in inputSchema),
        [],
      )
    }
    assert.match(tools[0]?.description ?? '', /- greet: Greets by name/)
    const loaded = (await client.callTool({ name: 'load_skill', arguments: { skill_name: 'greet' } })) as Result
    const [, script = ''] = /bash "([^"]+)"/.exec(textOf(loaded)) ?? []
    const command = { name: 'run_command', arguments: { command: `bash "${script}" Ada`, skill_name: 'greet' } }
    const ran = (await client.callTool(command)) as Result
    assert.match(textOf(ran), /hello Ada/)
    const failed = (await client.callTool({ name: 'load_skill', arguments: { skill_name: 'gret' } })) as Result
    assert.equal(failed.isError, true)
    assert.match(textOf(failed), /Did you mean 'greet'/)
    await assert.rejects(client.callTool({ name: 'lod_skill', arguments: {} }), /-32602|Did you mean 'load_skill'/)
  })

test('nexus calls lists the calls over MCP and of skills run, newest first, by origin and agent', async (t) => {
  const place = new Place(t)
  const none = await place.run(['calls'])
  assert.deepEqual([none.code, none.stdout, none.stderr], [0, '', 'No such call is recorded.\n'])
  const { client } = await connect(t, place, { args: ['--trust'] })
  await client.callTool({ name: 'load_skill', arguments: { skill_name: 'greet' } })
  await client.close()
  await place.run(['skills', 'run', 'greet', '--trust', '--sandbox', 'none', '--', 'true'])
  const listed = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await place.run(['calls', ...args, '--json'])
    const { data } = JSON.parse(stdout) as { data: { calls: { call: { origin: string; tool: string } }[] } }
    return data.calls.map(({ call: { origin, tool } }) => `${origin} ${tool}`)
  }
  const [run, mcp] = ['cli run_command', 'mcp load_skill']
  assert.deepEqual(await listed(), [run, 'cli load_skill', mcp])
  assert.deepEqual(await listed('--origin', 'mcp'), [mcp])
  assert.deepEqual(await listed('--limit', '1'), [run])
  assert.deepEqual(await listed('--agent', 'absent'), [])
  const { stdout } = await place.run(['calls', '--origin', 'mcp'])
  assert.match(
    stdout,
    /^\d{4}-\d\d-\d\dT\d\d:\d\d {2}mcp {2}main {2}load_skill {2}skill_name=greet {2}allowed \(.*\) {2}✓ .* ms\n$/,
  )
  const { code, stderr } = await place.run(['calls', '--limit', '0'])
  assert.equal(code, 2)
  assert.match(stderr, /--limit/)
})

test('a cancelled call ends its command, and the server goes on', async (t) => {
  const place = new Place(t)
  const client = new RawClient(t, place, { args: ['--trust'] })
  await client.initialize()
  const mark = `${TOKEN}-cancel`
  const command = `exec -a ${mark} sleep 300`
  client.send({ id: 1, method: 'tools/call', params: { name: 'run_command', arguments: { command } } })
  await until(() => processesWith(mark).length > 0)
  client.send({ method: 'notifications/cancelled', params: { requestId: 1 } })
  await until(() => processesWith(mark).length === 0)
  client.send({ id: 2, method: 'ping' })
  assert.deepEqual((await client.answer(2)).result, {})
  assert.equal(
    client.received.some(({ id }) => id === 1),
    false,
    'a cancelled request is not answered',
  )
})

for (const [how, command] of [
  ['a command', (mark: string) => `exec -a ${mark} sleep 300`],
  ['a command that ignores signals', (mark: string) => `trap '' TERM; (exec -a ${mark} sleep 300); sleep 300`],
] as const)
  test(`the end of stdin ends the server and ${how}`, async (t) => {
    const place = new Place(t)
    const client = new RawClient(t, place, { args: ['--trust'] })
    await client.initialize()
    const mark = `${TOKEN}-${how.length}`
    const params = { name: 'run_command', arguments: { command: command(mark), timeout_sec: 200 } }
    client.send({ id: 1, method: 'tools/call', params })
    await until(() => processesWith(mark).length > 0)
    client.child.stdin?.end()
    const [code] = (await once(client.child, 'exit')) as [number]
    assert.equal(code, 0)
    await until(() => processesWith(mark).length === 0)
    assert.deepEqual(client.noise, [])
  })

test('two clients of one workspace work at the same time, and the end of one ends only its own command', async (t) => {
  const place = new Place(t)
  const marks = ['one', 'two'].map((name) => `${TOKEN}-${name}`)
  const clients = marks.map(() => new RawClient(t, place, { args: ['--trust'] }))
  for (const [index, client] of clients.entries()) {
    await client.initialize()
    const command = `echo of ${index} > ${index}.txt; exec -a ${marks[index]} sleep 300`
    client.send({ id: 1, method: 'tools/call', params: { name: 'run_command', arguments: { command } } })
  }
  const isRunning = (mark = ''): boolean => processesWith(mark).length > 0
  await until(() => marks.every(isRunning))
  const [first, second] = clients as [RawClient, RawClient]
  first.child.kill('SIGKILL')
  await until(() => !isRunning(marks[0]))
  assert.ok(isRunning(marks[1]))
  second.send({ id: 2, method: 'tools/call', params: { name: 'run_command', arguments: { command: 'echo still' } } })
  assert.match(JSON.stringify((await second.answer(2)).result), /still/)
  second.child.stdin?.end()
  await once(second.child, 'exit')
  assert.equal(isRunning(marks[1]), false)
})

for (const era of Object.keys(ERAS) as Era[])
  test(`a client of ${era} that ends while a person is asked leaves no open question, and nothing ran`, async (t) => {
    const place = new Place(t)
    mkdirSync(place.home, { recursive: true })
    writeFileSync(join(place.home, 'nexus.yaml'), 'agents: [{ id: main, tools: { ask: [run_command] } }]\n')
    const asked = Promise.withResolvers<void>()
    const { client } = await connect(t, place, {
      ...{ era, args: ['--trust'], capabilities: { elicitation: { form: {} } } },
      prepare: (made) =>
        made.setRequestHandler('elicitation/create', () => {
          asked.resolve()
          return new Promise<never>(() => undefined)
        }),
    })
    const call = { name: 'run_command', arguments: { command: 'echo ran > ran.txt' } }
    client.callTool(call).catch(() => undefined)
    await asked.promise
    await client.close()
    assert.equal(readdirSync(place.workspace).includes('ran.txt'), false)
    assert.deepEqual(
      ledgerOf(place).map(({ state }) => state),
      ['denied'],
    )
  })

test('a server that is killed leaves no command behind', async (t) => {
  const place = new Place(t)
  const client = new RawClient(t, place, { args: ['--trust'] })
  await client.initialize()
  const mark = `${TOKEN}-kill`
  const command = `trap '' TERM; (exec -a ${mark} sleep 300); sleep 300`
  client.send({ id: 1, method: 'tools/call', params: { name: 'run_command', arguments: { command } } })
  await until(() => processesWith(mark).length > 0)
  client.child.kill('SIGKILL')
  await until(() => processesWith(mark).length === 0)
})

test('a call that was asked to report progress does so at once and with its output', async (t) => {
  const place = new Place(t)
  const { client } = await connect(t, place, { args: ['--trust'] })
  const messages: (string | undefined)[] = []
  const call = { name: 'run_command', arguments: { command: 'echo one; sleep 1.5; echo two' } }
  await client.callTool(call, { onprogress: ({ message }) => messages.push(message) })
  assert.equal(messages[0], 'run_command runs')
  assert.ok(messages.includes('two'), messages.join())
})

test('an untrusted workspace is announced once, and nothing of it runs', async (t) => {
  const place = new Place(t)
  const { client, log } = await connect(t, place)
  const first = (await client.callTool({ name: 'load_skill', arguments: { skill_name: 'greet' } })) as Result
  assert.match(textOf(first), /is not trusted: nothing of it runs.*nexus trust/s)
  const second = (await client.callTool({ name: 'run_command', arguments: { command: 'echo hi' } })) as Result
  assert.equal(second.isError, true)
  assert.match(textOf(second), /the workspace is not trusted, so no command runs/)
  assert.doesNotMatch(textOf(second), /nothing of it runs/)
  assert.equal(log().match(/is not trusted/g)?.length, 1, log())
})

test('settings that wait for trust stop commands and changes of files, also where there is no skill', async (t) => {
  const place = new Place(t)
  const cwd = join(place.root, 'settings-only')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'nexus.yaml'), 'agents:\n  - id: main\n    preset: worker\n')
  const { client } = await connect(t, place, { cwd, args: ['--workspace', cwd] })
  const ran = (await client.callTool({ name: 'run_command', arguments: { command: 'echo hi' } })) as Result
  assert.match(textOf(ran), /the workspace is not trusted, so no command runs/)
  assert.match(textOf(ran), /is not trusted: nothing of it runs.*nexus trust/s)
  const file = { path: 'new.txt', content: 'x' }
  const wrote = (await client.callTool({ name: 'write_file', arguments: file })) as Result
  assert.equal(wrote.isError, true)
  assert.deepEqual(readdirSync(cwd), ['nexus.yaml'])
})

test('the workspace is the one named first: --workspace, CLAUDE_PROJECT_DIR, a root of the client, the working directory', async (t) => {
  const place = new Place(t)
  const names = ['flag', 'project', 'root', 'cwd'] as const
  const at = Object.fromEntries(
    names.map((name) => {
      const directory = join(place.root, name)
      mkdirSync(join(directory, 'skills', `of-${name}`), { recursive: true })
      writeFileSync(
        join(directory, 'skills', `of-${name}`, 'SKILL.md'),
        `---\nname: of-${name}\ndescription: Is found in ${name}.\n---\n\nText\n`,
      )
      return [name, directory]
    }),
  )
  const served = async (options: Parameters<typeof connect>[2]): Promise<string | undefined> => {
    const { client } = await connect(t, place, {
      era: '2025-11-25',
      cwd: at['cwd'] as string,
      args: ['--trust'],
      ...options,
    })
    const { tools } = await client.listTools()
    return /- of-(\w+):/.exec(tools[0]?.description ?? '')?.[1]
  }
  const roots: Parameters<typeof connect>[2] = {
    capabilities: { roots: {} },
    prepare: (client) =>
      client.setRequestHandler('roots/list', () => ({
        roots: [{ uri: 'file:///not/there' }, { uri: pathToFileURL(at['root'] as string).href }],
      })),
  }
  const env = { CLAUDE_PROJECT_DIR: at['project'] as string }
  assert.equal(await served({}), 'cwd')
  assert.equal(await served(roots), 'root')
  assert.equal(await served({ ...roots, env }), 'project')
  assert.equal(await served({ ...roots, env, args: ['--trust', '--workspace', at['flag'] as string] }), 'flag')
})

test('the root of the file system and the home directory are refused as workspace, in words', async (t) => {
  const place = new Place(t)
  for (const cwd of ['/', place.root]) {
    const { client } = await connect(t, place, { cwd })
    const result = (await client.callTool({ name: 'load_skill', arguments: { skill_name: 'greet' } })) as Result
    assert.equal(result.isError, true)
    assert.match(textOf(result), /too large to be a workspace.*nexus mcp --workspace/s)
    await assert.rejects(client.listTools(), /too large to be a workspace/)
  }
})

test('no file of a home directory is read as one of a workspace', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.root, 'nexus.yaml'), 'agents: [')
  const inside = join(place.root, 'notes')
  mkdirSync(inside)
  const { client } = await connect(t, place, { cwd: inside })
  const result = (await client.callTool({ name: 'load_skill', arguments: { skill_name: 'greet' } })) as Result
  assert.equal(result.isError, true)
  assert.match(textOf(result), /the nearest directory above.*too large to be a workspace/)
})

test('a broken nexus.yaml is reported to the client, and the next call sees the mended one', async (t) => {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  const file = join(place.home, 'nexus.yaml')
  writeFileSync(file, 'agents: [{ id: main, tools: { profile: 7 } }]\n')
  const { client } = await connect(t, place)
  const call = { name: 'load_skill', arguments: { skill_name: 'skill-author' } }
  const broken = (await client.callTool(call)) as Result
  assert.equal(broken.isError, true)
  assert.match(textOf(broken), /nexus\.yaml/)
  writeFileSync(file, 'agents: [{ id: main }]\n')
  assert.notEqual(((await client.callTool(call)) as Result).isError, true)
})

test('the policy of the agent decides, and a denied call says by which rule', async (t) => {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(
    join(place.home, 'nexus.yaml'),
    'agents: [{ id: main }, { id: reader, tools: { deny: [run_command] } }]\n',
  )
  const { client } = await connect(t, place, { args: ['--agent', 'reader', '--trust'] })
  const { tools } = await client.listTools()
  assert.equal(
    tools.some(({ name }) => name === 'run_command'),
    false,
  )
  const denied = (await client.callTool({ name: 'run_command', arguments: { command: 'echo hi' } })) as Result
  assert.match(textOf(denied), /refused \(deny run_command\)/)
})
