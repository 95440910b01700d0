import { type Call, type LedgerEntry, newId } from '../../kernel/index.ts'
import type { Approval, Approvals, NewApproval, RememberedApproval } from '../approvals.ts'
import { MESSAGES } from '../messages.ts'
import { checkName, checkRemember, storeError, toJson, WAITING_MS } from '../rules.ts'
import { defined, filters, json, optionalJson, optionalNumber, optionalText } from './columns.ts'
import { endDue, eventOwner, eventWord } from './reclaim.ts'
import { type Change, listRows, type Row, type Scope, type Statements } from './scope.ts'

const INSERT = `insert into approvals (project_id, id, call_id, session_id, agent_id, tool, command, prefix, scope,
    can_remember, skill_digest, created_at, expires_at, waiting_ttl_ms, state)
  values (:projectId, :id, :callId, :sessionId, :agentId, :tool, :command, :prefix, :scope,
    :canRemember, :skillDigest, :now, :now + :ttlMs, :waitingTtlMs, 'open')`

/** Ids and paths are used again: only the agent's own row has its path. */
const PATH = `coalesce((select path from agents where agents.project_id = :projectId and agents.key = agent_id), agent_id)
  as agent_path`

const GET = `select *, ${PATH} from approvals where project_id = :projectId and id = :id`

const ANSWER = `update approvals set state = :state, answered_by = :by, answered_kind = :kind, answered_at = :now
  where project_id = :projectId and id = :id and state = 'open' returning *, ${PATH}`

const ANSWER_CALL = `update ledger_entries set state = 'answered'
  where project_id = :projectId and call_id = :callId and state = 'asked' returning agent_id, session_id`

const REMEMBER = `insert into remembered_approvals
    (project_id, id, agent_id, tool, match, text, scope, skill_digest, created_at, answered_by)
  select :projectId, :id, :agentId, :tool, :match, :text, :scope, :skillDigest, :now, :by
  where not exists (select 1 from remembered_approvals where project_id = :projectId and agent_id = :agentId
    and tool = :tool and match = :match and text = :text and scope = :scope and coalesce(skill_digest, '') = coalesce(:skillDigest, ''))`

const FORGET = 'delete from remembered_approvals where project_id = :projectId and id = :id'

const LIST = { table: 'approvals', key: 'id', columns: `*, ${PATH}` }

/** The approvals of one project. */
export function createSqlApprovals(scope: Scope): Approvals {
  const get = async (statements: Statements, id: string): Promise<Approval | undefined> => {
    const row = await statements.get(GET, { id })
    return row && toApproval(scope, row)
  }
  const mustGet = async (statements: Statements, id: string): Promise<Approval> => {
    const approval = await get(statements, id)
    if (!approval) throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchApproval({ id }))
    return approval
  }
  return {
    async answer(id, { isAllowed, by, kind, remember }) {
      checkName('answering person', by)
      return scope.change(async (tx) => {
        // The question of a process that ended goes on waiting: it is not late.
        await endDue(tx)
        const open = await mustGet(tx, id)
        checkRemember(open, { isAllowed, remember })
        const row = await tx.get(ANSWER, { id, by, kind, state: isAllowed ? 'allowed' : 'denied' })
        if (!row) return { isApplied: false, approval: open }
        const approval = toApproval(scope, row)
        await approvalChanged(tx, approval)
        const call = await tx.get(ANSWER_CALL, { callId: approval.callId })
        if (call) {
          const references = { callId: approval.callId, approvalId: id }
          tx.event({ type: 'call.answered', ...eventOwner(call), references })
        }
        if (isAllowed && remember) await rememberAnswer(tx, approval, remember, by)
        return { isApplied: true, approval }
      })
    },
    expire: async () => (await scope.change(endDue)).expired,
    get: (id) => get(scope, id),
    async list({ states, sessionId, ...page } = {}) {
      const rows = await listRows(scope, LIST, { ...filters({ state: states, session_id: sessionId }), ...page })
      return rows.map((row) => toApproval(scope, row))
    },
    async remembered(filter) {
      const { sql, values } = filters({
        agent_id: filter?.agentId,
        tool: filter?.tool,
        scope: filter && toJson('scope', filter.scope ?? ''),
        "coalesce(skill_digest, '')": filter && (filter.skillDigest ?? ''),
      })
      const rows = await scope.all(
        `select *, ${PATH} from remembered_approvals where project_id = :projectId ${sql} order by seq`,
        values,
      )
      return rows.map((row) => toRemembered(scope, row))
    },
    async forget(id) {
      return scope.change(async (tx) => {
        const isGone = (await tx.run(FORGET, { id })) > 0
        if (isGone) tx.event({ type: 'approval.forgotten', references: { rememberedId: id } })
        return isGone
      })
    },
  }
}

