import type { Lease, Leases } from '../leases.ts'
import { checkName, checkNumber, INTERRUPTED, NOT_RUN } from '../rules.ts'
import type { Reclaimed } from '../store.ts'
import { endApproval } from './approvals.ts'
import { assertOwned, changeCall, type Rows } from './rows.ts'
import { changeTurn } from './turns.ts'

export function createMemoryLeases(rows: Rows): Leases {
  return {
    async acquire(name, { owner, ttlMs }) {
      checkName('lease name', name)
      checkName('owner', owner)
      checkNumber('ttlMs', ttlMs, 1)
      closeAbandoned(rows)
      const present = rows.leases.get(name)
      if (present) return { type: 'taken', by: { ...present } }
      const lease: Lease = { name, owner, fence: ++rows.last.fence, expiresAt: rows.now() + ttlMs }
      rows.leases.set(name, lease)
      return { type: 'acquired', lease: { ...lease } }
    },
    async renew(lease, ttlMs) {
      checkNumber('ttlMs', ttlMs, 1)
      assertOwned(rows, lease)
      const { name, fence } = lease
      const owner = rows.leases.get(name)?.owner ?? lease.owner
      const renewed: Lease = { name, owner, fence, expiresAt: rows.now() + ttlMs }
      rows.leases.set(name, renewed)
      return { ...renewed }
    },
    async release({ name, fence }) {
      if (rows.leases.get(name)?.fence === fence) rows.leases.delete(name)
    },
    async get(name) {
      const lease = rows.leases.get(name)
      return lease && { ...lease }
    },
  }
}

/** See `Store.reclaim`. */
export function closeAbandoned(rows: Rows): Reclaimed {
  for (const { name, expiresAt } of rows.leases.values()) if (expiresAt <= rows.now()) rows.leases.delete(name)
  const fences = new Set([...rows.leases.values()].map(({ fence }) => fence))
  let [calls, turns, approvals] = [0, 0, 0]
  for (const callId of rows.openCalls) {
    const row = rows.calls.get(callId)
    if (!row || fences.has(row.fence)) continue
    const hasStarted = row.state === 'started'
    const end = hasStarted
      ? ({ state: 'interrupted', outcome: INTERRUPTED } as const)
      : ({ state: 'not run', outcome: NOT_RUN } as const)
    const { call } = changeCall(rows, callId, { ...end, closedAt: rows.now() })
    calls += 1
    approvals += endApproval(rows, row, call)
  }
  for (const { turn, fence } of rows.turns.values()) {
    if (turn.state !== 'running' || (fence !== undefined && fences.has(fence))) continue
    changeTurn(rows, turn.id, { state: 'interrupted', endedAt: rows.now() })
    turns += 1
  }
  return { calls, turns, approvals }
}
