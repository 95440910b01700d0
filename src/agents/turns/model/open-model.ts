import type { LanguageModel } from 'ai'
import { createRedactor, hostOf, type JsonObject, toSafeLine } from '../../../kernel/index.ts'

/** The model providers that are built in. */
export const PROVIDERS = ['openai', 'anthropic', 'openai-compatible'] as const
export type ProviderName = (typeof PROVIDERS)[number]

/** A model that can be asked. Nothing in it shows the key. */
export interface ModelChoice {
  readonly provider: ProviderName | (string & {})
  readonly name: string
  /** For people: `openai/gpt-5-mini`, with the address when it is not the provider's own. */
  readonly describe: string
  readonly languageModel: Exclude<LanguageModel, string>
  /** Settings for the provider, sent with each request. */
  readonly providerOptions?: { readonly [provider: string]: JsonObject }
  /** Which key is sent, by the name of its setting; absent when that is not known. */
  readonly key?: KeyUse
  readonly price?: ModelPrice
  /** Most tokens of one request with its answer; absent when that is not known. */
  readonly contextTokens?: number
  /** Blanks the key in a text that came from the provider. */
  readonly redact?: (text: string) => string
}

/** Money for a million tokens, in whatever currency the budgets have. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
  /** The price of input that the provider read from its cache; default `input`. */
  readonly cachedInput?: number | undefined
}

/** Names of settings, never values. */
export interface KeyUse {
  /** `OPENAI_API_KEY` or `model.apiKey`; absent when no key is sent. */
  readonly sent?: string
  /** A key that is set and not sent, because it belongs to another address. */
  readonly withheld?: string
  /** The provider's usual variable. */
  readonly variable: string
}

/** Where a model is asked, and with which key. */
export interface Endpoint {
  readonly provider: ProviderName
  readonly name: string
  readonly baseUrl?: string | undefined
  readonly apiKey?: string | undefined
  readonly key?: KeyUse
  readonly api?: 'chat' | 'responses' | undefined
}

type Connection = Pick<ModelChoice, 'languageModel' | 'providerOptions'>

const OWN_ADDRESS = { openai: 'https://api.openai.com/v1', anthropic: 'https://api.anthropic.com/v1' } as const

/** The provider's own address; undefined where the provider has no server of its own. */
export function ownAddress(provider: ProviderName): string | undefined {
  return provider === 'openai-compatible' ? undefined : OWN_ADDRESS[provider]
}

/** True for the provider's own address, also when none is given. */
export function isOwnAddress(provider: ProviderName, baseUrl: string | undefined): boolean {
  return provider !== 'openai-compatible' && (!baseUrl || sameAddress(baseUrl, OWN_ADDRESS[provider]))
}

/** The tools of Anthropic are often given the address without its `/v1`. */
export function sameAddress(a: string, b: string | undefined): boolean {
  const plain = (text: string): string => text.replace(/\/+$/, '').replace(/\/v1$/, '')
  return b !== undefined && plain(a) === plain(b)
}

/** An address without what in it may be a secret: user, password, path and query. */
export function shownAddress(address: string): string {
  return hostOf(address) ?? 'an address that is not shown'
}

/** Loads the provider's library and makes the model. Nothing is sent yet. */
export async function openModel(endpoint: Endpoint): Promise<ModelChoice> {
  const { provider, name, baseUrl, apiKey, key } = endpoint
  const redact = createRedactor(apiKey === undefined ? [] : [apiKey])
  const where = isOwnAddress(provider, baseUrl) ? '' : ` at ${shownAddress(baseUrl ?? '')}`
  return {
    provider,
    name,
    describe: `${provider}/${toSafeLine(name)}${where}`,
    key,
    redact: (text) => redact(text),
    ...(await connect(endpoint)),
  }
}

/** Address and key are always given, because the libraries would else read them from the environment themselves. */
async function connect(endpoint: Endpoint): Promise<Connection> {
  switch (endpoint.provider) {
    case 'anthropic':
      return connectAnthropic(endpoint)
    case 'openai-compatible':
      return connectCompatible(endpoint)
    case 'openai':
      return connectOpenAI(endpoint)
  }
}

async function connectAnthropic({ name, baseUrl = OWN_ADDRESS.anthropic, apiKey = '' }: Endpoint): Promise<Connection> {
  const { createAnthropic } = await import('@ai-sdk/anthropic')
  const baseURL = /\/v\d+$/.test(baseUrl) ? baseUrl : `${baseUrl}/v1`
  return { languageModel: createAnthropic({ baseURL, apiKey })(name) }
}

/** Without `includeUsage` servers do not report the tokens of a streamed answer. */
async function connectCompatible({ name, baseUrl = '', apiKey }: Endpoint): Promise<Connection> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const settings = { name: 'openai-compatible', baseURL: baseUrl, includeUsage: true, apiKey }
  return { languageModel: createOpenAICompatible(settings)(name) }
}

/** Only OpenAI itself surely speaks the newer interface. There the history stays ours: nothing is left with the provider. */
async function connectOpenAI({ name, baseUrl = OWN_ADDRESS.openai, apiKey = '', api }: Endpoint): Promise<Connection> {
  const { createOpenAI } = await import('@ai-sdk/openai')
  const openai = createOpenAI({ baseURL: baseUrl, apiKey })
  const spoken = api ?? (isOwnAddress('openai', baseUrl) ? 'responses' : 'chat')
  if (spoken === 'chat') return { languageModel: openai.chat(name) }
  return { languageModel: openai.responses(name), providerOptions: { openai: { store: false } } }
}
