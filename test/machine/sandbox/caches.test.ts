import assert from 'node:assert/strict'
import { existsSync, lutimesSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ownerToken } from '../../../src/machine/files/index.ts'
import { staleCaches } from '../../../src/machine/sandbox/local/caches.ts'
import { recoverDead } from '../../../src/machine/sandbox/local/recover.ts'
import { openDirectory } from './local-rig.ts'

const DAY_MS = 86_400_000
const LIMITS = { keepMs: 30 * DAY_MS, maxBytes: 100_000, maxEntries: 50 }

interface Caches {
  readonly settings: { readonly stateDir: string; readonly projectId: string }
  readonly live: string
  at(path: string): string
  /** A file of some bytes that was written so many days ago. */
  put(path: string, bytes: number, days: number): void
}

function makeCaches(context: TestContext): Caches {
  const stateDir = openDirectory('nexus-caches-')
  context.after(() => rmSync(stateDir, { recursive: true, force: true }))
  const at = (path: string): string => join(stateDir, 'projects/p/caches', path)
  return {
    settings: { stateDir, projectId: 'p' },
    live: join(stateDir, 'projects/p/live'),
    at,
    put: (path, bytes, days) => {
      mkdirSync(dirname(at(path)), { recursive: true })
      writeFileSync(at(path), Buffer.alloc(bytes, 1))
      const time = (Date.now() - days * DAY_MS) / 1000
      for (let each = path; each.split('/').length > 2; each = dirname(each)) utimesSync(at(each), time, time)
    },
  }
}

test('caches that were not written for long, and the oldest of a level that has too much, go whole', async (context) => {
  const { settings, put, at } = makeCaches(context)
  put('setup/.cache/old/a/b', 10, 31)
  put('setup/.cache/pip/a', 10, 1)
  put('trusted/.cache/uv/archive', 60_000, 3)
  put('trusted/.npm/_cacache/x', 60_000, 2)
  put('trusted/.cache/small/x', 10, 1)
  for (let file = 0; file < 60; file++) put(`untrusted/.npm/many/${file}`, 1, 1)
  const found = await staleCaches(settings, LIMITS)
  assert.deepEqual(found.toSorted(), ['setup/.cache/old', 'trusted/.cache/uv', 'untrusted/.npm/many'].map(at))
  // Once a day is enough.
  assert.deepEqual(await staleCaches(settings, LIMITS), [])
})

test('a start removes them, follows no link in them, and touches nothing while a sandbox of the project is open', async (context) => {
  const { settings, put, at, live } = makeCaches(context)
  put('trusted/.cache/old/a', 10, 31)
  const outside = openDirectory('nexus-outside-')
  context.after(() => rmSync(outside, { recursive: true, force: true }))
  writeFileSync(join(outside, 'mine'), 'mine')
  symlinkSync(outside, at('trusted/.cache/old/link'))
  lutimesSync(at('trusted/.cache/old/link'), 1, 1)
  utimesSync(at('trusted/.cache/old'), 1, 1)
  mkdirSync(at('untrusted'))
  // A command may leave a link in the place of the directory itself.
  symlinkSync(outside, at('untrusted/.cache'))
  const busy = join(live, `${ownerToken()}-0123abcd`)
  mkdirSync(busy, { recursive: true })
  await recoverDead(settings)
  assert.ok(existsSync(at('trusted/.cache/old/a')))
  rmSync(busy, { recursive: true })
  utimesSync(join(outside, 'mine'), 1, 1)
  assert.deepEqual(await recoverDead(settings), [])
  assert.ok(existsSync(join(outside, 'mine')))
  assert.equal(existsSync(at('trusted/.cache/old/a')), false)
})
