import { constants } from 'node:fs'
import { type FileHandle, link, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createSha256, errorCode, newId, systemClock } from '../../kernel/index.ts'
import type { BlobFilesOptions, Blobs, BlobReferences } from '../blobs.ts'
import { BLOBS } from '../messages.ts'
import { checkNumber, storeError } from '../rules.ts'
import { FileWriter, makePrivate, placeOf, type Places } from './file-writer.ts'

const READ_BYTES = 256 * 1024
/** A file on its way that did not change for so long belongs to a process that was killed. */
const ABANDONED_MS = 24 * 3_600_000

/**
 * Blobs as files `blobs/<2 digits>/<digest>`, written once and never changed. Two rules make removing safe beside writers of
 * any process, without a lock:
 * - A writer adds the row first, then moves its file to its name, also when a file of that name is there.
 * - A collector moves a file without a row aside, to a name of its own, and only then reads the rows again: with a row it moves
 *   the file back. A writer whose row it missed has its own file still to move.
 */
export function createBlobFiles({ directory, references, clock = systemClock }: BlobFilesOptions): Blobs {
  const places: Places = {
    blobs: join(directory, 'blobs'),
    incoming: join(directory, 'incoming'),
    leaving: join(directory, 'leaving'),
  }
  return {
    create: ({ maxBytes }) => new FileWriter({ places, references, maxBytes: checkNumber('maxBytes', maxBytes) }),
    read: ({ digest, id }) => readChecked(places, digest, id),
    async collect() {
      await removeAbandoned(places.incoming, clock.now() - ABANDONED_MS)
      let removed = 0
      // Files that an ended collector left aside come first.
      for (const name of await namesIn(places.leaving)) removed += await restoreOrDelete(places, name, references)
      for (const folder of await namesIn(places.blobs))
        for (const digest of await namesIn(join(places.blobs, folder))) {
          if ((await references.count(digest)) > 0) continue
          const aside = `${digest}.${newId()}`
          if (await moved(placeOf(places, digest), join(places.leaving, aside)))
            removed += await restoreOrDelete(places, aside, references)
        }
      return removed
    },
  }
}

/** Moves a file that was moved aside back when a row names it, else deletes it. Returns how many it deleted. */
async function restoreOrDelete(places: Places, name: string, references: BlobReferences): Promise<0 | 1> {
  const digest = name.slice(0, name.indexOf('.'))
  const aside = join(places.leaving, name)
  const isNamed = (await references.count(digest)) > 0
  // A file that a writer moved there meanwhile has the same bytes.
  if (isNamed) await link(aside, placeOf(places, digest)).catch(unless('EEXIST', 'ENOENT'))
  await rm(aside, { force: true })
  return isNamed ? 0 : 1
}

/** False when another collector was first. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    makePrivate(dirname(to))
    await rename(from, to)
    return true
  } catch (error) {
    unless('ENOENT')(error)
    return false
  }
}

async function* readChecked(places: Places, digest: string, id: string): AsyncGenerator<Uint8Array> {
  const file = await openBlob(places, digest)
  if (!file) throw storeError('STORE_FAILED', BLOBS.gone({ id, path: placeOf(places, digest) }))
  try {
    const hash = createSha256()
    for (;;) {
      const buffer = Buffer.allocUnsafe(READ_BYTES)
      const { bytesRead } = await file.read(buffer, 0, READ_BYTES)
      if (bytesRead === 0) break
      const chunk = buffer.subarray(0, bytesRead)
      hash.update(chunk)
      yield chunk
    }
    if (hash.digest('hex') !== digest)
      throw storeError('STORE_FAILED', BLOBS.damaged({ id, path: placeOf(places, digest) }))
  } finally {
    await file.close()
  }
}

/** Also finds a blob that a collector has moved aside and not yet moved back. */
async function openBlob(places: Places, digest: string): Promise<FileHandle | undefined> {
  const place = placeOf(places, digest)
  const aside = (await namesIn(places.leaving)).filter((name) => name.startsWith(`${digest}.`))
  for (const path of [place, ...aside.map((name) => join(places.leaving, name)), place]) {
    try {
      return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    } catch (error) {
      unless('ENOENT')(error)
    }
  }
  return undefined
}

async function removeAbandoned(incoming: string, before: number): Promise<void> {
  for (const name of await namesIn(incoming)) {
    const path = join(incoming, name)
    const found = await stat(path).catch(unless('ENOENT'))
    if (found && found.mtimeMs < before) await rm(path, { force: true })
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return (await readdir(directory).catch(unless('ENOENT'))) ?? []
}

/** Passes on every failure but those. */
function unless(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(errorCode(error) ?? '')) throw error
    return undefined
  }
}
