import { closeSync, mkdirSync, openSync, statSync, unlinkSync, writeSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createSha256, errorMessage, makeDirectory, newId } from '../../kernel/index.ts'
import type { BlobReference, BlobReferences, BlobWriter } from '../blobs.ts'
import { BLOBS } from '../messages.ts'
import { storeError } from '../rules.ts'

/** The parts of the directory: finished blobs by digest, those on their way, and those that are being removed. */
export interface Places {
  readonly blobs: string
  readonly incoming: string
  readonly leaving: string
}

export function placeOf({ blobs }: Places, digest: string): string {
  return join(blobs, digest.slice(0, 2), digest)
}

export function makePrivate(directory: string): void {
  makeDirectory(directory, { mkdirSync, statSync, mode: 0o700 })
}

/** Smaller output waits in memory: most of it is dropped before it needs a file. */
const BUFFER_BYTES = 256 * 1024

/** Writes and hashes each chunk when it comes: what is in memory is one buffer, however much comes. */
export class FileWriter implements BlobWriter {
  readonly #places: Places
  readonly #references: BlobReferences
  readonly #maxBytes: number
  readonly #hash = createSha256()
  readonly #path: string
  #buffer = Buffer.allocUnsafe(0)
  #buffered = 0
  #kept = 0
  #file: number | undefined
  #failure: unknown
  bytes = 0

  constructor(options: { places: Places; references: BlobReferences; maxBytes: number }) {
    this.#places = options.places
    this.#references = options.references
    this.#maxBytes = options.maxBytes
    this.#path = join(options.places.incoming, newId())
  }

  write(chunk: Uint8Array): void {
    const part = chunk.subarray(0, this.#maxBytes - this.#kept)
    this.bytes += chunk.length
    if (part.length === 0 || this.#failure !== undefined) return
    this.#kept += part.length
    try {
      if (this.#buffered + part.length > BUFFER_BYTES) this.#flush()
      if (part.length >= BUFFER_BYTES) this.#put(part)
      else this.#keep(part)
    } catch (error) {
      this.#failure = error
      this.drop()
    }
  }

  async save(about: Parameters<BlobWriter['save']>[0]): Promise<BlobReference> {
    try {
      if (this.#failure !== undefined) throw this.#failure
      this.#flush()
      await this.#sync()
      const digest = this.#hash.digest('hex')
      const rest = { digest, bytes: this.#kept, isCut: this.bytes > this.#kept }
      const reference = await this.#references.add({ id: newId(), ...about, ...rest })
      await this.#publish(reference)
      return reference
    } catch (error) {
      throw storeError('STORE_FAILED', BLOBS.notSaved({ path: this.#places.incoming, why: errorMessage(error) }), error)
    } finally {
      this.drop()
    }
  }

  drop(): void {
    if (this.#file === undefined) return
    closeSync(this.#file)
    this.#file = undefined
    try {
      unlinkSync(this.#path)
    } catch {
      // It has its name already.
    }
  }

  #keep(part: Uint8Array): void {
    // Small output is the rule: the buffer grows with it.
    const needed = this.#buffered + part.length
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(BUFFER_BYTES, Math.max(4096, 2 * needed)))
      this.#buffer.copy(larger, 0, 0, this.#buffered)
      this.#buffer = larger
    }
    this.#buffer.set(part, this.#buffered)
    this.#buffered = needed
  }

  #flush(): void {
    const buffered = this.#buffer.subarray(0, this.#buffered)
    this.#buffered = 0
    this.#put(buffered)
  }

  #put(bytes: Uint8Array): void {
    if (this.#file === undefined) {
      makePrivate(this.#places.incoming)
      this.#file = openSync(this.#path, 'wx', 0o600)
    }
    this.#hash.update(bytes)
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray(writeSync(this.#file, rest))
  }

  async #sync(): Promise<void> {
    const handle = await open(this.#path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }

  /** The row names it by now, so that no collector removes it for good. */
  async #publish({ id, digest }: BlobReference): Promise<void> {
    const place = placeOf(this.#places, digest)
    try {
      makePrivate(dirname(place))
      await rename(this.#path, place)
    } catch (error) {
      await this.#references.remove(id)
      throw error
    }
  }
}
