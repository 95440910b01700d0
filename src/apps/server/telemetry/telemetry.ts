/** Traces of requests and turns in the form of OpenTelemetry. Nothing of it is loaded where no address is set. */
import type { Config } from '../../../config/index.ts'
import { errorCode } from '../../../kernel/index.ts'
import { SERVER } from '../messages.ts'
import type { Served } from '../../rpc/index.ts'
import { followTurns } from './turn-spans.ts'

const OFF: Telemetry = {
  request: (_about, work) => work(),
  follow: () => () => undefined,
  close: async () => undefined,
}

/** Throws CONFIG_INVALID where an address is set and a package is missing. */
export async function openTelemetry(settings: Config['telemetry'], version: string): Promise<Telemetry> {
  if (settings.url === undefined) return OFF
  try {
    return await createTelemetry({ ...settings, url: settings.url }, version)
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND' && errorCode(error) !== 'MODULE_NOT_FOUND') throw error
    throw SERVER.noTelemetry()
  }
}

export interface Telemetry {
  /** Runs the work inside the span of a request. */
  request<T>(
    about: {
      readonly route: string
      readonly method: string
      /** Facts of the request, such as `source`. */
      readonly notes: Readonly<Record<string, string>>
    },
    work: () => Promise<T>,
  ): Promise<T>
  /** Follows the turns of a pool; returns the end of it. */
  follow(served: Served): () => void
  /** Sends what is left. */
  close(): Promise<void>
}

async function createTelemetry(
  { url, headers = {}, content }: Config['telemetry'] & { readonly url: string },
  version: string,
): Promise<Telemetry> {
  const [{ context, SpanKind, SpanStatusCode, trace }, node, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers } })
  const provider = new node.NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'nexus', 'service.version': version }),
    spanProcessors: [new node.BatchSpanProcessor(exporter)],
  })
  provider.register()
  const tracer = provider.getTracer('nexus', version)
  return {
    async request({ route, method, notes }, work) {
      const attributes = {
        'http.request.method': 'POST',
        'http.route': route,
        'rpc.system': 'jsonrpc',
        'rpc.method': method,
        ...Object.fromEntries(Object.entries(notes).map(([name, text]) => [`nexus.${name}`, text])),
      }
      const span = tracer.startSpan(`POST ${route}`, { kind: SpanKind.SERVER, attributes })
      try {
        return await context.with(trace.setSpan(context.active(), span), work)
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    },
    follow: (served: Served) => followTurns({ served, tracer, content, context, trace, SpanStatusCode }),
    close: () => provider.shutdown(),
  }
}
