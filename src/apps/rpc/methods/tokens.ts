/** Credentials of single agents. */
import { z } from 'zod'
import { NexusError } from '../../../kernel/index.ts'
import { RPC, RpcError, shown } from '../failures.ts'
import { globalMethod } from '../method.ts'
import { isoTime } from './schemas.ts'

const HOUR_S = 3_600
const MAX_DAYS = 30

/** `scopes`: all that a token may carry. `usual`: those of a token that names none. */
export function tokenMethods(known: { readonly scopes: readonly string[]; readonly usual: readonly string[] }) {
  return [
    globalMethod({
      name: 'issue_token',
      summary:
        'A capability token of one agent: it reaches that agent and its descendants, until it expires or the agent ends.',
      params: z.strictObject({
        agent_id: z.string(),
        scopes: z.array(z.string()).max(100).optional(),
        expires_s: z
          .int()
          .min(1)
          .max(MAX_DAYS * 24 * HOUR_S)
          .optional(),
      }),
      result: z.strictObject({ token: z.string(), expires_at: z.string(), scopes: z.array(z.string()) }),
      isForKeyOnly: true,
      async run({ agent_id, scopes = known.usual, expires_s = HOUR_S }, { served, server }) {
        const foreign = scopes.find((scope) => !known.scopes.includes(scope))
        if (foreign !== undefined)
          throw new RpcError(RPC.outOfRange('scopes', `names of scopes, and ${shown(foreign)} is none`))
        const agent = await served.runtime.store.agents.find(agent_id)
        if (!agent) throw new NexusError('AGENT_NOT_FOUND', `Agent not found: ${shown(agent_id)}`)
        const { token, expiresAt } = server.issueToken(agent, { scopes, expiresMs: expires_s * 1_000 })
        return { token, expires_at: isoTime(expiresAt), scopes: [...scopes] }
      },
    }),
  ]
}
