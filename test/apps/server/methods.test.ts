/** Agents over the wire: what is made, sent, cancelled, asked, restored and refused. */
import assert from 'node:assert/strict'
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { ClientError, createClient } from '../../../src/public/client.ts'
import type { ModelRequest, Reply } from '../../../src/testing/index.ts'
import { until } from '../mcp/client.ts'
import { startServer } from './serving.ts'

const lastOf = ({ messages }: ModelRequest): string => messages.at(-1)?.text ?? ''

/** The model does what the last message says: `tool NAME JSON`, `hang`, else it repeats it. */
const obeys = (request: ModelRequest): Reply => {
  const said = [...request.messages].reverse().find(({ role }) => role === 'user')?.text ?? ''
  const isAnswered = request.messages.at(-1)?.role === 'tool'
  const [, tool, args] = /^tool (\S+) (.*)$/s.exec(said) ?? []
  if (tool !== undefined && !isAnswered)
    return {
      type: 'tool-calls',
      calls: [{ name: tool, arguments: JSON.parse(args ?? '{}') as Record<string, string> }],
    }
  if (said === 'hang') return { type: 'hang', text: 'I think' }
  return { type: 'text', text: `Heard: ${lastOf(request)}` }
}

const codeOf = async (work: Promise<unknown>): Promise<number | undefined> => {
  try {
    await work
  } catch (error) {
    if (error instanceof ClientError) return error.code ?? error.status
    throw error
  }
  return undefined
}

