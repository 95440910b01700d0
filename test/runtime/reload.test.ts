import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'

import {
  createFolderSource,
  NexusError,
  type ReloadEvent,
  type Runtime,
  type SkillSource,
} from '../../src/public/index.ts'
import { workshop } from './rig.ts'

/** Events of a runtime, to be awaited one after the other. */
async function following(t: TestContext, runtime: Runtime, usePolling = false) {
  const events: ReloadEvent[] = []
  let wake = (): void => undefined
  const watcher = await runtime.watch({
    debounceMs: 20,
    pollMs: 50,
    usePolling,
    keepAlive: true,
    onReload: (event) => {
      events.push(event)
      wake()
    },
  })
  t.after(() => watcher.close())
  return {
    watcher,
    events,
    async next(): Promise<ReloadEvent> {
      while (events.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return events.shift() as ReloadEvent
    },
  }
}

/** Names by what became of them. */
function diffOf(event: ReloadEvent): Record<string, readonly string[]> {
  assert.equal(event.type, 'reloaded')
  assert.equal(event.agents.length, 1)
  const { added = [], removed = [], changed = [] } = event.agents[0] ?? {}
  return { added, removed, changed }
}

for (const usePolling of [false, true]) {
  const how = usePolling ? 'polling' : 'events'

  test(
    `by ${how}: a skill that is added, edited and removed is met without a restart`,
    { timeout: 30_000 },
    async (t) => {
      const shop = workshop(t)
      shop.write('alpha')
      const runtime = await shop.open()
      const versions = [runtime.openAgent().catalog().version]
      const { next } = await following(t, runtime, usePolling)

      shop.write('beta')
      assert.deepEqual(diffOf(await next()), { added: ['beta'], removed: [], changed: [] })
      assert.match(runtime.openAgent().instructions(), /beta/)
      versions.push(runtime.openAgent().catalog().version)

      shop.write('alpha', { description: 'Does something else.' })
      assert.deepEqual(diffOf(await next()), { added: [], removed: [], changed: ['alpha'] })
      assert.match(runtime.openAgent().instructions(), /something else/)
      versions.push(runtime.openAgent().catalog().version)

      rmSync(join(shop.root, 'alpha'), { recursive: true })
      assert.deepEqual(diffOf(await next()), { added: [], removed: ['alpha'], changed: [] })
      versions.push(runtime.openAgent().catalog().version)
      assert.equal(new Set(versions).size, 4)
      // Another process that follows the store learns it too.
      const stored = async () => (await runtime.store.events.after(0)).filter(({ type }) => type === 'skills.changed')
      assert.deepEqual(
        (await stored()).map(({ agentId, references }) => [agentId, references]),
        versions.slice(1).map((version) => ['main', { version }]),
      )
    },
  )
}

test(
  'a change that no model can see is no reload, and leaves the version as it was',
  { timeout: 30_000 },
  async (t) => {
    const shop = workshop(t)
    shop.write('alpha')
    const runtime = await shop.open()
    const { version } = runtime.openAgent().catalog()
    const { events, next } = await following(t, runtime)
    mkdirSync(join(shop.root, 'alpha', 'scripts'))
    writeFileSync(join(shop.root, 'alpha', 'scripts', 'run.sh'), 'true\n')
    writeFileSync(join(shop.root, 'notes.txt'), 'not a skill\n')
    // Written again as it was: other times, same bytes.
    shop.write('alpha')
    shop.write('zeta')
    assert.deepEqual(diffOf(await next()), { added: ['zeta'], removed: [], changed: [] })
    assert.deepEqual(events, [])
    rmSync(join(shop.root, 'zeta'), { recursive: true })
    await next()
    assert.equal(runtime.openAgent().catalog().version, version)
  },
)

test('what another refresh met first is told all the same', { timeout: 30_000 }, async (t) => {
  const shop = workshop(t)
  shop.write('alpha')
  const runtime = await shop.open()
  const { next } = await following(t, runtime)
  shop.write('beta')
  await runtime.refresh()
  assert.deepEqual(diffOf(await next()), { added: ['beta'], removed: [], changed: [] })
})

test('what changed between the start and the watch is met when the watch is ready', async (t) => {
  const shop = workshop(t)
  shop.write('alpha')
  const runtime = await shop.open()
  shop.write('beta')
  const { next } = await following(t, runtime)
  assert.ok(runtime.openAgent().catalog().find('beta'))
  assert.deepEqual(diffOf(await next()), { added: ['beta'], removed: [], changed: [] })
})

test(
  'a refresh that fails keeps the old catalog and is told, and the next change fixes it',
  { timeout: 30_000 },
  async (t) => {
    const shop = workshop(t)
    shop.write('alpha')
    let isBroken = false
    const source = createFolderSource({ id: 'mine', tier: 'workspace', rank: 0, path: shop.root, trusted: true })
    const discover: SkillSource['discover'] = async (signal) => {
      if (isBroken) throw new NexusError('CANCELLED', 'the source stopped')
      return source.discover(signal)
    }
    const runtime = await shop.open({ sources: [{ ...source, discover }] })
    const { next } = await following(t, runtime)
    isBroken = true
    shop.write('beta')
    const event = await next()
    assert.equal(event.type, 'failed')
    assert.equal(event.error.code, 'CANCELLED')
    assert.deepEqual(
      runtime
        .openAgent()
        .catalog()
        .skills.map(({ name }) => name),
      ['alpha'],
    )
    isBroken = false
    shop.write('gamma')
    assert.deepEqual(diffOf(await next()), { added: ['beta', 'gamma'], removed: [], changed: [] })
  },
)

test('refreshes at once share the work, and each sees what was there when it was asked', async (t) => {
  const shop = workshop(t)
  shop.write('alpha')
  let looks = 0
  const counting: SkillSource = {
    ...{ id: 'counting', tier: 'local', rank: 0, trusted: true },
    discover: async () => {
      looks++
      await new Promise((resolve) => setImmediate(resolve))
      return { skills: [], invalid: [], diagnostics: [] }
    },
  }
  const runtime = await shop.open({ sources: [counting] })
  assert.equal(looks, 1)
  await Promise.all(Array.from({ length: 50 }, () => runtime.refresh()))
  assert.equal(looks, 3)
})

test('a caller that gives up stops waiting, and the others get their refresh', async (t) => {
  const shop = workshop(t)
  const runtime = await shop.open()
  shop.write('alpha')
  const giving = new AbortController()
  const refused = assert.rejects(runtime.refresh(giving.signal), { code: 'CANCELLED' })
  const other = runtime.refresh()
  giving.abort()
  await refused
  await other
  assert.ok(runtime.openAgent().catalog().find('alpha'))
})

test('a folder of skills that is swapped whole is one reload', { timeout: 30_000 }, async (t) => {
  const [live, staged] = [workshop(t), workshop(t)]
  live.write('alpha')
  live.write('beta')
  staged.write('beta', { description: 'Is newer.' })
  staged.write('gamma')
  const runtime = await live.open()
  const { next } = await following(t, runtime)
  const old = `${live.root}-old`
  t.after(() => rmSync(old, { recursive: true, force: true }))
  renameSync(live.root, old)
  renameSync(staged.root, live.root)
  const seen = { added: [] as string[], removed: [] as string[], changed: [] as string[] }
  // The moment without a root may be told of by itself.
  while (!seen.added.includes('gamma')) {
    const diff = diffOf(await next())
    for (const kind of ['added', 'removed', 'changed'] as const) seen[kind].push(...(diff[kind] ?? []))
  }
  assert.deepEqual(
    runtime
      .openAgent()
      .catalog()
      .skills.map(({ name }) => name),
    ['beta', 'gamma'],
  )
  assert.ok(seen.removed.includes('alpha') && seen.added.includes('gamma'))
})

test('closing the runtime ends the watch: nothing is told afterwards', async (t) => {
  const shop = workshop(t)
  const runtime = await shop.open()
  const { events } = await following(t, runtime)
  shop.write('alpha')
  await runtime.close()
  await new Promise((resolve) => setTimeout(resolve, 150))
  assert.deepEqual(events, [])
})
