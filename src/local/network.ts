/** network: `execution.network` and the search service of the configuration, in the terms of gating and of tools. */
import type { Config, Secrets } from '../config/index.ts'
import { type HostRule, readHostRules } from '../kernel/index.ts'
import type { WebSettings } from '../tools/index.ts'

export function networkOf({ allowedDomains, deniedDomains }: Config['execution']['network']): {
  readonly allowed: readonly HostRule[]
  readonly denied: readonly HostRule[]
} {
  return { allowed: readHostRules(allowedDomains), denied: readHostRules(deniedDomains) }
}

/** Without what the service needs there is none; the configuration has a finding about that. */
export function webSettings({ search }: Pick<Config, 'search'>, secrets: Pick<Secrets, 'read'>): WebSettings {
  const { provider, hasApiKey, ...service } = search
  if (provider === undefined || (provider === 'brave' ? !hasApiKey : service.url === undefined)) return {}
  // The signal of one call must not end the reading that others wait for as well; it has a time limit of its own.
  const apiKey = (): Promise<string | undefined> => secrets.read(['search', 'apiKey'])
  return { search: { provider, ...service, apiKey: hasApiKey ? apiKey : undefined } }
}
