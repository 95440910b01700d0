/** What is done below a root while another process exchanges a directory in it with a link to one outside. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { FileError, type Holding, Tree } from '../../../src/machine/files/index.ts'
import { attack } from './rig.ts'

const EXPECTED = ['ELOOP', 'ENOENT', 'ENOTDIR', 'EAGAIN', 'EEXIST', 'ENOTEMPTY', 'EISDIR', 'EXDEV', 'EINVAL']
const CONTENTS = ['inside', 'written']

type Step = (tree: Tree) => unknown

/** What holds for both ways of holding a directory. Held by path, a listing may give names of another place, and no more than names. */
const CONTENTS_ONLY: readonly Step[] = [
  async (tree) => {
    const { bytes } = await tree.read('sub/f', { maxBytes: 100 })
    assert.ok(CONTENTS.includes(Buffer.from(bytes).toString()), Buffer.from(bytes).toString())
  },
]

const READS: readonly Step[] = [
  ...CONTENTS_ONLY,
  async (tree) => {
    const { entries } = await tree.list('sub')
    assert.ok(entries.every(({ name }) => name !== 'secret'))
  },
  (tree) => tree.walk({ visit: ({ name }) => assert.notEqual(name, 'secret') }),
]

const bytes = Buffer.from('written')
const CHANGES: readonly Step[] = [
  (tree) => tree.write('sub/f', { bytes }),
  (tree) => tree.write('sub/new', { bytes, mustBeNew: true }),
  (tree) => tree.write('sub/a/b/c', { bytes, makesParents: true }),
  (tree) => tree.copyFrom(tree, 'sub/f', { to: 'sub/copy', mode: 0o644 }),
  (tree) => tree.remove('sub/new', 'file'),
  (tree) => tree.removeAll('sub/a'),
  (tree) => tree.rename('sub/copy', 'again'),
  (tree) => tree.openUp('sub'),
]

/** A round is each step once, on a tree of its own. Asserts that nothing outside was read or changed. */
export async function race(t: TestContext, { rounds, holding }: { rounds: number; holding: Holding }): Promise<void> {
  const { root, outside } = await attack(t)
  const steps = holding === 'paths' ? CONTENTS_ONLY : [...READS, ...CHANGES]
  let met = 0
  for (let round = 0; round < rounds; round++) {
    for (const step of steps) {
      const tree = new Tree(root, { holding })
      try {
        await step(tree)
        met++
      } catch (error) {
        assert.ok(error instanceof FileError && EXPECTED.includes(error.code), String(error))
      } finally {
        tree.close()
      }
    }
    if (round % 100 === 0) assertUntouched(outside)
  }
  assertUntouched(outside)
  t.diagnostic(`${met} of ${rounds * steps.length} steps met the directory`)
}

function assertUntouched(outside: string): void {
  assert.deepEqual(readdirSync(outside).sort(), ['f', 'secret'])
  assert.equal(statSync(outside).mode & 0o777, 0o755)
  for (const name of ['f', 'secret']) assert.equal(readFileSync(join(outside, name), 'utf8'), 'SECRET!')
}
