/** git-objects: brings new objects into a repository: each has the name that its bytes say, and none is changed or removed. */
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Tree } from '../files/index.ts'
import { git, GitRefused, type Repository } from './git-run.ts'
import { makeParents, ownerIn } from './sides.ts'

/** The largest object that is taken, inflated. */
const MAX_OBJECT_BYTES = 256 * 1024 * 1024
const LOOSE = /(?:^|\/)objects\/([0-9a-f]{2})\/([0-9a-f]{38}|[0-9a-f]{62})$/
const PACK = /(?:^|\/)objects\/pack\/pack-[0-9a-f]+\.pack$/

/** One new file below `objects`, and where it goes. */
export interface NewObject {
  readonly source: Tree
  readonly host: Tree
  readonly path: string
  readonly repository: Repository
  /** A directory of ours that the owner of the repository may read. */
  readonly scratch: { readonly path: string; readonly tree: Tree }
}

/** Takes a loose object or a pack; what is neither is left, as git makes it. Completes "held, because …"; undefined for what was taken. */
export async function takeObject(object: NewObject): Promise<string | undefined> {
  if (PACK.test(object.path)) return takePack(object)
  const [, first, rest] = LOOSE.exec(object.path) ?? []
  if (first === undefined || rest === undefined) return undefined
  const { source, host, path } = object
  const fault = await objectFault(source, path, `${first}${rest}`)
  if (fault !== undefined || host.entry(path) !== undefined) return fault
  makeParents(host, posix.dirname(path))
  await host.copyFrom(source, path, { mode: 0o444, owner: ownerIn(host, path), mustBeNew: true })
  return undefined
}

/** Git reads the pack again, and makes its index. */
async function takePack({ source, path, repository, scratch }: NewObject): Promise<string | undefined> {
  await scratch.tree.copyFrom(source, path, { mode: 0o644, to: 'pack' })
  const inputFrom = openSync(join(scratch.path, 'pack'), 'r')
  try {
    await git(repository, ['index-pack', '--stdin', '--strict'], { inputFrom })
    return undefined
  } catch (error) {
    if (error instanceof GitRefused) return error.message
    throw error
  } finally {
    closeSync(inputFrom)
  }
}

/** Inflates in parts: neither a large object nor one that inflates without end takes memory or holds up others. */
async function objectFault(tree: Tree, path: string, name: string): Promise<string | undefined> {
  const [{ createInflate }, { createHash }] = await Promise.all([import('node:zlib'), import('node:crypto')])
  const hash = createHash(name.length === 40 ? 'sha1' : 'sha256')
  const inflate = createInflate()
  let [size, head] = [0, Buffer.alloc(0)]
  inflate.on('data', (part: Buffer) => {
    if (head.length < 32) head = Buffer.concat([head, part.subarray(0, 32)])
    size += part.length
    if (size > MAX_OBJECT_BYTES) inflate.destroy(new GitRefused('it is larger than 256 MiB'))
    else hash.update(part)
  })
  const ended = once(inflate, 'end').then(
    () => undefined,
    (error: unknown) => (error instanceof GitRefused ? error.message : NOT_ITS_NAME),
  )
  const drained = (): Promise<unknown> => Promise.race([once(inflate, 'drain').catch(() => undefined), ended])
  await tree.readParts(
    path,
    (part) => void inflate.write(Buffer.from(part)),
    () => (inflate.writableNeedDrain && !inflate.destroyed ? drained().then(() => undefined) : undefined),
  )
  inflate.end()
  const fault = await ended
  if (fault !== undefined) return fault
  const [header = '', length] = /^(?:blob|tree|commit|tag) (\d+)\0/.exec(head.toString('latin1')) ?? []
  return Number(length) === size - header.length && hash.digest('hex') === name ? undefined : NOT_ITS_NAME
}

const NOT_ITS_NAME = 'its bytes do not have its name'
