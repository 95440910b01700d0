/** Deprecated, for calls and sessions without a lease: goes when all callers have leases. */
import { INTERRUPTED, isAbandoned, toJson } from '../rules.ts'
import { optionalText } from './columns.ts'
import type { Scope } from './scope.ts'

const OPEN_CALLS = `select entry.call_id, entry.opener, session.state, session.owner
  from ledger_entries as entry
  left join sessions as session on session.project_id = :projectId and session.id = entry.session_id
  where entry.project_id = :projectId and entry.state = 'started' and entry.fence is null order by entry.seq`

const CLOSE = `update ledger_entries set state = 'interrupted', outcome = :outcome, closed_at = :now
  where project_id = :projectId and call_id = :callId and state = 'started'`

const RUNNING = `select id, owner from sessions where project_id = :projectId and state = 'running'`

const SET_IDLE = `update sessions set state = 'idle', owner = null where project_id = :projectId and id = :id`

/** Closes the open calls that no living process can close any more, and ends the turns of those; returns how many calls. */
export function recover(scope: Scope, isAlive: (owner: string) => boolean): Promise<number> {
  return scope.change(async (tx) => {
    const abandoned = (await tx.all(OPEN_CALLS)).filter((row) => {
      const state = optionalText(row.state)
      const session = state === undefined ? undefined : { state, owner: optionalText(row.owner) }
      return isAbandoned({ opener: optionalText(row.opener), session }, isAlive)
    })
    for (const { call_id: callId } of abandoned)
      await tx.run(CLOSE, { callId: String(callId), outcome: toJson('outcome', INTERRUPTED) })
    for (const row of await tx.all(RUNNING)) {
      const owner = optionalText(row.owner)
      if (owner === undefined || !isAlive(owner)) await tx.run(SET_IDLE, { id: String(row.id) })
    }
    return abandoned.length
  })
}
