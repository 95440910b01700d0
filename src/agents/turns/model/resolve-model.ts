import { NexusError, toSafeLine } from '../../../kernel/index.ts'
import { SETUP, type Words } from '../messages.ts'
import {
  type Endpoint,
  isOwnAddress,
  type ModelChoice,
  type ModelPrice,
  openModel,
  ownAddress,
  type ProviderName,
  PROVIDERS,
  sameAddress,
  shownAddress,
} from './open-model.ts'

/** A model as `nexus.yaml` names it. */
export interface ConfiguredModel {
  readonly provider: string
  readonly name: string
  readonly baseUrl?: string
  readonly apiKey?: string
  /** Which interface of OpenAI is spoken. Default: `responses` at OpenAI's own address, `chat` at any other. */
  readonly api?: 'chat' | 'responses'
  readonly contextTokens?: number
  readonly price?: ModelPrice
}

/** The usual variables, read by `config/`. A key goes to the address of the same environment, or to one that the user typed. */
export interface ModelEnvironment {
  readonly openaiApiKey?: string
  readonly openaiBaseUrl?: string
  readonly anthropicApiKey?: string
  readonly anthropicBaseUrl?: string
  /** A spec as for `--model`. */
  readonly model?: string
}

export interface ModelRequestOptions {
  readonly configured?: ConfiguredModel | undefined
  /** `openai/<name>`, `anthropic/<name>` or `openai-compatible/<name>`; wins over everything else. */
  readonly spec?: string
  /** Address that the user gave for this run; wins over configuration and environment. A key without an address of its own goes there. */
  readonly baseUrl?: string | undefined
  /** Default: that of the process. */
  readonly environment?: ModelEnvironment
}

type Sources = Omit<ModelRequestOptions, 'spec' | 'environment'> & { readonly environment: ModelEnvironment }

/** Asked when only a key is there: small models that can call tools. */
const DEFAULT_NAMES = { openai: 'gpt-5.4-mini', anthropic: 'claude-haiku-4-5' } as const

/**
 * The model to use: `spec`, else `configured`, else the environment's model, else the default model of the provider
 * whose key is set, else undefined; never undefined with a `spec`. Throws MODEL_NOT_CONFIGURED when one is named that cannot be asked
 * (unknown provider, no key, no address), INVALID_ARGUMENT when its address is no URL; both say what to type.
 */
export async function resolveModel(options: ModelRequestOptions & { readonly spec: string }): Promise<ModelChoice>
export async function resolveModel(options?: ModelRequestOptions): Promise<ModelChoice | undefined>
export async function resolveModel(options: ModelRequestOptions = {}): Promise<ModelChoice | undefined> {
  const environment = options.environment ?? (await import('../../../config/index.ts')).readEnvironment()
  const endpoint = chooseEndpoint({ ...options, environment })
  if (endpoint) return { ...(await openModel(endpoint)), ...aboutModel(endpoint, options.configured) }
  if (options.spec === undefined) return undefined
  throw notConfigured(SETUP.noProvider(toSafeLine(options.spec)))
}

/** Window and price are of the model that is configured, not of another one that the user named. */
function aboutModel({ provider, name }: Endpoint, configured: ConfiguredModel | undefined) {
  if (!configured || toProvider(configured.provider) !== provider || configured.name !== name) return {}
  const { contextTokens, price } = configured
  return { contextTokens, price }
}

function chooseEndpoint({
  spec,
  baseUrl,
  configured,
  environment,
}: Sources & { readonly spec?: string }): Endpoint | undefined {
  const sources: Sources = { environment, configured, baseUrl }
  if (spec !== undefined && spec.trim() !== '') return complete(parseSpec(spec.trim()), sources)
  if (configured) return complete({ provider: toProvider(configured.provider), name: configured.name }, sources)
  if (environment.model?.trim()) return complete(parseSpec(environment.model.trim()), sources)
  if (environment.openaiApiKey && isOwnAddress('openai', environment.openaiBaseUrl)) {
    return complete({ provider: 'openai', name: DEFAULT_NAMES.openai }, sources)
  }
  if (!environment.anthropicApiKey) return undefined
  return complete({ provider: 'anthropic', name: DEFAULT_NAMES.anthropic }, sources)
}

