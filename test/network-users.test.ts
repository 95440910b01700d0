/** Which files may open connections: the rule of test/architecture.test.ts for the network, in a file of its own because of the list. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importsOf, moduleOf, readSource, SOURCE_FILES, withoutComments } from './source-tree.ts'

/** What opens connections, or waits for them, and who may import it besides net/, with the reason. */
const NETWORK = /^(?:(?:node:)?(?:net|tls|https?|http2|dns|dgram|inspector)(?:\/.*)?|pg|undici|ai|@ai-sdk\/.*)$/
const NETWORK_USERS: Readonly<Record<string, string>> = {
  'src/agents/turns/model-step.ts: ai': 'the AI SDK sends the requests to models with the fetch of Node',
  'src/agents/turns/model/open-model.ts: @ai-sdk/anthropic': 'a provider of the AI SDK',
  'src/agents/turns/model/open-model.ts: @ai-sdk/openai': 'a provider of the AI SDK',
  'src/agents/turns/model/open-model.ts: @ai-sdk/openai-compatible': 'a provider of the AI SDK',
  'src/agents/turns/model/open-model.ts: ai': 'types of a model',
  'src/agents/turns/model/stream-parts.ts: ai': 'types of the parts of an answer',
  'src/apps/http/guard.ts: node:http': 'the type of a request',
  'src/apps/http/listen.ts: node:http': 'the one server, on loopback unless it is told otherwise',
  'src/apps/http/listen.ts: node:https': 'the same with a certificate',
  'src/apps/http/listen.ts: node:net': 'the type of an address',
  ...Object.fromEntries(
    ['answer', 'app', 'body', 'event-stream', 'serve'].map((name) => [
      `src/apps/server/${name}.ts: node:http`,
      'types',
    ]),
  ),
  'src/apps/mcp/http/mount.ts: node:http': 'types of a request and a response',
  'src/apps/mcp/http/serve-http.ts: node:http': 'types of a request and a response',
  'src/machine/egress/egress.ts: node:net': 'listens on the unix socket of one command',
  'src/machine/egress/http.ts: node:http': 'reads requests of a command, and sends them through connections of net/',
  'src/machine/egress/authority.ts: node:tls': 'the certificate and key of one host',
  'src/machine/egress/terminate.ts: node:http':
    'reads requests with masked keys, and sends them through connections of net/',
  'src/machine/egress/terminate.ts: node:tls': 'ends the TLS of a command',
  'src/machine/sandbox/runner/pipes.ts: node:net': 'reads pipes that it inherited; it connects to nothing',
  'src/store/postgres/pool.ts: pg': 'connects to the database that the user configured',
  'src/testing/model-server.ts: node:http': 'a server for tests, on loopback',
  'src/testing/model-server.ts: node:net': 'the type of an address',
  'src/testing/send-reply.ts: node:http': 'the type of a response',
}

test('only net/ reaches the network, besides the files that are listed with their reason', () => {
  const users = SOURCE_FILES.filter((file) => moduleOf(file) !== 'machine/net')
    .flatMap(importsOf)
    .filter(({ specifier }) => NETWORK.test(specifier))
    .map(({ from, specifier }) => `${from}: ${specifier}`)
  assert.deepEqual([...new Set(users)].sort(), Object.keys(NETWORK_USERS).sort())
})

test('nothing calls the fetch of Node, or another global that dials, but the client of a server that the user named; of the packages only the AI SDK does', () => {
  const callers = SOURCE_FILES.filter((file) => dials(readSource(file)))
  assert.deepEqual(callers, ['src/apps/client/events.ts', 'src/apps/client/post.ts'])
  const dialling = ['await fetch(url)', 'globalThis.fetch', '{ fetch }', 'new WebSocket(url)', 'new EventSource(url)']
  for (const text of dialling) assert.ok(dials(text), text)
  for (const text of ['// fetch(url)', "'fetch failed'", 'prefetch(url)', 'fetched']) assert.ok(!dials(text), text)
})

function dials(text: string): boolean {
  return /\bglobalThis\s*\.\s*fetch\b|(?<![\w.'"])fetch\s*[(,}]|\bnew (?:WebSocket|EventSource)\b/.test(
    withoutComments(text),
  )
}
