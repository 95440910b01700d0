/** git-content: whether the bytes of a file in a git directory are what its name says. */
import type { Tree } from '../files/index.ts'
import { isPlainTodo } from './git-paths.ts'

const MAX_TEXT_BYTES = 16 * 1024 * 1024
const MAX_OBJECT_BYTES = 256 * 1024 * 1024
const OBJECT = /(?:^|\/)objects\/([0-9a-f]{2})\/([0-9a-f]{38}|[0-9a-f]{62})$/
/** References that git acts upon by itself: `refs/replace` shows another object than the one that was asked for. */
const PLAIN_REFERENCE =
  /^(?:#.*|\^[0-9a-f]+|[0-9a-f]+ refs\/(?:heads|tags|remotes|notes|rewritten)\/.*|[0-9a-f]+ refs\/stash|)$/

/** Completes "held, because …"; undefined for bytes that are in order, and for files whose bytes do not matter. */
export async function gitFault(tree: Tree, path: string): Promise<string | undefined> {
  if (path.endsWith('rebase-merge/git-rebase-todo'))
    return isPlainTodo(await textOf(tree, path)) ? undefined : 'a step of the rebase runs a program'
  if (/(?:^|\/)packed-refs$/.test(path)) {
    const lines = (await textOf(tree, path)).split('\n')
    return lines.every((line) => PLAIN_REFERENCE.test(line))
      ? undefined
      : 'it has references that git acts upon by itself'
  }
  const [, first, rest] = OBJECT.exec(path) ?? []
  if (first === undefined || rest === undefined) return undefined
  return (await hasName(tree, path, `${first}${rest}`)) ? undefined : 'its bytes do not have its name'
}

async function textOf(tree: Tree, path: string): Promise<string> {
  const { bytes } = await tree.read(path, { maxBytes: MAX_TEXT_BYTES })
  return new TextDecoder().decode(bytes)
}

async function hasName(tree: Tree, path: string, name: string): Promise<boolean> {
  const [{ inflateSync }, { createHash }] = await Promise.all([import('node:zlib'), import('node:crypto')])
  const { bytes } = await tree.read(path, { maxBytes: MAX_OBJECT_BYTES })
  try {
    const object = inflateSync(bytes, { maxOutputLength: MAX_OBJECT_BYTES })
    return (
      createHash(name.length === 40 ? 'sha1' : 'sha256')
        .update(object)
        .digest('hex') === name
    )
  } catch {
    // It is no compressed data, or inflates without end.
    return false
  }
}
