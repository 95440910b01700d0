/** The sender of a request, by its headers: the holder of the server's key, or of a capability token of one agent. */
import type { Headers, KeyFinding } from '../http/index.ts'
import type { Caller } from '../rpc/index.ts'
import type { Agents } from '../../store/index.ts'
import type { Refusal } from './refusals.ts'
import { REFUSALS } from './refusals.ts'
import type { Tokens } from './tokens.ts'

export interface CallersOptions {
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