/** Names may hold slashes of their own: only the first one separates. */
function parseSpec(spec: string): Endpoint {
  const slash = spec.indexOf('/')
  if (slash > 0 && slash < spec.length - 1)
    return { provider: toProvider(spec.slice(0, slash)), name: spec.slice(slash + 1) }
  if (/^(gpt-|chatgpt-|o\d)/.test(spec)) return { provider: 'openai', name: spec }
  if (spec.startsWith('claude-')) return { provider: 'anthropic', name: spec }
  throw notConfigured(SETUP.noProvider(toSafeLine(spec)))
}

function toProvider(text: string): ProviderName {
  const name = text.trim().toLowerCase()
  const known = PROVIDERS.find((provider) => provider === name)
  if (known) return known
  throw notConfigured(SETUP.unknownProvider(toSafeLine(text)))
}

/**
 * Adds address and key: from the configuration when it speaks of the same provider, else from the environment.
 * A key only goes to the address it was given for, because the author of another address would receive it.
 * A key without an address of its own also goes to the address that the user typed for this run.
 */
function complete(named: Endpoint, { baseUrl: given, configured, environment }: Sources): Endpoint {
  const own: Partial<ConfiguredModel> =
    configured && toProvider(configured.provider) === named.provider ? configured : {}
  const outside = fromEnvironment(named.provider, environment)
  const baseUrl = given || (own.baseUrl ?? outside.baseUrl)
  const keys = [
    { from: 'model.apiKey', apiKey: own.apiKey, address: own.baseUrl ?? outside.baseUrl },
    { from: variableOf(named.provider), apiKey: outside.apiKey, address: outside.baseUrl },
  ].filter(({ apiKey }) => apiKey)
  const isFor = (address: string | undefined): boolean => {
    if (baseUrl === undefined || (given && address === undefined)) return true
    return sameAddress(baseUrl, address ?? ownAddress(named.provider))
  }
  const key = keys.find(({ address }) => isFor(address))
  const endpoint: Endpoint = {
    ...named,
    baseUrl: baseUrl === undefined ? undefined : checkAddress(baseUrl),
    apiKey: key?.apiKey,
    key: {
      variable: variableOf(named.provider),
      ...(key && { sent: key.from }),
      ...(!key && keys[0] && { withheld: keys[0].from }),
    },
    api: own.api,
  }
  checkComplete(endpoint)
  return endpoint
}

function variableOf(provider: ProviderName): string {
  return provider === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY'
}

/** An empty variable counts as one that is not set. */
function fromEnvironment(provider: ProviderName, environment: ModelEnvironment): Pick<Endpoint, 'baseUrl' | 'apiKey'> {
  return provider === 'anthropic'
    ? { baseUrl: environment.anthropicBaseUrl || undefined, apiKey: environment.anthropicApiKey || undefined }
    : { baseUrl: environment.openaiBaseUrl || undefined, apiKey: environment.openaiApiKey || undefined }
}

function checkComplete({ provider, name, baseUrl, apiKey, key }: Endpoint): void {
  if (name.trim() === '') throw notConfigured(SETUP.noName(provider))
  if (provider === 'openai-compatible') {
    if (baseUrl === undefined) throw notConfigured(SETUP.noAddress(toSafeLine(name)))
    return
  }
  if (apiKey) return
  const address = baseUrl === undefined || isOwnAddress(provider, baseUrl) ? undefined : shownAddress(baseUrl)
  const about = { variable: variableOf(provider), withheld: key?.withheld, address }
  throw notConfigured(SETUP.noKey(`${provider}/${toSafeLine(name)}`, about))
}

function notConfigured({ message, fix }: Words): NexusError {
  return new NexusError('MODEL_NOT_CONFIGURED', message, { fix })
}

function checkAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '')
    return text.replace(/\/+$/, '')
  const { message, fix } = SETUP.badAddress(shownAddress(text))
  throw new NexusError('INVALID_ARGUMENT', message, { fix })
}
