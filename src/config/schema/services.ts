import * as v from 'valibot'
import {
  about,
  address,
  count,
  environmentValues,
  headers,
  identifier,
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
} from './parts.ts'

/** Source: seed 002, "Web Search". */
export const search = v.pipe(
  v.strictObject({
    provider: v.optional(v.pipe(v.picklist(['brave', 'searxng']), about('Who answers web_search.'))),
    apiKey: v.optional(v.pipe(secret, about('With brave: its key.'))),
    url: v.optional(v.pipe(url, about('With searxng: its address.'))),
    maxResults: v.optional(
      v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10), about('Results of a search.')),
      5,
    ),
  }),
  about('The web search behind web_search.'),
)

/** Source: contracts §1.1. */
export const server = v.pipe(
  v.strictObject({
    port: v.optional(v.pipe(port, about('Port; 0 takes a free one.')), 8765),
    host: v.optional(v.pipe(name, about('Address that is listened on.')), '127.0.0.1'),
    idleTimeoutMs: v.optional(v.pipe(timeOrNone, about('Ends an unused server; 0 means never.')), 0),
    requestTimeoutMs: v.optional(v.pipe(time, about('Limit for each of request line, headers and body.')), 30_000),
    maxBodyBytes: v.optional(v.pipe(count, about('Largest body of a request.')), 1024 * 1024),
    maxConnections: v.optional(v.pipe(count, about('Most connections at the same time.')), 32),
    allowedHosts: v.optional(v.pipe(names, about('Host headers that are answered, besides those of this machine.'))),
    allowedOrigins: v.optional(v.pipe(v.array(address), about('Origins of web pages that may call.'))),
    console: v.optional(v.pipe(v.boolean(), about('Serve the web console under /ui.')), true),
  }),
  about('nexus serve.'),
)

/** Source: contracts §5.1. */
export const nats = v.pipe(
  v.strictObject({
    servers: v.optional(v.pipe(v.array(address), about('Addresses of the servers.'))),
    credentials: v.optional(v.pipe(secret, about('Content of a credentials file.'))),
    token: v.optional(secret),
    tls: v.optional(v.pipe(v.boolean(), about('Refuse connections that are not encrypted.'))),
    protocolVersion: v.optional(v.pipe(identifier, about('Second part of every subject.')), 'v1r4'),
    maxInFlight: v.optional(v.pipe(count, about('Commands that a worker takes at the same time.'))),
    ackWaitMs: v.optional(v.pipe(time, about('A command that was not answered is given out again.')), 30_000),
    maxDeliver: v.optional(v.pipe(count, about('How often a command is given out.')), 3),
  }),
  about('Wake-ups, commands and events between machines.'),
)

const mcpServer = v.strictObject({
  command: v.optional(v.pipe(text, about('Program of a server on this machine.'))),
  args: v.optional(texts),
  env: v.optional(environmentValues),
  cwd: v.optional(path),
  url: v.optional(v.pipe(url, about('Address of a server elsewhere.'))),
  headers: v.optional(headers),
  enabled: v.optional(v.pipe(v.boolean(), about('false leaves the server out.'))),
  timeoutMs: v.optional(v.pipe(timeOrNone, about('Time limit of one call; 0 means none.'))),
})

export const mcp = v.pipe(
  v.strictObject({
    servers: v.optional(
      v.pipe(v.record(identifier, mcpServer), about('Servers by name; their tools are mcp:name.tool.')),
    ),
  }),
  about('Model Context Protocol: servers whose tools agents may use.'),
)

const provider = v.variant('source', [
  v.strictObject({
    source: v.literal('env'),
    allowlist: v.optional(v.pipe(v.array(variable), about('Only these variables may be asked for.'))),
  }),
  v.strictObject({
    source: v.literal('file'),
    path: v.pipe(path, about('The file; relative to this one.')),
    mode: v.optional(
      v.pipe(
        v.picklist(['json', 'singleValue']),
        about('json: the id is a JSON pointer; singleValue: the whole file.'),
      ),
    ),
  }),
  v.strictObject({
    source: v.literal('exec'),
    command: v.pipe(text, about('Absolute path of the program, or its name in the system’s directories.')),
    args: v.optional(texts),
    jsonOnly: v.optional(v.pipe(v.boolean(), about('false: the output is the secret itself.'))),
    passEnv: v.optional(v.pipe(v.array(variable), about('Variables that the program gets.'))),
  }),
])

export const secrets = v.pipe(
  v.strictObject({
    providers: v.optional(
      v.pipe(v.record(identifier, provider), about('Named places of secrets, for { source, provider, id }.')),
    ),
  }),
  about('Places of secrets in OpenClaw’s form.'),
)
