import type { BlobReference, BlobReferences } from '../blobs.ts'
import { MESSAGES } from '../messages.ts'
import { checkBlobReference, checkNumber, storeError } from '../rules.ts'
import type { Rows } from './rows.ts'

export function createMemoryBlobReferences(rows: Rows): BlobReferences {
  const living = (): BlobReference[] =>
    [...rows.blobs.values()].filter(({ expiresAt = Infinity }) => expiresAt > rows.now())
  return {
    async add(given) {
      const { ttlMs, ...reference } = checkBlobReference(given)
      if (rows.blobs.has(reference.id)) throw storeError('CONFLICT', MESSAGES.blobExists({ id: reference.id }))
      const createdAt = rows.now()
      const made = { ...reference, createdAt, ...(ttlMs !== undefined && { expiresAt: createdAt + ttlMs }) }
      rows.blobs.set(made.id, made)
      return { ...made }
    },
    async get(id) {
      return living().find((each) => each.id === id)
    },
    async list({ callId, sessionId } = {}) {
      return living().filter(
        (each) => (callId ?? each.callId) === each.callId && (sessionId ?? each.sessionId) === each.sessionId,
      )
    },
    async remove(id) {
      rows.blobs.delete(id)
    },
    async trim({ maxBytes } = {}) {
      let room = maxBytes === undefined ? Infinity : checkNumber('maxBytes', maxBytes)
      const before = rows.blobs.size
      const kept = new Set(living())
      for (const each of [...kept].toReversed()) {
        if (each.expiresAt === undefined) continue
        room -= each.bytes
        if (room < 0) kept.delete(each)
      }
      rows.blobs.clear()
      for (const each of kept) rows.blobs.set(each.id, each)
      return before - rows.blobs.size
    },
    async count(digest) {
      return living().filter((each) => each.digest === digest).length
    },
  }
}
