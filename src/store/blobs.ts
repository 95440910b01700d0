import type { Clock } from '../kernel/index.ts'

/** A use of a blob. While a living reference names it, its bytes are not removed. */
export interface BlobReference {
  /** Unique within the project. */
  readonly id: string
  /** SHA-256 of the bytes, 64 hexadecimal digits. */
  readonly digest: string
  readonly bytes: number
  /** A name for people, such as `stdout`. */
  readonly name: string
  /** True when there was more, which was not kept. */
  readonly isCut: boolean
  readonly callId?: string
  readonly sessionId?: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** When the reference ends by itself; absent: never. */
  readonly expiresAt?: number
}

export interface NewBlobReference extends Omit<BlobReference, 'createdAt' | 'expiresAt'> {
  /** How long it is kept, in milliseconds; absent: until it is removed. */
  readonly ttlMs?: number
}

/** The rows about blobs; the bytes are kept beside them. */
export interface BlobReferences {
  /** Throws CONFLICT for an id that was used. */
  add(reference: NewBlobReference): Promise<BlobReference>
  /** Undefined for one that has ended. */
  get(id: string): Promise<BlobReference | undefined>
  /** Living ones, the oldest first. */
  list(filter?: { readonly callId?: string; readonly sessionId?: string }): Promise<readonly BlobReference[]>
  remove(id: string): Promise<void>
  /** Removes what has ended, then the oldest that end by themselves until all have at most `maxBytes`. Returns how many. */
  trim(limits?: { readonly maxBytes?: number }): Promise<number>
  /** How many living references name the blob. */
  count(digest: string): Promise<number>
}

/** One blob on its way. */
export interface BlobWriter {
  /** Bytes that came so far, kept or not. */
  readonly bytes: number
  /** Takes a chunk at once, so that memory stays flat; never throws: a failure is thrown by `save`. */
  write(chunk: Uint8Array): void
  /** Writes the row, then gives the bytes their name. Throws STORE_FAILED with the reason; nothing is left then. */
  save(about: Pick<NewBlobReference, 'name' | 'callId' | 'sessionId' | 'ttlMs'>): Promise<BlobReference>
  /** Gives up. */
  drop(): void
}

/** The bytes of blobs by their digest. Processes that share the rows of a project may share the bytes too. */
export interface Blobs {
  /** Begins a blob; of more than `maxBytes` the beginning is kept. */
  create(limits: { readonly maxBytes: number }): BlobWriter
  /**
   * The bytes in order. Throws STORE_FAILED when they are not there, and after the last chunk when they are not those of the
   * digest.
   */
  read(reference: Pick<BlobReference, 'digest' | 'id'>): AsyncIterable<Uint8Array>
  /** Removes the bytes that no living reference names. Returns how many blobs it removed. */
  collect(): Promise<number>
}

export interface BlobFilesOptions {
  /** Absolute path. It is made with mode 0700 at the first write. */
  readonly directory: string
  readonly references: BlobReferences
  readonly clock?: Clock
}
