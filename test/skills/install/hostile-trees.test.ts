import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { isNexusError } from '../../../src/kernel/index.ts'
import { lockOf, verifyCopies } from '../../../src/skills/install/index.ts'
import { processesWith } from '../../apps/mcp/client.ts'
import { git, skillText, startGitServer } from './git-server.ts'
import { Ground } from './rig.ts'

const ROUNDS = 4 * Number(process.env['TEST_ROUNDS'] ?? 3)
const NAMES = ['SKILL.md', 'skill.md', 'a', 'A', '..', '.', '.git', '.GIT', 'git~1', 'CON', 'x.', 'é', 'e\u0301', 'b\nc', 'd\\e', 'f:g', '\u202eh', '-rf', '.gitattributes', '.gitmodules', 'HEAD', 'objects', 'refs', '__proto__', 'constructor'] // oxfmt-ignore
const MODES = ['100644', '100755', '100664', '120000', '160000', '040000'] as const
const entry = fc.record({ name: fc.constantFrom(...NAMES), mode: fc.constantFrom(...MODES), text: fc.constantFrom('x', '/etc/passwd', '../../../outside', skillText('a'), '* filter=evil\n') }) // oxfmt-ignore

/** A tree as no git of a person writes it: any names, in any order, twice, with modes that do not fit. */
function treeOf(bare: string, entries: readonly { name: string; mode: string; text: string }[], below: string): string {
  const object = (kind: string, bytes: Buffer | string): string => {
    const args = ['hash-object', '-w', '--literally', '-t', kind, '--stdin']
    return spawnSync('git', args, { cwd: bare, input: bytes, encoding: 'utf8' }).stdout.trim()
  }
  const row = (mode: string, name: string, id: string) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]) // oxfmt-ignore
  const rows = entries.map(({ name, mode, text }) => {
    const id = mode === '160000' ? '1'.repeat(40) : mode === '040000' ? below : object('blob', text)
    return row(mode.replace(/^0/, ''), name, id)
  })
  const own = object('tree', Buffer.concat([row('100644', 'SKILL.md', object('blob', skillText('a'))), ...rows]))
  return own
}

test(`${ROUNDS} repositories with trees that no git writes: a whole skill or an error, no file outside, no process behind`, async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('evil').write('x', 'x')
  upstream.publish()
  const url = server.url('evil')
  const empty = git(upstream.bare, 'hash-object', '-w', '-t', 'tree', '/dev/null')
  let placed = 0
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 4 }), fc.array(entry, { maxLength: 3 }), async (above, inside) => {
      const here = new Ground(t)
      const tree = treeOf(upstream.bare, above, inside.length === 0 ? empty : treeOf(upstream.bare, inside, empty))
      const commit = git(upstream.bare, 'commit-tree', '-m', 'x', tree)
      git(upstream.bare, 'update-ref', 'refs/heads/main', commit)
      const before = readdirSync(here.root).toSorted()
      try {
        await here.install({ type: 'git', url })
        placed += 1
        assert.ok((await verifyCopies(here.scope)).every(({ drift }) => drift.length === 0))
        for (const each of readdirSync(join(here.scope.root, 'skills'), { recursive: true }) as string[])
          assert.ok(!lstatSync(join(here.scope.root, 'skills', each)).isSymbolicLink(), each)
      } catch (error) {
        assert.ok(isNexusError(error), String(error))
        assert.ok(!existsSync(here.scope.lockPath))
        assert.deepEqual(lockOf(here.scope), new Map())
      }
      assert.deepEqual(readdirSync(here.root).filter((name) => name !== 'home').toSorted(), before) // oxfmt-ignore
      const work = join(here.nexusHome, 'cache/git')
      assert.deepEqual(existsSync(work) ? readdirSync(work) : [], [])
      assert.deepEqual(processesWith(url), [])
    }),
    { numRuns: ROUNDS, seed: 30 },
  )
  assert.ok(placed > 0, 'nothing was ever placed')
})
