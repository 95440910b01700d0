import * as v from 'valibot'
import { DEFAULTS } from '../../kernel/index.ts'
import {
  type Rules,
  about,
  address,
  count,
  environmentValues,
  headers,
  identifier,
  is,
  name,
  names,
  path,
  port,
  secret,
  text,
  texts,
  time,
  timeOrNone,
  url,
  variable,
  setting,
} from './parts.ts'

/** Source: seed 002, "Web Search". */
export const search = v.pipe(
  v.strictObject({
    provider: setting(v.picklist(['brave', 'searxng']), 'Who answers web_search.'),
    apiKey: setting(secret, 'With brave, which needs one: its key.'),
    url: setting(url, 'With searxng, which needs one: its address, which may be private.'),
    maxResults: setting(
      v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10)),
      'Results of a search that asks for no count.',
      DEFAULTS.searchResults,
    ),
  }),
  about('The web search behind web_search.'),
  v.metadata({ merge: 'whole', texts: 'value', isUnit: true } satisfies Rules),
)

/** Source: contracts §1.1. */
export const server = v.pipe(
  v.strictObject({
    port: setting(port, 'Port; 0 takes a free one.', 8765),
    host: setting(name, 'Address that is listened on; another than loopback needs tls or allowPlainHttp.', '127.0.0.1'),
    tls: v.optional(
      v.pipe(
        v.strictObject({
          cert: v.pipe(path, about('PEM file of the certificate.')),
          key: v.pipe(path, about('PEM file of its key.')),
        }),
        about('Serve HTTPS.'),
        v.metadata({ merge: 'whole' } satisfies Rules),
      ),
    ),
    allowPlainHttp: setting(v.boolean(), 'Listen without TLS on an address that other machines reach.', false),
    ceiling: setting(name, 'The highest preset of agents that are made over RPC.', 'trusted'),
    idleTimeoutMs: setting(timeOrNone, 'Ends an unused server; 0: never.', 0),
    shutdownTimeoutMs: setting(time, 'At its end: how long turns may go on before they are cancelled.', 10_000),
    requestTimeoutMs: setting(time, 'Limit for request line, headers and body together.', 30_000),
    maxBodyBytes: setting(count, 'Largest body of a request.', 1024 * 1024),
    maxConnections: setting(count, 'Most requests that are read or answered at the same time.', 32),
    maxWaiting: setting(count, 'Most messages that are waited for at the same time.', 1_000),
    maxStreams: setting(count, 'Most event streams at the same time.', 1_000),
    allowedHosts: setting(names, 'Host headers that are answered, besides those of this machine.', []),
    allowedOrigins: setting(v.array(address), 'Origins of web pages that may call.', []),
    console: setting(
      is(v.boolean(), { unused: { what: 'serve a console', severity: 'info' } }),
      'Serve the web console under /ui.',
      true,
    ),
  }),
  about('nexus serve.'),
  v.metadata({ texts: 'value' } satisfies Rules),
)

export const telemetry = v.pipe(
  v.strictObject({
    url: setting(url, 'Traces go to this address over OTLP/HTTP, such as http://127.0.0.1:4318/v1/traces.'),
    headers: setting(headers, 'Headers of every request to it.'),
    content: setting(v.boolean(), 'Traces contain what models read and write, and arguments of tools.', false),
  }),
  about('Traces of nexus serve in the form of OpenTelemetry. Without url there are none.'),
  v.metadata({ merge: 'whole', texts: 'value', isUnit: true } satisfies Rules),
)

/** Source: contracts §5.1. */
export const nats = v.pipe(
  v.strictObject({
    servers: setting(v.array(address), 'Addresses of the servers.'),
    credentials: setting(secret, 'Content of a credentials file.'),
    token: setting(secret, 'Token of this client.'),
    tls: setting(v.boolean(), 'Refuse connections that are not encrypted.'),
    protocolVersion: setting(identifier, 'Second part of every subject.', 'v1r4'),
    maxInFlight: setting(count, 'Commands that a worker takes at the same time.'),
    ackWaitMs: setting(time, 'A command that was not answered is given out again.', 30_000),
    maxDeliver: setting(count, 'How often a command is given out.', 3),
  }),
  about('Wake-ups, commands and events between machines.'),
  v.metadata({ merge: 'whole', texts: 'value', unused: { what: 'connect to NATS', severity: 'info' } } satisfies Rules),
)

const mcpServer = v.strictObject({
  command: setting(text, 'Program of a server on this machine.'),
  args: setting(texts, 'Its arguments.'),
  env: setting(environmentValues, 'Variables that it gets.'),
  cwd: setting(path, 'Directory that it starts in.'),
  url: setting(url, 'Address of a server elsewhere.'),
  headers: setting(headers, 'Headers of every request to it.'),
  enabled: setting(v.boolean(), 'false leaves the server out.'),
  timeoutMs: setting(timeOrNone, 'Time limit of one call; 0: none.'),
})

export const mcp = v.pipe(
  v.strictObject({
    servers: setting(
      is(v.record(identifier, is(mcpServer, { merge: 'whole', isUnit: true })), {
        texts: 'secret',
        unused: { what: 'use MCP servers', severity: 'info' },
      }),
      'Servers by name; their tools are mcp:name.tool.',
    ),
    tools: setting(
      names,
      'What nexus mcp offers besides the skill tools and run_command: tools and groups, such as group:fs or web_fetch.',
      [],
    ),
  }),
  about('Model Context Protocol: servers whose tools agents may use, and what clients of nexus mcp are offered.'),
)

const provider = v.variant('source', [
  v.strictObject({
    source: v.literal('env'),
    allowlist: setting(v.array(variable), 'Only these variables may be asked for.'),
  }),
  v.strictObject({
    source: v.literal('file'),
    path: v.pipe(path, about('The file; relative to this one.')),
    mode: setting(v.picklist(['json', 'singleValue']), 'json: the id is a JSON pointer; singleValue: the whole file.'),
  }),
  v.strictObject({
    source: v.literal('exec'),
    command: v.pipe(text, about('Absolute path of the program, or its name in the system’s directories.')),
    args: setting(is(texts, { texts: 'literal' }), 'Its arguments.'),
    jsonOnly: setting(v.boolean(), 'false: the output is the secret itself.'),
    passEnv: setting(v.array(variable), 'Variables that the program gets.'),
  }),
])

export const secrets = v.pipe(
  v.strictObject({
    providers: setting(
      v.record(identifier, is(provider, { merge: 'whole' })),
      'Named places of secrets, for { source, provider, id }.',
    ),
  }),
  about('Places of secrets in OpenClaw’s form.'),
)
