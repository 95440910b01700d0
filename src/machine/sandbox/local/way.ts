/** way: the proxy of one command, and the variables by which programs find it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '../../../kernel/index.ts'
import { type EgressReport, openEgress } from '../../egress/index.ts'
import type { CheckedRequest } from '../request.ts'
import type { Way } from '../runner/protocol.ts'
import { CERTIFICATES_PATH, PROXY_PORT } from '../runner/relay.ts'
import { sandboxError, UNAVAILABLE } from '../messages.ts'
import { give, type Identity } from './state.ts'
import { installCommand } from './unavailable.ts'

/** A command with hosts gets this besides its own. */
export interface OpenWay {
  readonly mounted: Way
  readonly env: Readonly<Record<string, string>>
  /** Ends its connections. Safe to call twice. */
  close(): Promise<EgressReport>
}

export interface WayOptions {
  /** Where the socket is made. */
  readonly liveDirectory: string
  /** May open it. */
  readonly identity: Identity
  /** Absolute path of socat, where it is installed. */
  readonly relay: string | undefined
}

/** Throws SANDBOX_UNAVAILABLE where hosts are allowed and socat is missing. Undefined for a command without hosts. */
export async function openWay(
  { network, networkDomains }: Pick<CheckedRequest, 'network' | 'networkDomains'>,
  { liveDirectory, identity, relay }: WayOptions,
): Promise<OpenWay | undefined> {
  if (!network) return undefined
  if (relay === undefined) {
    // Where only a person could open a host, the command runs without.
    if (network.allowed.length === 0) return undefined
    throw sandboxError(UNAVAILABLE.socat({ command: installCommand('socat', process.getuid?.() === 0) }))
  }
  const socket = join(liveDirectory, `egress-${newId().slice(-12)}`)
  const { allowed, denied, certificates: named, ...options } = network
  const certificates = named === undefined ? undefined : copyFor(identity, named, `${socket}.pem`)
  const egress = await openEgress(socket, { allowed, denied, within: networkDomains }, options)
  if (process.getuid?.() === 0) give(socket, identity)
  const local = allowed.flatMap(({ host, port }) => (host === 'localhost' && port !== undefined ? [port] : []))
  return {
    mounted: { socket, certificates, localPorts: [...new Set(local)] },
    env: { ...proxyVariables(), ...(certificates !== undefined && certificateVariables()) },
    close: async () => {
      if (certificates !== undefined) rmSync(certificates, { force: true })
      return egress.close()
    },
  }
}

/** One file of them all; theirs may be where commands, or their uid, cannot look. Throws the error of the system where one cannot be read. */
function copyFor(identity: Identity, files: readonly string[], to: string): string {
  writeFileSync(to, files.map((file) => readFileSync(file, 'utf8')).join('\n'), { flag: 'wx', mode: 0o600 })
  if (process.getuid?.() === 0) give(to, identity)
  return to
}

/** Each program has a name of its own for it. */
function certificateVariables(): Record<string, string> {
  const names = [
    ...['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS', 'GIT_SSL_CAINFO', 'PIP_CERT'],
    ...['AWS_CA_BUNDLE', 'CARGO_HTTP_CAINFO', 'DENO_CERT', 'NPM_CONFIG_CAFILE'],
  ]
  return Object.fromEntries(names.map((name) => [name, CERTIFICATES_PATH]))
}

const PROXY = `http://127.0.0.1:${PROXY_PORT}`
const OWN_HOSTS = 'localhost,127.0.0.1,::1'

/** Both spellings, as programs read one or the other. */
function proxyVariables(): Record<string, string> {
  const names = { http_proxy: PROXY, https_proxy: PROXY, all_proxy: PROXY, no_proxy: OWN_HOSTS }
  const upper = Object.entries(names).map(([name, value]) => [name.toUpperCase(), value])
  return {
    ...names,
    ...(Object.fromEntries(upper) as Record<string, string>),
    // Else the fetch of Node reads none of them.
    NODE_USE_ENV_PROXY: '1',
  }
}
