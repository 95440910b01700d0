/** Capability tokens: what the holder may call as one agent, signed, and bound to that agent's life; and who sends a request. Source: contracts §1.5. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isJsonObject } from '../../kernel/index.ts'
import type { AgentRecord, Agents } from '../../store/index.ts'
import type { Headers, KeyFinding } from '../http/index.ts'
import type { Caller } from '../rpc/index.ts'
import { type Refusal, REFUSALS } from './refusals.ts'

export interface Tokens {
  issue(
    agent: AgentRecord,
    wants: { readonly scopes: readonly string[]; readonly expiresMs: number },
  ): { readonly token: string; readonly expiresAt: number }
  /** Undefined for a token that is forged, expired, or of an agent that ended or was revoked. */
  verify(token: string, agents: Agents): Promise<Verified | undefined>
}

export interface Verified {
  readonly agent: AgentRecord
  readonly scopes: ReadonlySet<string>
}

const FORM = 'n3cap1'
const ISSUER = 'nexus'
/** Clocks of two machines differ. */
const SKEW_S = 30
const MAX_CHARS = 4_096

/** Names of the members are those of contracts §1.5, with the epoch of the agent. */
interface Claims {
  readonly tid: string
  readonly iss: string
  /** The key of the agent, which no later agent has. */
  readonly sub: string
  readonly scp: readonly string[]
  readonly iat: number
  readonly exp: number
  readonly pid: string
  readonly nonce: string
  readonly epoch: number
}

/** `key`: that of the server. Tokens hold as long as it does, over restarts too. `now`: epoch milliseconds. */
export function createTokens(key: string, now: () => number = Date.now): Tokens {
  const secret = createHmac('sha256', key).update('nexus capability tokens, version 1').digest()
  const sign = (text: string): Buffer => createHmac('sha256', secret).update(text).digest()
  return {
    issue({ key: sub, epoch, projectId: pid = '' }: AgentRecord & { readonly projectId?: string }, wants) {
      const iat = Math.floor(now() / 1_000)
      const exp = iat + Math.ceil(wants.expiresMs / 1_000)
      const [tid, nonce] = [randomBytes(8).toString('hex'), randomBytes(12).toString('base64url')]
      const claims: Claims = { tid, iss: ISSUER, sub, scp: wants.scopes, iat, exp, pid, nonce, epoch }
      const text = `${FORM}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
      return { token: `${text}.${sign(text).toString('base64url')}`, expiresAt: exp * 1_000 }
    },
    async verify(token, agents) {
      const claims = token.length > MAX_CHARS ? undefined : readSigned(token, sign)
      const seconds = now() / 1_000
      if (!claims || claims.exp <= seconds - SKEW_S || claims.iat > seconds + SKEW_S) return undefined
      const agent = await agents.get(claims.sub)
      const isLiving = agent && agent.endedAt === undefined && agent.epoch === claims.epoch
      return isLiving ? { agent, scopes: new Set(claims.scp) } : undefined
    },
  }
}

function readSigned(token: string, sign: (text: string) => Buffer): Claims | undefined {
  const [form, body, mac, ...more] = token.split('.')
  if (form !== FORM || body === undefined || mac === undefined || more.length > 0) return undefined
  const wanted = sign(`${form}.${body}`)
  const given = Buffer.from(mac, 'base64url')
  const isOurs = given.length === wanted.length && timingSafeEqual(given, wanted)
  return isOurs ? toClaims(body) : undefined
}

/** The signature says that we wrote it. */
function toClaims(body: string): Claims | undefined {
  const value: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
  return isJsonObject(value) && value['iss'] === ISSUER ? (value as unknown as Claims) : undefined
}

interface CallersOptions {
  readonly checkKey: (values: readonly string[]) => KeyFinding | undefined
  readonly tokens: Tokens
}

export type Callers = (headers: Headers, agents: Agents) => Promise<Caller | Refusal>

/** A token that is sent decides, whatever key comes with it: it is the narrower right. */
export function createCallers({ checkKey, tokens }: CallersOptions): Callers {
  return async (headers, agents) => {
    const given = headers['x-nexus-capability']
    const named = headers['x-nexus-agent']
    if (given === undefined) {
      if (named !== undefined) return REFUSALS.agentWithoutToken
      const finding = checkKey(headers['authorization'] ?? [])
      return finding ? REFUSALS[finding] : { type: 'key' }
    }
    const [token = '', ...more] = given
    const verified = more.length > 0 ? undefined : await tokens.verify(token.trim(), agents)
    if (!verified) return REFUSALS.badToken
    if (named !== undefined && (named.length > 1 || named[0] !== verified.agent.id)) return REFUSALS.badToken
    return { type: 'agent', ...verified }
  }
}
