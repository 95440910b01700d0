import assert from 'node:assert/strict'
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { searchers, told } from './again.ts'
import { skillText, temporaryDirectory } from './temporary.ts'

const place = fc.constantFrom('a', 'b', 'c', 'd', 'g/a', 'g/b')
const TEXTS = [skillText('one', 'Does it.'), skillText('two', 'Does it.'), '---\n- a list, so invalid\n---\n'] as const
const step = fc.oneof(
  {
    arbitrary: fc.record({ do: fc.constant('write' as const), at: place, text: fc.constantFrom(...TEXTS) }),
    weight: 3,
  },
  fc.record({ do: fc.constant('remove' as const), at: place }),
  fc.record({ do: fc.constant('move' as const), at: place, to: place }),
  fc.record({ do: fc.constant('link' as const), at: place, to: place }),
  { arbitrary: fc.record({ do: fc.constant('look' as const), at: place }), weight: 2 },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function take(root: string, step: Step): void {
  const at = join(root, step.at)
  mkdirSync(join(root, 'g'), { recursive: true })
  if (step.do === 'write') {
    // A link that leads nowhere.
    if (!existsSync(at)) rmSync(at, { force: true })
    mkdirSync(at, { recursive: true })
    writeFileSync(join(at, 'SKILL.md'), step.text)
  }
  if (step.do === 'remove') rmSync(at, { recursive: true, force: true })
  if (step.do !== 'move' && step.do !== 'link') return
  const to = join(root, step.to)
  if (at === to) return
  rmSync(to, { recursive: true, force: true })
  if (step.do === 'link') symlinkSync(at, to)
  else if (existsSync(at)) renameSync(at, to)
}

test('whatever happens to a folder, a source that looked before finds what one finds that never did', async (t) => {
  const folder = temporaryDirectory(t)
  const root = join(folder, 'skills')
  const { again, fresh } = searchers(t, root)
  const law = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
    rmSync(root, { recursive: true, force: true })
    for (const each of steps) {
      take(root, each)
      if (each.do === 'look') assert.deepEqual(told(await again()), told(await fresh()))
    }
    assert.deepEqual(told(await again()), told(await fresh()))
    assert.deepEqual(told(await again()), told(await fresh()))
  })
  await fc.assert(law, { numRuns: 60 })
})
