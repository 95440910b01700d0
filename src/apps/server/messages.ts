/** The words of the server for people. */
import { commandFix, NexusError, toSafeLine } from '../../kernel/index.ts'
import type { Detected } from '../client/index.ts'

export const SERVER = {
  taken: (port: number, found: Detected): NexusError =>
    found === 'nexus_server'
      ? new NexusError('CONFLICT', `A Nexus server already listens on port ${port}.`, {
          ...commandFix('Use it, or end it:', 'shutdown', '--port', String(port)),
        })
      : new NexusError('CONFLICT', `Another program listens on port ${port}; it is not a Nexus server.`, {
          ...commandFix('Choose another port:', 'serve', '--port', String(port === 65_535 ? 8_765 : port + 1)),
        }),
  open: (host: string): NexusError =>
    new NexusError(
      'CONFIG_INVALID',
      `Other machines reach ${toSafeLine(host)}, and the key would be sent in the clear.`,
      {
        fix: 'Set server.tls (cert and key) in nexus.yaml, or server.allowPlainHttp: true behind a proxy that encrypts.',
      },
    ),
  noCertificate: (cause: unknown): NexusError =>
    new NexusError('CONFIG_INVALID', 'The files of server.tls cannot be read.', {
      fix: 'Name files with the certificate and its key, in PEM, in server.tls.cert and server.tls.key.',
      cause,
    }),
  noTelemetry: (): NexusError =>
    new NexusError('CONFIG_INVALID', 'telemetry.url is set, and the packages of OpenTelemetry are not installed.', {
      fix: 'Type: npm install @opentelemetry/api@1.9.1 @opentelemetry/resources@2.12.0 @opentelemetry/sdk-trace-node@2.12.0 @opentelemetry/exporter-trace-otlp-http@0.223.0',
    }),
}
