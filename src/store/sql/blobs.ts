import type { BlobReference, BlobReferences } from '../blobs.ts'
import { MESSAGES } from '../messages.ts'
import { checkBlobReference, checkNumber, storeError } from '../rules.ts'
import { defined, filters, optionalNumber, optionalText } from './columns.ts'
import type { Row, Scope } from './scope.ts'

const INSERT = `insert into blob_references
    (project_id, id, digest, bytes, name, is_cut, call_id, session_id, created_at, expires_at)
  values (:projectId, :id, :digest, :bytes, :name, :isCut, :callId, :sessionId, :now, :now + :ttlMs)
  on conflict (project_id, id) do nothing returning *`

const LIVING = '(expires_at is null or expires_at > :now)'

const GET = `select * from blob_references where project_id = :projectId and ${LIVING} and id = :id`

const COUNT = `select count(*) as number from blob_references where project_id = :projectId and ${LIVING} and digest = :digest`

const REMOVE = 'delete from blob_references where project_id = :projectId and id = :id'

const TRIM_ENDED = 'delete from blob_references where project_id = :projectId and expires_at <= :now'

const TRIM_BYTES = `delete from blob_references where project_id = :projectId and seq in (
  select seq from (
    select seq, sum(bytes) over (order by seq desc) as total from blob_references
      where project_id = :projectId and expires_at is not null) as added
  where total > :maxBytes)`

/** The references of blobs. They have no events: an outcome names them. */
export function createSqlBlobReferences(scope: Scope): BlobReferences {
  return {
    async add(given) {
      const { callId = null, sessionId = null, ttlMs = null, isCut, ...rest } = checkBlobReference(given)
      const row = await scope.change((tx) =>
        tx.get(INSERT, { ...rest, callId, sessionId, ttlMs, isCut: isCut ? 1 : 0 }),
      )
      if (!row) throw storeError('CONFLICT', MESSAGES.blobExists({ id: rest.id }))
      return toReference(row)
    },
    async get(id) {
      const row = await scope.get(GET, { id })
      return row && toReference(row)
    },
    async list({ callId, sessionId } = {}) {
      const { sql, values } = filters({ call_id: callId, session_id: sessionId })
      const rows = await scope.all(
        `select * from blob_references where project_id = :projectId and ${LIVING} ${sql} order by seq`,
        values,
      )
      return rows.map(toReference)
    },
    async remove(id) {
      await scope.change((tx) => tx.run(REMOVE, { id }))
    },
    async trim({ maxBytes } = {}) {
      if (maxBytes !== undefined) checkNumber('maxBytes', maxBytes)
      return scope.change(async (tx) => {
        const ended = await tx.run(TRIM_ENDED)
        return ended + (maxBytes === undefined ? 0 : await tx.run(TRIM_BYTES, { maxBytes }))
      })
    },
    count: async (digest) => Number((await scope.get(COUNT, { digest }))?.number ?? 0),
  }
}

function toReference(row: Row): BlobReference {
  return defined<BlobReference>({
    id: String(row.id),
    digest: String(row.digest),
    bytes: Number(row.bytes),
    name: String(row.name),
    isCut: Number(row.is_cut) === 1,
    callId: optionalText(row.call_id),
    sessionId: optionalText(row.session_id),
    createdAt: Number(row.created_at),
    expiresAt: optionalNumber(row.expires_at),
  })
}
