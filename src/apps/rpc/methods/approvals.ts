/** Questions to people, from any depth, and their answers. */
import { z } from 'zod'
import type { LedgerEntry } from '../../../kernel/index.ts'
import { whyHeld } from '../../../runtime/index.ts'
import type { Approval } from '../../../store/index.ts'
import type { ApprovalListing } from '../../client/index.ts'
import { globalMethod } from '../method.ts'
import { isoTime, NONE } from './schemas.ts'

const listing = z.strictObject({
  approval_id: z.string(),
  agent_path: z.string(),
  call_id: z.string(),
  tool: z.string(),
  command: z.string(),
  prefix: z.string().nullable(),
  can_remember: z.boolean(),
  why: z.string().nullable(),
  created_at: z.string(),
  expires_at: z.string(),
})

export const APPROVAL_METHODS = [
  globalMethod({
    name: 'approvals.list',
    summary: 'The open questions about calls of all agents, oldest first.',
    params: NONE,
    result: z.strictObject({ approvals: z.array(listing) }),
    isForKeyOnly: true,
    async run(_params, { served: { runtime } }) {
      const open = await runtime.approvals.list()
      const entries = await Promise.all(open.map(({ callId }) => runtime.store.ledger.get(callId)))
      return { approvals: open.map((approval, index) => toListing(approval, entries[index])) }
    },
  }),
  globalMethod({
    name: 'approvals.respond',
    summary: 'Answers a question, once. A second answer, or one that comes too late, changes nothing.',
    params: z.strictObject({
      approval_id: z.string(),
      allow: z.boolean(),
      remember: z.enum(['exact', 'prefix']).optional(),
      by: z.string().min(1).max(200).optional(),
    }),
    result: z.strictObject({ applied: z.boolean(), state: z.string() }),
    isForKeyOnly: true,
    async run({ approval_id, allow, remember, by = 'the server key' }, { served }) {
      const answer = { isAllowed: allow, by, kind: 'key', remember } as const
      const { isApplied, approval } = await served.runtime.approvals.answer(approval_id, answer)
      return { applied: isApplied, state: approval.state }
    },
  }),
]

function toListing(approval: Approval, entry: LedgerEntry | undefined): ApprovalListing {
  return {
    approval_id: approval.id,
    agent_path: approval.agentPath,
    call_id: approval.callId,
    tool: approval.tool,
    command: approval.command,
    prefix: approval.prefix ?? null,
    can_remember: approval.canRemember,
    why: (entry && whyHeld(entry.decision)) ?? null,
    created_at: isoTime(approval.createdAt),
    expires_at: isoTime(approval.expiresAt),
  }
}