test('agents over the wire', async (t) => {
  const server = await startServer(t, {
    script: obeys,
    args: ['--log-level', 'debug'],
    settings: 'agents: [{ id: main, tools: { ask: [sleep] } }]\n',
  })
  const { client, place, key, url } = server

  await t.test('an agent gets 8 hex digits, answers, and is read', async () => {
    const { agent_id: id, url: path } = await client.createAgent()
    assert.match(id, /^[0-9a-f]{8}$/)
    assert.equal(path, `/agent/${id}`)
    const answer = await client.send(id, 'hello', { requestId: 7 })
    assert.deepEqual(answer, { content: 'Heard: hello', request_id: '7' })
    assert.deepEqual(await client.getContext(id), { message_count: 2, system_prompt: false })
    const tokens = await client.getTokens(id)
    assert.equal(tokens.total, tokens.system + tokens.tools + tokens.messages)
    assert.equal(tokens.available, tokens.budget - 2_000 - tokens.total)
    const { messages, total } = await client.callAgent(id, ['get_messages', { after: 1 }])
    assert.deepEqual([messages.length, total, messages[0]?.['role']], [1, 2, 'assistant'])
    const listed = (await client.listAgents()).find(({ agent_id }) => agent_id === id)
    assert.deepEqual([listed?.message_count, listed?.permission_level, listed?.parent_agent_id], [2, 'sandboxed', null])
    assert.deepEqual([listed?.preset, listed?.cwd], ['sandboxed', realpathSync(place.workspace)])
    const turn = await client.callAgent(id, ['get_turn', { request_id: 7 }])
    assert.deepEqual([turn.state, turn.end, turn.content, turn.used.steps], ['done', 'done', 'Heard: hello', 1])
    assert.equal(await codeOf(client.callAgent(id, ['get_turn', { request_id: 'none' }])), -32_602)
    const status = await client.callAgent(id, ['get_status', {}])
    assert.deepEqual(status.agent, listed)
    assert.equal(status.used.subtree.total_tokens, turn.used.total_tokens)
    assert.deepEqual([status.context, status.questions], [{ message_count: 2, system_prompt: false }, []])
    assert.deepEqual(await client.callAgent(id, ['resume', {}]), { turns: [] })
  })

  await t.test('compact sums up the history, unless the next request fits and it is not forced', async () => {
    const { agent_id: id } = await client.createAgent()
    await client.send(id, 'hello')
    const fits = await client.callAgent(id, ['compact', { force: false, request_id: 'c1' }])
    assert.deepEqual([fits.request_id, fits.content], ['c1', undefined])
    const made = await client.callAgent(id, ['compact', { request_id: 'c2' }])
    assert.match(made.content ?? '', /^Heard: /)
    assert.equal(made.tokens.total, made.tokens.system + made.tokens.tools + made.tokens.messages)
    const before = server.model.requests.length
    assert.equal((await client.callAgent(id, ['compact', { request_id: 'c2' }])).content, made.content)
    assert.equal(server.model.requests.length, before)
  })

  await t.test(
    'the name of the program that sends is in the log; agents that ended are listed when asked for',
    async () => {
      const { agent_id: id } = await client.createAgent()
      await client.send(id, 'hello', { source: 'nightly\n{"level":"error"}' })
      await until(() => server.log().includes('"source":"nightly {'))
      await client.destroyAgent(id)
      const { agents } = await client.call('list_agents', { ended: true })
      assert.ok(agents.some(({ agent_id, ended_at }) => agent_id === id && ended_at !== undefined))
    },
  )

  await t.test(
    'a request id that is repeated gives the first result; with other content it is a conflict',
    async () => {
      const { agent_id: id } = await client.createAgent({ system_prompt: 'You are brief.' })
      assert.equal((await client.getContext(id)).system_prompt, true)
      const first = await client.send(id, 'once', { requestId: 'r1' })
      const before = server.model.requests.length
      assert.deepEqual(await client.send(id, 'once', { requestId: 'r1' }), first)
      assert.equal(server.model.requests.length, before)
      assert.equal(await codeOf(client.send(id, 'twice', { requestId: 'r1' })), -32_009)
    },
  )

  await t.test(
    'a message is cancelled by its id while the model is asked; a broken connection cancels nothing',
    async () => {
      const { agent_id: id } = await client.createAgent()
      const before = server.model.requests.length
      const gone = new AbortController()
      const waiting = client.send(id, 'hang', { requestId: 'h1', signal: gone.signal })
      await server.model.waitForRequest(before + 1)
      gone.abort()
      await assert.rejects(waiting)
      const again = client.send(id, 'hang', { requestId: 'h1' })
      const queued = client.send(id, 'after', { requestId: 'h2' })
      const unknown = { cancelled: false, request_id: 'h9', reason: 'not_found_or_completed' }
      assert.deepEqual(await client.cancel(id, 'h9'), unknown)
      assert.deepEqual(await client.cancel(id, 'h1'), { cancelled: true, request_id: 'h1' })
      assert.deepEqual(await again, { cancelled: true, request_id: 'h1' })
      assert.equal((await queued).content, 'Heard: after')
    },
  )

  await t.test('a call that policy asks about waits for approvals.respond, once', async () => {
    const { agent_id: id } = await client.createAgent({ preset: 'trusted' })
    const sent = client.send(id, 'tool sleep {"seconds":0.01}')
    await until(async () => (await client.call('approvals.list', {})).approvals.length === 1)
    const [question] = (await client.call('approvals.list', {})).approvals
    assert.ok(question)
    assert.deepEqual([question.tool, question.agent_path.endsWith(id)], ['sleep', true])
    const answer = { approval_id: question.approval_id, allow: true }
    assert.deepEqual(await client.call('approvals.respond', answer), { applied: true, state: 'allowed' })
    assert.equal((await client.call('approvals.respond', { ...answer, allow: false })).applied, false)
    assert.match((await sent).content ?? '', /Slept/)
    const call = await client.callAgent(id, ['get_call', { call_id: question.call_id }])
    assert.deepEqual([call.tool, call.state], ['sleep', 'done'])
    const other = (await client.createAgent()).agent_id
    assert.equal(await codeOf(client.callAgent(other, ['get_call', { call_id: question.call_id }])), -32_602)
  })

  await t.test('cwd and write paths confine an agent, and a child cannot have more than its parent', async () => {
    mkdirSync(join(place.workspace, 'part/out'), { recursive: true })
    const { agent_id: id } = await client.createAgent({
      preset: 'trusted',
      cwd: 'part',
      allowed_write_paths: ['part/out'],
    })
    const ask = async (tool: string, args: object): Promise<string> =>
      (await client.send(id, `tool ${tool} ${JSON.stringify(args)}`)).content ?? ''
    const at = (path: string): string => join(realpathSync(place.workspace), path)
    const writes = async (path: string): Promise<string> => {
      const sent = ask('write_file', { path: at(path), content: 'x' })
      const settled = sent.then(() => true)
      while (!(await Promise.race([settled, new Promise<false>((done) => setTimeout(done, 50, false))])))
        for (const { approval_id } of (await client.call('approvals.list', {})).approvals)
          await client.call('approvals.respond', { approval_id, allow: true })
      return sent
    }
    assert.match(await writes('part/out/a.txt'), /wrote/)
    assert.doesNotMatch(await writes('part/b.txt'), /wrote/)
    assert.doesNotMatch(await writes('c.txt'), /wrote/)
    const listed = (await client.listAgents()).find(({ agent_id }) => agent_id === id)
    assert.deepEqual([listed?.cwd, listed?.write_paths], [at('part'), [at('part/out')]])
    const below = { parent_agent_id: id, preset: 'trusted' }
    const child = await client.createAgent({ ...below, agent_id: 'below' })
    assert.equal(child.agent_id, 'below')
    const sandboxed = (await client.createAgent({ preset: 'sandboxed' })).agent_id
    const beyond = client.createAgent({ parent_agent_id: sandboxed, preset: 'trusted' })
    await assert.rejects(beyond, /Requested preset 'trusted' exceeds parent ceiling/)
    let parent = sandboxed
    for (let depth = 1; depth <= 5; depth++) parent = (await client.createAgent({ parent_agent_id: parent })).agent_id
    await assert.rejects(client.createAgent({ parent_agent_id: parent }), /depth|deep|5/)
  })

  await t.test('the first message goes with create_agent, waited for or not', async () => {
    const waited = await client.createAgent({ initial_message: 'begin', wait_for_initial_response: true })
    assert.deepEqual([waited.initial_status, waited.response], ['completed', 'Heard: begin'])
    const queued = await client.createAgent({ initial_message: 'begin' })
    assert.equal(queued.initial_status, 'queued')
    const { content } = await client.send(queued.agent_id, 'begin', { requestId: queued.initial_request_id ?? '' })
    assert.equal(content, 'Heard: begin')
  })

  await t.test(
    'an agent that was shut down takes no more messages; a destroyed one is gone with its descendants',
    async () => {
      const { agent_id: id } = await client.createAgent()
      assert.deepEqual(await client.callAgent(id, ['shutdown', {}]), { success: true })
      assert.equal((await client.listAgents()).find(({ agent_id }) => agent_id === id)?.should_shutdown, true)
      assert.equal(await codeOf(client.send(id, 'x')), -32_009)
      const child = (await client.createAgent({ parent_agent_id: id })).agent_id
      assert.deepEqual(await client.destroyAgent(id), { success: true, agent_id: id })
      assert.equal(await codeOf(client.getContext(child)), 404)
      assert.equal(await codeOf(client.getContext(id)), 404)
    },
  )

  await t.test('a destroyed agent answers its waiting senders once', async () => {
    const { agent_id: id } = await client.createAgent()
    const before = server.model.requests.length
    const senders = ['hang', 'b', 'c'].map((text) =>
      client.send(id, text).then(
        (got) => got.cancelled,
        () => true,
      ),
    )
    await server.model.waitForRequest(before + 1)
    await client.destroyAgent(id)
    assert.deepEqual(await Promise.all(senders), [true, true, true])
  })

  await t.test(
    'a capability token reaches its agent and descendants, within its scopes, until the agent ends',
    async () => {
      const own = (await client.createAgent({ agent_id: 'own', preset: 'trusted' })).agent_id
      const child = (await client.createAgent({ parent_agent_id: own })).agent_id
      const stranger = (await client.createAgent({ agent_id: 'stranger' })).agent_id
      const { token, scopes } = await client.call('issue_token', { agent_id: own })
      assert.ok(!scopes.includes('rpc:global:shutdown_server') && scopes.includes('rpc:agent:send'))
      const holder = createClient({ url, token })
      assert.equal((await holder.send(child, 'hi')).content, 'Heard: hi')
      assert.equal((await holder.getContext(own)).message_count, 0)
      assert.equal(await codeOf(holder.getContext(stranger)), 404)
      assert.equal(await codeOf(holder.destroyAgent(stranger)), await codeOf(holder.destroyAgent('nobody')))
      assert.deepEqual(
        (await holder.listAgents()).map(({ agent_id }) => agent_id),
        [child],
      )
      const made = await holder.createAgent({ parent_agent_id: stranger })
      const row = (await client.listAgents()).find(({ agent_id }) => agent_id === made.agent_id)
      assert.equal(row?.parent_agent_id, own)
      assert.equal(await codeOf(holder.shutdownServer()), -32_003)
      assert.equal(await codeOf(holder.call('approvals.list', {})), -32_003)
      assert.equal(await codeOf(holder.call('approvals.respond', { approval_id: 'x', allow: true })), -32_003)
      assert.equal(await codeOf(holder.call('issue_token', { agent_id: own })), -32_003)
      const narrow = await client.call('issue_token', {
        agent_id: own,
        scopes: ['rpc:agent:get_context'],
        expires_s: 60,
      })
      const reader = createClient({ url, token: narrow.token })
      assert.equal((await reader.getContext(own)).message_count, 0)
      assert.equal(await codeOf(reader.send(own, 'x')), -32_003)
      const [form, body = '', mac] = token.split('.')
      const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object
      const forged = Buffer.from(JSON.stringify({ ...claims, scp: ['rpc:global:shutdown_server'] })).toString(
        'base64url',
      )
      for (const bad of [`${form}.${forged}.${mac}`, `${token}x`, token.slice(0, -2), '', 'a.b.c', key])
        assert.equal(await codeOf(createClient({ url, token: bad }).listAgents()), 403)
      const named = await fetch(`${url}/rpc`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, 'x-nexus-agent': own },
        body: '{"jsonrpc":"2.0","id":1,"method":"list_agents"}',
      })
      assert.equal(named.status, 403)
      await client.destroyAgent(own)
      assert.equal(await codeOf(holder.listAgents()), 403)
      await client.createAgent({ agent_id: 'own' })
      assert.equal(await codeOf(holder.listAgents()), 403)
    },
  )

  await t.test('skills are read as agents see them', async () => {
    const { skills } = await client.call('skills.list', { all: true })
    const greet = skills.find(({ name }) => name === 'greet')
    assert.equal(greet?.status, 'ready')
    assert.deepEqual(await client.call('skills.get', { name: 'greet' }), greet)
    assert.equal(await codeOf(client.call('skills.get', { name: 'nope' })), -32_004)
  })

  await t.test('text with SQL in it is kept as it is', async () => {
    const text = `'; drop table agents; -- "\\ %_ \u0000`
    const { agent_id: id } = await client.createAgent({ system_prompt: text })
    assert.match((await client.send(id, text, { requestId: text.slice(0, 20) })).content ?? '', /drop table/)
    assert.ok((await client.listAgents()).length > 0)
  })

  await t.test('a flood of messages beside waiting ones: cancel gets through, and each has one answer', async () => {
    const { agent_id: id } = await client.createAgent()
    const before = server.model.requests.length
    const senders = Array.from({ length: 30 }, (_, index) => client.send(id, 'hang', { requestId: index + 1 }))
    await server.model.waitForRequest(before + 1)
    // Behind those that are queued.
    for (let index = 30; index >= 1; index--) await until(async () => (await client.cancel(id, index)).cancelled)
    assert.deepEqual(new Set((await Promise.all(senders)).map(({ cancelled }) => cancelled)), new Set([true]))
  })
})
