import { type Call, type LedgerEntry, newId } from '../../kernel/index.ts'
import type { Approval, Approvals, NewApproval, RememberedApproval, RememberedFilter } from '../approvals.ts'
import { MESSAGES } from '../messages.ts'
import { checkLimit, checkName, checkRemember, storeError } from '../rules.ts'
import { addEvent, type CallRow, changeCall, newest, type Rows } from './rows.ts'

export function createMemoryApprovals(rows: Rows): Approvals {
  const mustGet = (id: string): Approval => {
    const approval = rows.approvals.get(id)
    if (!approval) throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchApproval({ id }))
    return approval
  }
  const expire = (): number => {
    const over = [...rows.approvals.values()].filter((each) => each.state === 'open' && each.expiresAt <= rows.now())
    for (const approval of over) change(rows, { ...approval, state: 'expired' })
    return over.length
  }
  return {
    async answer(id, { isAllowed, by, remember }) {
      checkName('answering person', by)
      expire()
      const approval = mustGet(id)
      checkRemember(approval, { isAllowed, ...(remember && { remember }) })
      if (approval.state !== 'open') return { isApplied: false, approval: { ...approval } }
      const state = isAllowed ? 'allowed' : 'denied'
      const answered: Approval = { ...approval, state, answeredBy: by, answeredAt: rows.now() }
      change(rows, answered)
      if (rows.calls.get(approval.callId)?.state === 'asked') changeCall(rows, approval.callId, { state: 'answered' })
      if (isAllowed && remember) rememberAnswer(rows, { approval, match: remember, by })
      return { isApplied: true, approval: { ...answered } }
    },
    expire: async () => expire(),
    async get(id) {
      const approval = rows.approvals.get(id)
      return approval && { ...approval }
    },
    async list({ states, limit } = {}) {
      const most = checkLimit(limit)
      const matching = [...rows.approvals.values()].filter(({ state }) => states?.includes(state) ?? true)
      return newest(matching, most).map((each) => ({ ...each }))
    },
    async remembered(filter) {
      return [...rows.remembered.values()]
        .filter((each) => filter === undefined || isAlike(each, { scope: '', ...filter }))
        .map((each) => ({ ...each }))
    },
    async forget(id) {
      const isGone = rows.remembered.delete(id)
      if (isGone) addEvent(rows, { type: 'approval.forgotten', references: { rememberedId: id } })
      return isGone
    },
  }
}

/** The approval that `openApproval` will write. */
export function checkNewApproval(
  rows: Rows,
  { call, skill, approval }: { call: Call; skill: LedgerEntry['skill']; approval: NewApproval },
): Approval {
  const { id = newId(), agentPath, command, prefix, scope = '', canRemember = false, ttlMs } = approval
  const createdAt = rows.now()
  return {
    ...{ id, callId: call.id, agentPath, tool: checkName('tool', call.tool), command },
    ...(call.sessionId !== undefined && { sessionId: call.sessionId }),
    ...(prefix !== undefined && { prefix }),
    ...{ scope, canRemember },
    ...(skill?.treeDigest !== undefined && { skillDigest: skill.treeDigest }),
    ...{ createdAt, expiresAt: createdAt + ttlMs, state: 'open' },
  }
}

export function openApproval(rows: Rows, { agentId }: Call, approval: Approval): void {
  change(rows, approval, agentId)
}

/** Sets the open approval of a call that ended to `not run`; returns how many there were. */
export function endApproval(rows: Rows, { approvalId = '' }: CallRow, call: Call): number {
  const approval = rows.approvals.get(approvalId)
  if (approval?.state !== 'open' || approval.callId !== call.id) return 0
  change(rows, { ...approval, state: 'not run' })
  return 1
}

function change(rows: Rows, approval: Approval, agentId?: string): void {
  rows.approvals.set(approval.id, approval)
  addEvent(rows, {
    type: `approval.${approval.state.replace(' ', '-')}`,
    ...(agentId !== undefined && { agentId }),
    ...(approval.sessionId !== undefined && { sessionId: approval.sessionId }),
    references: { approvalId: approval.id, callId: approval.callId },
  })
}

function rememberAnswer(
  rows: Rows,
  { approval, match, by }: { approval: Approval; match: RememberedApproval['match']; by: string },
): void {
  const { agentPath, tool, scope, skillDigest } = approval
  const text = match === 'exact' ? approval.command : (approval.prefix ?? '')
  const isKnown = [...rows.remembered.values()].some(
    (each) => isAlike(each, approval) && each.match === match && each.text === text,
  )
  if (isKnown) return
  const id = newId()
  const digest = skillDigest === undefined ? {} : { skillDigest }
  rows.remembered.set(id, {
    ...{ id, agentPath, tool, match, text, scope, ...digest },
    ...{ createdAt: rows.now(), answeredBy: by },
  })
  addEvent(rows, { type: 'approval.remembered', references: { rememberedId: id, approvalId: approval.id } })
}

function isAlike(one: RememberedFilter, other: RememberedFilter): boolean {
  const isSame = (key: keyof RememberedFilter): boolean => one[key] === other[key]
  return isSame('agentPath') && isSame('tool') && isSame('scope') && isSame('skillDigest')
}
