import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { Place } from '../cli/nexus.ts'
import { connect, type Era, ERAS, ledgerOf, processesWith, RawClient, until } from './client.ts'

const CALL = { name: 'run_command', arguments: { command: 'echo asked >> asked.txt; cat asked.txt' } }

interface Question {
  readonly message: string
  readonly requestedSchema: {
    readonly properties: { readonly answer: { readonly oneOf: readonly { const: string }[] } }
  }
}

/** A place whose policy asks about commands. */
function askingPlace(t: TestContext): Place {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), 'agents: [{ id: main, tools: { ask: [run_command] } }]\n')
  return place
}

/** A client whose person answers with that. */
async function answering(t: TestContext, place: Place, { era, reply }: { era: Era; reply: object }) {
  const questions: Question[] = []
  const { client } = await connect(t, place, {
    ...{ era, args: ['--trust'], capabilities: { elicitation: { form: {} } } },
    prepare: (made) =>
      made.setRequestHandler('elicitation/create', ({ params }) => {
        questions.push(params as unknown as Question)
        return reply as { action: 'accept' }
      }),
  })
  const call = async (arguments_: Record<string, unknown> = CALL.arguments, _meta = {}): Promise<string> => {
    const { content } = await client.callTool({ name: CALL.name, arguments: arguments_, _meta })
    return content.map((part) => ('text' in part ? part.text : '')).join('\n')
  }
  return { call, client, questions }
}

/** How the calls of the place ended, and its questions. */
function endsOf(place: Place): readonly (readonly string[])[] {
  const database = new DatabaseSync(join(place.home, 'state/nexus.db'), { readOnly: true })
  const questions = database.prepare('select state, answered_by from approvals').all()
  database.close()
  return [
    ledgerOf(place).map(({ state }) => String(state)),
    questions.map(({ state, answered_by: by }) => `${String(state)} by ${String(by)}`),
  ]
}

const said = (answer: string): object => ({ action: 'accept', content: { answer } })

test('no line of a command passes for a line of the question, and the size of a long one is named', async (t) => {
  const { call, questions } = await answering(t, askingPlace(t), { era: '2025-11-25', reply: said('deny') })
  const command = `true\n\nMay run_command run this?\n\n${' '.repeat(600)}id`
  await call({ command })
  const [first, blank, ...lines] = questions[0]?.message.split('\n') ?? []
  assert.equal(first, `May run_command run this? Read all of it: 5 lines, ${command.length} characters.`)
  assert.equal(blank, '')
  assert.deepEqual(lines, command.split('\n').map((line) => `| ${line}`)) // oxfmt-ignore
})

for (const era of Object.keys(ERAS) as Era[]) {
  test(`a person at a client of ${era} is asked with exactly what would run, and it runs once, in the same row`, async (t) => {
    const place = askingPlace(t)
    const { call, client, questions } = await answering(t, place, { era, reply: said('once') })
    assert.match(await call(), /stdout:\nasked\n+Changed 1 file: asked\.txt$/)
    assert.equal(questions.length, 1)
    assert.ok(questions[0]?.message.includes(CALL.arguments.command), questions[0]?.message)
    await client.close()
    const rows = ledgerOf(place)
    assert.deepEqual(
      rows.map(({ tool, state }) => `${tool} ${state}`),
      ['run_command done'],
    )
    assert.match(rows[0]?.decision ?? '', /approved by mcp client test/)
  })

  for (const reply of [said('deny'), { action: 'decline' }])
    test(`${JSON.stringify(reply)} from a client of ${era} is a no`, async (t) => {
      const place = askingPlace(t)
      const { call, client } = await answering(t, place, { era, reply })
      assert.match(await call(), /A person said no/)
      await client.close()
      assert.deepEqual(endsOf(place), [['denied'], ['denied by mcp client test']])
    })

  for (const reply of [{ action: 'cancel' }, { action: 'accept', content: {} }, said('yes'), said('ONCE')])
    test(`${JSON.stringify(reply)} from a client of ${era} closes the question without an answer`, async (t) => {
      const place = askingPlace(t)
      const { call, client } = await answering(t, place, { era, reply })
      const text = await call()
      assert.match(text, /The question was closed without an answer\.\n.*repeat the call when the user can answer/)
      assert.match(text, /To be asked no more, remove run_command from tools\.ask/)
      assert.doesNotMatch(text, /said no/)
      await client.close()
      assert.deepEqual(endsOf(place), [['denied'], ['not run by null']])
    })

  test(`a decline of codex exec, where no person is, is no answer (${era})`, async (t) => {
    const { call } = await answering(t, askingPlace(t), { era, reply: { action: 'decline' } })
    const from = (trigger: string) => ({ 'x-codex-turn-metadata': { turn_trigger: trigger } })
    assert.match(await call(undefined, from('exec')), /The question was closed without an answer/)
    assert.match(await call(undefined, from('user')), /A person said no/)
  })

  test(`an answer that is remembered at a client of ${era} is not asked for again`, async (t) => {
    const { call, questions } = await answering(t, askingPlace(t), { era, reply: said('exact') })
    await call()
    assert.match(await call(), /asked\nasked/)
    assert.equal(questions.length, 1)
    await call({ command: 'echo other' })
    assert.equal(questions.length, 2)
  })

  test(`a client of ${era} that cannot ask gets a denial that says what would allow the call`, async (t) => {
    const { client } = await connect(t, askingPlace(t), { era, args: ['--trust'] })
    const { content, isError } = await client.callTool(CALL)
    assert.equal(isError, true)
    assert.match(JSON.stringify(content), /The MCP client test cannot ask a person.*remove run_command from tools\.ask/)
  })
}

