/** sides: reads what is at a path, and puts there what was. */
import { posix } from 'node:path'
import { bytesOf, FileError, nameOf, type Owner, type Pace, type Tree } from '../files/index.ts'
import type { PackWriter } from './durable.ts'
import type { Side } from './records.ts'

/** How a side is read. */
export interface SideOptions {
  /** Gets the bytes; absent: only their digest is made. */
  readonly pack?: PackWriter | undefined
  readonly pace?: Pace | undefined
}

/** The side at a path; undefined when nothing is there, or something that is no file, link or directory. */
export async function sideAt(tree: Tree, path: string, { pack, pace }: SideOptions = {}): Promise<Side | undefined> {
  const { kind, mode = 0, target = '' } = tree.entry(path) ?? {}
  if (kind === undefined || kind === 'other') return undefined
  if (kind === 'directory') return { kind, mode, size: 0, digest: '' }
  const { createHash } = await import('node:crypto')
  const hash = createHash('sha256')
  const at = pack?.size
  let size = 0
  const take = (part: Uint8Array): void => {
    hash.update(part)
    size += part.length
    pack?.add(part)
  }
  if (kind === 'link') take(Buffer.from(bytesOf(target)))
  else await tree.readParts(path, take, pace)
  return { kind, mode, size, digest: hash.digest('hex'), ...(at !== undefined && { at }) }
}

/** The side of bytes that are no file of the command's. */
export async function sideOfBytes(
  bytes: Uint8Array,
  { pack, mode }: { readonly pack: PackWriter | undefined; readonly mode: number },
): Promise<Side> {
  const { createHash } = await import('node:crypto')
  const at = pack?.size
  pack?.add(bytes)
  const digest = createHash('sha256').update(bytes).digest('hex')
  return { kind: 'file', mode, size: bytes.length, digest, ...(at !== undefined && { at }) }
}

/** Whether two sides hold the same: of a directory only that it is one. */
export function isSameSide(one: Side | undefined, other: Side | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  if (one.kind !== other.kind) return false
  return one.kind === 'directory' || (one.digest === other.digest && (one.kind === 'link' || isSameMode(one, other)))
}

/** Where a command works on a copy, it may read what it has been given. */
export function isSameMode(one: Side, other: Side): boolean {
  return (one.mode | 0o400) === (other.mode | 0o400)
}

/** A side to be put at a path, with its own bytes. */
export interface Put {
  readonly side: Side | undefined
  readonly bytes: Uint8Array | undefined
  /** Default: as the directory that it is put in. */
  readonly owner?: Owner | undefined
}

/** Makes a path what a side was. What is there is replaced; a directory with something in it stays. */
export async function putSide(tree: Tree, path: string, { side, bytes, owner }: Put): Promise<void> {
  if (!(await makeRoom(tree, path, side)) || side === undefined) return
  makeParents(tree, posix.dirname(path))
  await make(tree, path, { side, bytes, owner: owner ?? ownerIn(tree, path) })
}

/** Takes away what cannot be replaced in place; false for what stays, or is what is wanted already. */
async function makeRoom(tree: Tree, path: string, side: Side | undefined): Promise<boolean> {
  const now = tree.entry(path)
  if (now === undefined) return true
  if (now.kind === side?.kind && now.kind !== 'link') return now.kind !== 'directory'
  if (now.kind === 'directory' && !(await tree.list(path, { max: 0 })).isComplete) return false
  tree.remove(path, now.kind)
  return true
}

async function make(tree: Tree, path: string, { side, bytes, owner }: Put & { readonly side: Side }): Promise<void> {
  if (side.kind === 'directory') return tree.makeDirectory(path, { mode: side.mode, owner })
  if (bytes === undefined) throw new FileError('ENODATA', path)
  if (side.kind === 'link') return tree.makeLink(path, nameOf(Buffer.from(bytes)))
  await tree.write(path, { bytes, mode: side.mode, owner })
}

/** Makes the directories that a path lies in, with the owner of the one that is there. */
export function makeParents(tree: Tree, directory: string): void {
  if (directory === '.' || directory === '' || tree.entry(directory)?.kind === 'directory') return
  makeParents(tree, posix.dirname(directory))
  tree.makeDirectory(directory, { mode: 0o755, owner: ownerIn(tree, directory) })
}

/** New files belong to whom their directory belongs to, also when root writes them. */
export function ownerIn(tree: Tree, path: string): Owner | undefined {
  return process.getuid?.() === 0 ? tree.ownerOf(posix.dirname(path)) : undefined
}

/**
 * True when a link can only lead to places inside: a relative target whose `..` are all at its beginning and
 * do not climb above the workspace. A later `..` could follow another link first and come out elsewhere.
 */
export function staysInside(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/') || target.includes('\0')) return false
  const parts = target.split('/').filter((part) => part !== '' && part !== '.')
  const climbs = parts.findIndex((part) => part !== '..')
  const up = climbs < 0 ? parts.length : climbs
  return !parts.slice(up).includes('..') && up <= path.split('/').length - 1
}
