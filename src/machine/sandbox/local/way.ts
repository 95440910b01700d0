/** way: the proxy of one command, and the variables by which programs find it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '../../../kernel/index.ts'
import { type EgressReport, type Mask, openAuthority, openEgress } from '../../egress/index.ts'
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
  /** Those of the sandbox; made with its first masked key. */
  readonly authorities: Authorities
}

/** Throws SANDBOX_UNAVAILABLE where hosts are allowed and socat is missing. Undefined for a command without hosts. */
export async function openWay(
  { network, networkDomains }: Pick<CheckedRequest, 'network' | 'networkDomains'>,
  { liveDirectory, identity, relay, authorities }: WayOptions,
): Promise<OpenWay | undefined> {
  if (!network) return undefined
  if (relay === undefined) {
    // Where only a person could open a host, the command runs without.
    if (network.allowed.length === 0) return undefined
    throw sandboxError(UNAVAILABLE.socat({ command: installCommand('socat', process.getuid?.() === 0) }))
  }
  const socket = join(liveDirectory, `egress-${newId().slice(-12)}`)
  const { allowed, denied, certificates: named, masks = [], ...options } = network
  const authority = await authorities.for(masks, named)
  const trusted = authority ?? named
  const certificates = trusted && writeCertificates(identity, trusted, `${socket}.pem`)
  const masked = authority && { ...authority, masks }
  const egress = await openEgress(socket, { allowed, denied, within: networkDomains }, { ...options, masked })
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

/** Those who sign for hosts of masked keys, by the files of certificates that the user names. */
export class Authorities {
  readonly #made = new Map<string, ReturnType<typeof openAuthority>>()

  /** Undefined without masks. Rejects with the error of the system where a file cannot be read. */
  async for(masks: readonly Mask[], certificates: readonly string[] = []): Promise<Signing | undefined> {
    if (masks.length === 0) return undefined
    const key = certificates.join('\0')
    const known = this.#made.get(key) ?? openAuthority(certificates)
    this.#made.set(key, known)
    return known
  }
}

type Signing = Awaited<ReturnType<typeof openAuthority>>

/** One file of all certificates; theirs may be where commands, or their uid, cannot look. Throws the error of the system where one cannot be read. */
function writeCertificates(identity: Identity, from: readonly string[] | Signing, to: string): string {
  const texts =
    'authority' in from ? [from.authority.certificate, from.roots.pem] : from.map((file) => readFileSync(file, 'utf8'))
  writeFileSync(to, texts.join('\n'), { flag: 'wx', mode: 0o600 })
  if (process.getuid?.() === 0) give(to, identity)
  return to
}

/** Each program has a name of its own for it. */
function certificateVariables(): Record<string, string> {
  const names = [
    ...['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS', 'GIT_SSL_CAINFO', 'PIP_CERT'],
    ...['AWS_CA_BUNDLE', 'CARGO_HTTP_CAINFO', 'DENO_CERT', 'NPM_CONFIG_CAFILE', 'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH'],
    ...['NIX_SSL_CERT_FILE', 'BUNDLE_SSL_CA_CERT', 'CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE', 'HTTPLIB2_CA_CERTS'],
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
