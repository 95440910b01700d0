import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase, openSqliteStore, processName, sessionLease, type StoredEvent } from '../../src/store/index.ts'
import { hasCode } from '../../src/testing/store/rig.ts'
import { acknowledged, endChildren, ended, start, waitFor } from './processes.ts'
import { runRound } from './rounds.ts'

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nexus-store-'))
})
after(async () => {
  endChildren()
  await rm(directory, { recursive: true })
})

describe('several processes on one state file', { skip: process.platform === 'win32' }, () => {
  for (const disturbance of ['pause', 'kill'] as const)
    for (const seed of [1, 2, 3])
      it(`give every turn one outcome under a random ${disturbance} (seed ${seed})`, async (t) => {
        t.diagnostic(
          JSON.stringify(
            await runRound({ address: join(directory, `${disturbance}-${seed}.db`) }, { seed, disturbance }),
          ),
        )
      })

  it('refuse the next write of an owner that was stopped past its lease, and name the present owner', async () => {
    const path = join(directory, 'stopped.db')
    const store = await openSqliteStore({ path, projectId: 'default' })
    await store.sessions.create({ id: 's', agentId: 'main', title: '' })
    const first = start('hold-lease.ts', path)
    const lines = acknowledged(first)
    await waitFor(first, lines, 3)
    const request = { owner: 'the second', ttlMs: 60_000 }
    let acquired = await store.leases.acquire(sessionLease('s'), request)
    while (acquired.type === 'taken') {
      assert.equal(acquired.by.owner, 'the first')
      await sleep(20)
      acquired = await store.leases.acquire(sessionLease('s'), request)
    }
    const before = (await store.sessions.messages('s')).length
    first.kill('SIGCONT')
    assert.equal(await ended(first), 0)
    assert.match(lines.at(-1) ?? '', /^LEASE_LOST .*the second owns it now/)
    assert.equal((await store.sessions.messages('s')).length, before)
    assert.ok(lines.filter((line) => line === 'WRITTEN').length <= before)
    await store.sessions.append('s', [{ role: 'user' }], acquired.lease)
    await store.close()
  })

  it('never skip the event of a writer that was paused before its commit', async () => {
    const path = join(directory, 'paused.db')
    const store = await openSqliteStore({ path, projectId: 'default' })
    await store.sessions.create({ id: 'before', agentId: 'main', title: '' })
    const seen: StoredEvent[] = []
    const read = async () => void seen.push(...(await store.events.after(seen.at(-1)?.id ?? 0)))
    const paused = start('pause-writer.ts', path)
    const lines = acknowledged(paused)
    await waitFor(paused, lines, 1)
    await read()
    assert.deepEqual(
      seen.map(({ type }) => type),
      ['session.created'],
    )
    const other = start('open-store.ts', path)
    other.stdin?.end()
    setTimeout(() => paused.kill('SIGCONT'), 300)
    assert.deepEqual(await Promise.all([ended(paused), ended(other)]), [0, 0])
    await read()
    assert.equal(lines[0], `WRITTEN ${seen[1]?.id}`)
    assert.deepEqual(
      seen.map(({ type }) => type),
      ['session.created', 'test.paused', 'session.created'],
    )
    assert.deepEqual(seen, await store.events.after(0))
    await store.close()
  })

  it('end the leases of a process of this machine that ended at once, and no other', async () => {
    const names = JSON.stringify(join(import.meta.dirname, '../../src/store/processes.ts'))
    const print = `import { processName } from ${names}; console.log(processName()); process.stdin.resume()`
    const child = spawn(process.execPath, ['--input-type=module', '-e', print], { stdio: ['pipe', 'pipe', 'inherit'] })
    const killed = String((await once(child.stdout, 'data'))[0]).trim()
    const elsewhere = killed.replace(/^\S+/, randomUUID())
    const store = await openSqliteStore({ path: join(directory, 'gone.db'), projectId: 'default' })
    const request = { owner: 'test', ttlMs: 600_000 }
    const processes = { living: processName(), killed, elsewhere, unnamed: undefined }
    for (const [name, its] of Object.entries(processes)) {
      const acquired = await store.leases.acquire(`process:${name}`, { ...request, process: its })
      assert.ok(acquired.type === 'acquired')
      await store.leases.acquire(`of ${name}`, { owner: 'test', under: acquired.lease })
    }
    child.kill('SIGKILL')
    await once(child, 'close')
    assert.equal((await store.reclaim()).turns, 0)
    for (const name of Object.keys(processes))
      for (const lease of [`process:${name}`, `of ${name}`])
        assert.equal((await store.leases.get(lease)) === undefined, name === 'killed', lease)
    await store.close()
  })

  it('tell each other of their changes, though neither has looked for rows', async () => {
    const path = join(directory, 'followed.db')
    const [reader, writer] = await Promise.all([1, 2].map(() => openSqliteStore({ path, projectId: 'default' })))
    assert.ok(reader && writer)
    const seen: (string | undefined)[] = []
    const arrived = Promise.withResolvers<void>()
    const stop = await reader.events.follow((event) => {
      seen.push(event?.sessionId)
      if (seen.length === 2) arrived.resolve()
    })
    for (const id of ['one', 'two']) await writer.sessions.create({ id, agentId: 'main', title: '' })
    await arrived.promise
    assert.deepEqual(seen, ['one', 'two'])
    stop()
    await Promise.all([reader.close(), writer.close()])
  })

  it('end for who follows when the database is closed: told once, and not again', async (t) => {
    const database = await openDatabase({ type: 'sqlite', path: join(directory, 'closed.db') })
    const store = database.project('default')
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let told = 0
    await store.events.follow(() => told++)
    await database.close()
    while (told === 0) await new Promise(setImmediate)
    for (let round = 0; round < 4; round++) {
      t.mock.timers.tick(1_000)
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    }
    assert.equal(told, 1)
    await assert.rejects(
      store.events.follow(() => told++),
      hasCode('STORE_FAILED'),
    )
  })

  it('a write waits for a stopped process that is in the middle of a change, and timers of this one go on', async () => {
    const path = join(directory, 'waited.db')
    const store = await openSqliteStore({ path, projectId: 'default' })
    const paused = start('pause-writer.ts', path)
    await waitFor(paused, acknowledged(paused), 1)
    let isWritten = false
    const written = store.sessions.create({ id: 's', agentId: 'main', title: '' }).then(() => (isWritten = true))
    for (let tick = 0; tick < 5; tick++) await sleep(20)
    assert.equal(isWritten, false)
    paused.kill('SIGCONT')
    assert.deepEqual(await Promise.all([ended(paused), written]), [0, true])
    await store.close()
  })
})
