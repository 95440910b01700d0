import assert from 'node:assert/strict'
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { pathParts, Tree } from '../../../src/machine/files/index.ts'
import { freshDirectory, noDescriptors, SECRET } from './rig.ts'

/** What is made in the root: files, directories, and links with few names, so that paths meet them often. */
const NAME = fc.constantFrom('a', 'b', 'c', 'd')
const PART = fc.oneof(
  { weight: 6, arbitrary: NAME },
  { weight: 2, arbitrary: fc.constantFrom('..', '.', '', 'outside') },
)
const PATH = fc.array(PART, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'))
const TARGET = fc.oneof(
  PATH,
  fc.constantFrom('..', '../outside', '../../outside', '../outside/secret', '/', '.', '../root', '../root-evil'),
  PATH.map((path) => `../outside/${path}`),
)
const MADE = fc.array(
  fc.record({
    path: fc.array(NAME, { minLength: 1, maxLength: 3 }),
    kind: fc.constantFrom('file', 'directory', 'link'),
    target: TARGET,
  }),
  { maxLength: 14 },
)
const STEP = fc.record({
  op: fc.constantFrom(
    'read',
    'write',
    'new',
    'parents',
    'list',
    'remove',
    'removeAll',
    'copy',
    'link',
    'directory',
    'openUp',
  ),
  path: PATH,
  to: PATH,
})

type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never

async function take(tree: Tree, { op, path, to }: Step): Promise<unknown> {
  const bytes = Buffer.from('by the tree')
  switch (op) {
    case 'read':
      return tree.read(path, { maxBytes: 1_000 })
    case 'write':
      return tree.write(path, { bytes })
    case 'new':
      return tree.write(path, { bytes, mustBeNew: true })
    case 'parents':
      return tree.write(path, { bytes, makesParents: true })
    case 'list':
      return tree.list(path)
    case 'remove':
      return tree.remove(path, 'file')
    case 'removeAll':
      return tree.removeAll(path)
    case 'copy':
      return tree.copyFrom(tree, path, { to, mode: 0o644 })
    case 'link':
      return tree.makeLink(path, to)
    case 'directory':
      return tree.makeDirectory(path, { mode: 0o755 })
    default:
      return tree.openUp(path)
  }
}

/** A tree as text: names, kinds, modes, inodes, times of change and contents. */
function picture(directory: string): string {
  const lines = readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    const { mode, ino, ctimeMs, nlink } = lstatSync(path)
    const line = `${path} ${mode} ${ino} ${ctimeMs} ${nlink}`
    if (entry.isDirectory()) return [line, picture(path)]
    return [entry.isFile() ? `${line} ${readFileSync(path, 'utf8')}` : line]
  })
  return lines.join('\n')
}

test(
  'whatever links are in a tree and whatever is asked of it, nothing outside is read or changed',
  { skip: noDescriptors },
  async (t) => {
    const top = freshDirectory(t)
    let run = 0
    const law = fc.asyncProperty(MADE, fc.array(STEP, { minLength: 1, maxLength: 12 }), async (made, steps) => {
      const above = join(top, String(run++))
      const root = join(above, 'root')
      mkdirSync(join(above, 'outside/a/b'), { recursive: true })
      mkdirSync(join(above, 'root-evil'))
      mkdirSync(root)
      for (const name of ['outside/secret', 'outside/a/b/c', 'outside/b', 'root-evil/a'])
        writeFileSync(join(above, name), SECRET)
      for (const { path, kind, target } of made) {
        const at = join(root, ...path)
        try {
          // Made by hand, through links too: some lie outside then, before the picture is taken.
          if (kind === 'file') writeFileSync(at, 'inside', { flag: 'wx' })
          else if (kind === 'directory') mkdirSync(at)
          else symlinkSync(target, at)
        } catch {
          // Its directory is missing, or the name is taken: the tree is random anyway.
        }
      }
      const [outside, evil] = [picture(join(above, 'outside')), picture(join(above, 'root-evil'))]
      const names = readdirSync(dirname(root))
      const tree = new Tree(root)
      try {
        for (const step of steps) {
          // As it is, and as it is after the check of a path that somebody gave.
          for (const path of [step.path, cleaned(step.path)]) {
            const result = await take(tree, { ...step, path }).catch((error: unknown) => {
              assert.equal((error as Error).name, 'FileError', String(error))
            })
            if (step.op === 'read' && result !== undefined)
              assert.ok(!Buffer.from((result as { bytes: Uint8Array }).bytes).includes(SECRET))
          }
        }
      } finally {
        tree.close()
      }
      assert.deepEqual(readdirSync(above), names)
      assert.equal(picture(join(above, 'outside')), outside)
      assert.equal(picture(join(above, 'root-evil')), evil)
    })
    await fc.assert(law, { seed: 12, numRuns: 150 })
  },
)

function cleaned(path: string): string {
  try {
    return pathParts(path).join('/')
  } catch {
    return path
  }
}
