import assert from 'node:assert/strict'
import test from 'node:test'
import { startModelServer } from '../../../src/testing/index.ts'
import { Place } from './nexus.ts'

test('sessions compact sums up a session, and sessions show says which messages the model no longer reads', async (t) => {
  const place = new Place(t)
  const server = await startModelServer({
    script: [
      { type: 'text', text: 'First.', usage: null },
      { type: 'text', text: 'It was about one.' },
    ],
  })
  t.after(() => server.close())
  const flags = ['--model', 'openai-compatible/scripted', '--base-url', server.url]
  const ran = await place.run(['run', 'One', '--trust', ...flags])
  assert.match(ran.stderr, /\d+ tokens \(estimated\) in 1 step/)
  const listed = JSON.parse((await place.run(['sessions', 'list', '--json'])).stdout) as {
    data: { sessions: { id: string; use: { totalTokens: number; estimatedTokens: number } }[] }
  }
  const [{ id = '', use } = { id: '', use: undefined }] = listed.data.sessions
  assert.equal(use?.estimatedTokens, use?.totalTokens)
  const compacted = await place.run(['sessions', 'compact', id, '--trust', ...flags])
  assert.equal(compacted.code, 0, compacted.stderr)
  assert.equal(compacted.stdout, 'It was about one.\n')
  const shown = await place.run(['sessions', 'show', id])
  assert.match(shown.stdout, /summed up for the model: messages 1 to 2, but 1 message: Summary of the message before/)
  assert.match(shown.stdout, /assistant: First\./)
})

test('agent compact sums up the history of an agent, also by the id of its session', async (t) => {
  const place = new Place(t)
  const server = await startModelServer({
    script: ({ index }) => ({ type: 'text', text: `Answer ${index}.` }),
  })
  t.after(() => server.close())
  const flags = ['--trust', '--model', 'openai-compatible/scripted', '--base-url', server.url]
  await place.run(['agent', 'create', 'w'])
  const empty = await place.run(['agent', 'compact', 'w', ...flags])
  assert.match(empty.stdout, /^Nothing to compact/, empty.stderr)
  const sent = await place.run(['agent', 'send', 'w', 'One', ...flags])
  const session = /session (\S+)/.exec(sent.stderr)?.[1] ?? ''
  const compacted = await place.run(['agent', 'compact', 'w', ...flags])
  assert.match(compacted.stdout, /^Answer \d\.\n$/, compacted.stderr)
  await place.run(['agent', 'send', 'w', 'Two', ...flags])
  const again = await place.run(['sessions', 'compact', session, ...flags])
  assert.match(again.stdout, /^Answer \d\.\n$/, again.stderr)
  assert.match((await place.run(['sessions', 'show', session])).stdout, /summed up for the model: messages 1 to/)
})
