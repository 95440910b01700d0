import type { Lease, Leases } from '../leases.ts'
import { MESSAGES } from '../messages.ts'
import { checkName, checkNumber, storeError } from '../rules.ts'
import { endDue, released } from './reclaim.ts'
import type { Row, Scope, Statements, Values } from './scope.ts'

/** The condition of a fenced write: the writer's lease is still the present one. With `fencing` as values. */
export const OWNED = `exists (select 1 from leases
  where leases.project_id = :projectId and leases.name = :leaseName and leases.fence = :fence)`

/** Expired or not, at most one row a name. The fence is the identity of the row, so it only grows. */
const INSERT = `insert into leases (project_id, name, owner, acquired_at, expires_at, held_by, process)
  values (:projectId, :name, :owner, :now, :now + :ttlMs, :heldBy, :process) on conflict (project_id, name) do nothing
  returning name, owner, fence, expires_at`

/** A lease under another one ends with that. */
const GET = `select name, owner, fence, coalesce((select holder.expires_at from leases as holder
    where holder.project_id = :projectId and holder.fence = leases.held_by), expires_at) as expires_at
  from leases where project_id = :projectId and name = :name`

const RENEW = `update leases set expires_at = :now + :ttlMs
  where project_id = :projectId and name = :name and fence = :fence returning name, owner, fence, expires_at`

const RELEASE =
  'delete from leases where project_id = :projectId and name = :name and fence = :fence returning name, fence'

export function createSqlLeases(scope: Scope): Leases {
  return {
    async acquire(name, { owner, ttlMs = 0, under, process }) {
      const values = { name: checkName('lease name', name), owner: checkName('owner', owner) }
      if (!under) checkNumber('ttlMs', ttlMs, 1)
      return scope.change(async (tx) => {
        await endDue(tx)
        if (under) await assertOwned(tx, under)
        const row = await tx.get(INSERT, { ...values, ttlMs, heldBy: under?.fence ?? null, process: process ?? null })
        if (row) return { type: 'acquired', lease: { ...toLease(row), ...(under && { expiresAt: under.expiresAt }) } }
        const present = await tx.get(GET, { name })
        if (!present) throw new Error(`The lease ${name} could neither be written nor read.`)
        return { type: 'taken', by: toLease(present) }
      })
    },
    async renew(lease, ttlMs) {
      checkNumber('ttlMs', ttlMs, 1)
      const { name, fence } = lease
      const row = await scope.get(RENEW, { name, fence, ttlMs })
      if (row) return toLease(row)
      throw leaseLost(lease, await scope.get(GET, { name }))
    },
    async release({ name, fence }) {
      // A change: `acquire` needs that no lease goes away between its statements.
      await scope.change(async (tx) => released(tx, await tx.all(RELEASE, { name, fence })))
    },
    async get(name) {
      const row = await scope.get(GET, { name })
      return row && toLease(row)
    },
  }
}

/** The values of `OWNED`. */
export function fencing({ name, fence }: Lease): Values {
  return { leaseName: name, fence }
}

/** After a fenced write changed nothing: throws LEASE_LOST when the lease is the reason. */
export async function assertOwned(statements: Statements, lease: Lease): Promise<void> {
  const row = await statements.get(GET, { name: lease.name })
  if (Number(row?.fence) !== lease.fence) throw leaseLost(lease, row)
}

function leaseLost(lease: Lease, present: Row | undefined): Error {
  return storeError('LEASE_LOST', MESSAGES.leaseLost({ lease, present: present && toLease(present) }))
}

function toLease(row: Row): Lease {
  return {
    name: String(row.name),
    owner: String(row.owner),
    fence: Number(row.fence),
    expiresAt: Number(row.expires_at),
  }
}