/** A raw client of 2025 whose question is open, and the id of that question. */
async function asked2025(t: TestContext, place: Place, elicitation: object = { form: {} }) {
  const client = new RawClient(t, place, { args: ['--trust'] })
  await client.initialize({ elicitation })
  client.send({ id: 1, method: 'tools/call', params: CALL })
  const { id } = await client.wait(({ method }) => method === 'elicitation/create')
  return { client, id }
}

for (const reply of [
  { error: { code: -32601, message: 'no such method' } },
  { result: {} },
  { result: { action: 'maybe' } },
  { result: { action: 'accept', content: 'once' } },
])
  test(`a client that replies ${JSON.stringify(reply)} to the form closes the question, and the call ends`, async (t) => {
    const place = askingPlace(t)
    // Clients from before there were modes declare no form.
    const { client, id } = await asked2025(t, place, {})
    client.send({ id, ...reply })
    assert.match(JSON.stringify(await client.answer(1)), /The question was closed without an answer/)
    assert.deepEqual(endsOf(place), [['denied'], ['not run by null']])
  })

test('an answer from elsewhere ends the call of a client of 2025 at once, and withdraws its form', async (t) => {
  const place = askingPlace(t)
  const { client, id } = await asked2025(t, place)
  const open = JSON.parse((await place.run(['approvals', 'list', '--json'])).stdout) as {
    data: { open: { id: string }[] }
  }
  await place.run(['approvals', 'answer', open.data.open[0]?.id ?? '', '--allow'])
  assert.match(JSON.stringify(await client.answer(1)), /stdout:\\nasked/)
  const { params } = await client.wait(({ method }) => method === 'notifications/cancelled')
  assert.equal(params?.['requestId'], id)
})

test('a skill that was loaded over MCP answers no question beforehand, and takes no tool away', async (t) => {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), 'agents: [{ id: main, preset: trusted }]\n')
  const directory = join(place.workspace, 'skills/bold')
  mkdirSync(directory)
  const fields = 'name: bold\ndescription: Runs commands.\nallowed-tools: run_command\nmetadata: { restrict: true }\n'
  writeFileSync(join(directory, 'SKILL.md'), `---\n${fields}---\n\nRun them.\n`)
  const { call, client, questions } = await answering(t, place, { era: '2025-11-25', reply: said('once') })
  const loaded = await client.callTool({ name: 'load_skill', arguments: { skill_name: 'bold' } })
  assert.notEqual(loaded.isError, true)
  await call()
  assert.equal(questions.length, 1)
  assert.notEqual((await client.callTool({ name: 'list_directory', arguments: { path: '.' } })).isError, true)
})

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
}
const YES = { approval: said('once') }

/** A raw client of 2026 that was asked about the call. */
async function asked(t: TestContext, place: Place) {
  const client = new RawClient(t, place, { args: ['--trust'] })
  let id = 0
  const send = async (more: Record<string, unknown>, call: object = CALL) => {
    client.send({ id: ++id, method: 'tools/call', params: { ...call, ...more, _meta: META } })
    return client.answer(id)
  }
  const { result } = await send({})
  assert.equal(result?.['resultType'], 'input_required')
  return { client, send, state: result?.['requestState'] as string }
}

test('an answer counts once, for the call that was asked about, and only with the state that was given', async (t) => {
  const place = askingPlace(t)
  const { send, state } = await asked(t, place)
  const forged = `${state.slice(0, -4)}AAAA`
  for (const requestState of [forged, 'v1.e30.e30', '', 'x'.repeat(10_000), 7])
    assert.equal(
      (await send({ requestState, inputResponses: YES })).error?.code,
      -32602,
      String(requestState).slice(0, 20),
    )
  const other = { ...CALL, arguments: { command: 'echo other' } }
  assert.match(
    JSON.stringify((await send({ requestState: state, inputResponses: YES }, other)).result),
    /no longer open/,
  )
  const again = await send({ requestState: state })
  assert.equal(again.result?.['resultType'], 'input_required', 'without an answer the question is asked again')
  assert.match(JSON.stringify((await send({ requestState: state, inputResponses: YES })).result), /stdout:\\nasked/)
  assert.match(JSON.stringify((await send({ requestState: state, inputResponses: YES })).result), /no longer open/)
  assert.deepEqual(
    ledgerOf(place).map(({ state: rowState }) => rowState),
    ['done'],
  )
})

test('a state of another process is refused, and the call that it was about does not run', async (t) => {
  const place = askingPlace(t)
  const first = await asked(t, place)
  first.client.child.stdin?.end()
  await until(() => first.client.child.exitCode !== null)
  const second = await asked(t, place)
  assert.equal((await second.send({ requestState: first.state, inputResponses: YES })).error?.code, -32602)
  assert.equal(ledgerOf(place)[0]?.state === 'done', false)
})

test('a request that is cancelled while its approved command runs ends the command', async (t) => {
  const place = askingPlace(t)
  const mark = `nexus-mcp-approved-${process.pid}`
  const client = new RawClient(t, place, { args: ['--trust'] })
  const params = { name: 'run_command', arguments: { command: `exec -a ${mark} sleep 300` }, _meta: META }
  client.send({ id: 1, method: 'tools/call', params })
  const { requestState } = (await client.answer(1)).result as { requestState: string }
  client.send({ id: 2, method: 'tools/call', params: { ...params, requestState, inputResponses: YES } })
  await until(() => processesWith(mark).length > 0)
  client.send({ method: 'notifications/cancelled', params: { requestId: 2, _meta: META } })
  await until(() => processesWith(mark).length === 0)
})
