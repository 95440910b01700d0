/** Traces of requests and turns in the form of OpenTelemetry. Nothing of it is loaded where no address is set. */
import type { Config } from '../../../config/index.ts'
import { errorCode } from '../../../kernel/index.ts'
import { SERVER } from '../messages.ts'
import type { Telemetry } from './spans.ts'

const OFF: Telemetry = {
  request: (_about, work) => work(),
  follow: () => () => undefined,
  close: async () => undefined,
}

/** Throws CONFIG_INVALID where an address is set and a package is missing. */
export async function openTelemetry(settings: Config['telemetry'], version: string): Promise<Telemetry> {
  if (settings.url === undefined) return OFF
  try {
    const { createTelemetry } = await import('./spans.ts')
    return await createTelemetry({ ...settings, url: settings.url }, version)
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND' && errorCode(error) !== 'MODULE_NOT_FOUND') throw error
    throw SERVER.noTelemetry()
  }
}
