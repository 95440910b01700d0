import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { openMirror, picture } from './mirror-rig.ts'

const name = fc.constantFrom('a', 'b', 'c', 'ä ö', 'x.txt')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
const step = fc.record({
  path,
  kind: fc.constantFrom('write', 'remove', 'directory', 'link', 'chmod'),
  text: fc.string({ maxLength: 5 }),
})

test('after any changes inside, pull and push make both sides equal', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 4 }), async (commands) => {
      const cleanUp: (() => void)[] = []
      const { host, inside, mirror } = openMirror({ after: (work) => void cleanUp.push(work as () => void) })
      try {
        for (const [index, command] of commands.entries()) {
          // The first steps are the host's own, so that there is something to pull.
          for (const one of command) apply(index === 0 ? host : inside, one)
          if (index > 0) assert.deepEqual(await mirror.push(), [])
          await mirror.pull()
          assert.deepEqual(picture(inside), picture(host))
        }
      } finally {
        for (const work of cleanUp) work()
      }
    }),
    { numRuns: 150 },
  )
})

function apply(directory: string, { path: where, kind, text }: { path: string; kind: string; text: string }): void {
  const target = join(directory, where)
  try {
    if (kind === 'write') writeFileSync(target, text)
    else if (kind === 'remove') rmSync(target, { recursive: true })
    else if (kind === 'directory') mkdirSync(target, { recursive: true })
    else if (kind === 'chmod') chmodSync(target, 0o755)
    else symlinkSync('a', target)
  } catch {
    // A step that makes no sense at that place (a file below a file) is a step that does nothing.
  }
}