/** Asks a person about a call, in the transaction that records it. */
export async function openApproval(
  tx: Change,
  { call, skill, approval }: { call: Call; skill: LedgerEntry['skill']; approval: NewApproval },
): Promise<void> {
  const { id = newId(), command, prefix, scope = '', canRemember = false, ttlMs, waitingTtlMs = WAITING_MS } = approval
  const skillDigest = skill?.treeDigest ?? null
  await tx.run(INSERT, {
    id,
    callId: call.id,
    sessionId: call.sessionId ?? null,
    agentId: call.agentId,
    skillDigest,
    ttlMs,
    waitingTtlMs,
    scope: toJson('scope', scope),
    canRemember: canRemember ? 1 : 0,
    tool: checkName('tool', call.tool),
    command: toJson('command', command),
    prefix: prefix === undefined ? null : toJson('prefix', prefix),
  })
  const references = { approvalId: id, callId: call.id }
  tx.event({ type: 'approval.open', agentId: call.agentId, sessionId: call.sessionId, references })
}

async function rememberAnswer(
  tx: Change,
  approval: Approval,
  match: RememberedApproval['match'],
  by: string,
): Promise<void> {
  const { agentId, tool, scope, skillDigest = null } = approval
  const id = newId()
  const text = toJson('command', match === 'exact' ? approval.command : approval.prefix)
  const about = { agentId, tool, scope: toJson('scope', scope), skillDigest }
  if ((await tx.run(REMEMBER, { ...about, id, match, text, by })) === 0) return
  tx.event({ type: 'approval.remembered', references: { rememberedId: id, approvalId: approval.id } })
}

async function approvalChanged(tx: Change, { id, callId, sessionId, state }: Approval): Promise<void> {
  const references = { approvalId: id, callId }
  tx.event({ type: `approval.${eventWord(state)}`, sessionId, references })
}

function toApproval(scope: Scope, row: Row): Approval {
  return defined<Approval>({
    id: String(row.id),
    callId: String(row.call_id),
    sessionId: optionalText(row.session_id),
    agentId: String(row.agent_id),
    agentPath: String(row.agent_path),
    tool: String(row.tool),
    command: json<string>(scope, row.command),
    prefix: optionalJson<string>(scope, row.prefix),
    scope: json<string>(scope, row.scope),
    canRemember: Number(row.can_remember) === 1,
    skillDigest: optionalText(row.skill_digest),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    state: String(row.state) as Approval['state'],
    answeredBy: optionalText(row.answered_by),
    answeredKind: optionalText(row.answered_kind) as Approval['answeredKind'],
    answeredAt: optionalNumber(row.answered_at),
  })
}

function toRemembered(scope: Scope, row: Row): RememberedApproval {
  return defined<RememberedApproval>({
    id: String(row.id),
    agentId: String(row.agent_id),
    agentPath: String(row.agent_path),
    tool: String(row.tool),
    match: String(row.match) as RememberedApproval['match'],
    text: json<string>(scope, row.text),
    scope: json<string>(scope, row.scope),
    skillDigest: optionalText(row.skill_digest),
    createdAt: Number(row.created_at),
    answeredBy: String(row.answered_by),
  })
}
