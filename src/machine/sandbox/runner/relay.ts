/** relay: the proxy of a command as a port of its own loopback. It starts before the filter that closes unix sockets, out of sight of the command. */
import { realpathSync } from 'node:fs'
import type { Way } from './protocol.ts'

/** Where commands find their proxy; the one port of their loopback that is taken. */
export const PROXY_PORT = 19_080

/** Where the socket is inside. */
const SOCKET_PATH = '/run/nexus/egress'
/** Where programs find the certificates that the user's environment names. */
export const CERTIFICATES_PATH = '/run/nexus/certificates.pem'
/** Where systems have theirs, for programs that read no variable, such as wget. */
export const SYSTEM_CERTIFICATES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
]
/** Seconds in which the other side may still speak when one side has ended. */
const HALF_CLOSED_S = 3600

export function wayOptions(way: Way | undefined): (readonly [string, ...string[]])[] {
  if (way === undefined) return []
  const { socket, certificates } = way
  return [
    ['--bind', socket, SOCKET_PATH],
    ...(certificates === undefined
      ? []
      : [CERTIFICATES_PATH, ...systemBundles()].map((path) => ['--ro-bind', certificates, path] as const)),
  ]
}

function systemBundles(): string[] {
  const real = SYSTEM_CERTIFICATES.flatMap((path) => {
    try {
      return [realpathSync(path)]
    } catch {
      // Another system.
      return []
    }
  })
  return [...new Set(real)].filter((path) => /^\/(?:etc|usr)\//.test(path))
}

/** Starts the relays, waits until they listen, and becomes the program. */
export function throughRelay(program: readonly string[], way: Way | undefined, socat: string | undefined): string[] {
  if (way === undefined) return [...program]
  if (socat === undefined) throw new Error('socat is not installed')
  const local = way.localPorts.map((port) => ({
    port,
    to: `PROXY:127.0.0.1:localhost:${port},proxyport=${PROXY_PORT}`,
  }))
  const relays = [{ port: PROXY_PORT, to: `UNIX-CONNECT:${SOCKET_PATH}` }, ...local]
  return [
    '/bin/bash',
    '-c',
    [...relays.map((relay) => startRelay(socat, relay)), 'exec "$@"'].join('\n'),
    'bash',
    ...program,
  ]
}

/** It says on stderr when it listens. Nobody reads what it says later. */
function startRelay(socat: string, { port, to }: { readonly port: number; readonly to: string }): string {
  const listen = `TCP-LISTEN:${port},bind=127.0.0.1,fork,backlog=128,nodelay`
  const start = `exec ${socat} -d -d -t ${HALF_CLOSED_S} ${listen} ${to} 3>&- 4>&- </dev/null 2>&1 >/dev/null`
  return [
    `exec 5< <(${start})`,
    'read -r NEXUS_RELAY <&5',
    'case $NEXUS_RELAY in *listening*) ;; *) echo "$NEXUS_RELAY" >&2; exit 126;; esac',
    'exec 5<&-',
  ].join('\n')
}
