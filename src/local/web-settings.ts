/** web-settings: which search service the configuration names, with its key read when a search needs it. */
import type { Config, Secrets } from '../config/index.ts'
import type { WebSettings } from '../tools/index.ts'

/** Without what the service needs there is none; the configuration has a finding about that. */
export function webSettings({ search }: Pick<Config, 'search'>, secrets: Pick<Secrets, 'read'>): WebSettings {
  const { provider, hasApiKey, ...service } = search
  if (provider === undefined || (provider === 'brave' ? !hasApiKey : service.url === undefined)) return {}
  // The signal of one call must not end the reading that others wait for as well; it has a time limit of its own.
  const apiKey = (): Promise<string | undefined> => secrets.read(['search', 'apiKey'])
  return { search: { provider, ...service, apiKey: hasApiKey ? apiKey : undefined } }
}
