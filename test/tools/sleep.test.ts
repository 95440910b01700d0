import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readEnvironment } from '../../src/config/index.ts'
import type { JsonObject, Outcome } from '../../src/kernel/index.ts'
import { openLocal } from '../../src/local/index.ts'
import { createEchoTool } from '../../src/public/index.ts'
import { createFakeClock, type FakeClock } from '../../src/testing/index.ts'
import { CLOCK, createServices, createSleepTool, executeTool } from '../../src/tools/index.ts'
import { codeOf, wordsOf, workshop } from '../runtime/rig.ts'
import { contextOf } from './rig.ts'

/** Lets the call reach its sleep. */
async function asleep(clock: FakeClock): Promise<void> {
  while (clock.sleeping === 0) await nextTurn()
}

test('sleep waits as long as it was asked to and says so', async (t) => {
  const clock = createFakeClock()
  const agent = (await workshop(t).open({ clock })).openAgent()
  const cases: readonly (readonly [JsonObject, string])[] = [
    [{ seconds: 1.5, label: 'the\nservice\u202e' }, 'Slept 1.5s (the service)'],
    [{ seconds: 3600 }, 'Slept 3600s'],
    [{ seconds: 2, label: '' }, 'Slept 2s'],
  ]
  for (const [args, text] of cases) {
    const call = agent.call({ tool: 'sleep', arguments: args })
    await asleep(clock)
    await clock.advance(Number(args['seconds']) * 1000 - 1)
    assert.equal(clock.sleeping, 1)
    await clock.advance(1)
    assert.equal(wordsOf((await call).outcome), text)
  }
})

test('more than an hour, less than nothing and what is no number are refused', async (t) => {
  const agent = (await workshop(t).open()).openAgent()
  for (const seconds of [3600.1, -1, '5', null, 1e308])
    assert.equal(codeOf((await agent.call({ tool: 'sleep', arguments: { seconds } })).outcome), 'INVALID_PARAM')
})

test('a cancelled sleep ends at once', async (t) => {
  const clock = createFakeClock()
  const agent = (await workshop(t).open({ clock })).openAgent()
  const stop = new AbortController()
  const call = agent.call({ tool: 'sleep', arguments: { seconds: 3600 } }, { signal: stop.signal })
  await asleep(clock)
  stop.abort()
  assert.equal(codeOf((await call).outcome), 'CANCELLED')
  assert.equal(clock.sleeping, 0)
})

test('neither the default time limit of tools nor that of a preset shortens sleep; a limit of its own does', async (t) => {
  const clock = createFakeClock()
  const services = createServices()
  services.register(CLOCK, clock)
  const call = executeTool(createSleepTool(services), { seconds: 60 }, contextOf({ services }), { timeoutMs: 1, clock })
  while (clock.sleeping < 2) await nextTurn()
  await clock.advance(60_000)
  assert.equal(wordsOf(await call), 'Slept 60s')

  const { root } = workshop(t)
  const limited = async (agent: string): Promise<number | undefined> => {
    writeFileSync(join(root, 'nexus.yaml'), `agents: [{ id: main, ${agent} }]\n`)
    mkdirSync(join(root, 'work'), { recursive: true })
    const environment = readEnvironment({ HOME: root, NEXUS_HOME: root, PATH: '' })
    const local = await openLocal({ cwd: join(root, 'work'), environment, sandbox: 'none', record: 'memory' })
    t.after(() => local.close())
    const { decision } = local.runtime.openAgent().explain({ tool: 'sleep', arguments: { seconds: 60 } })
    return decision.limits.timeoutMs
  }
  assert.equal(await limited('preset: trusted'), undefined)
  assert.equal(await limited('preset: trusted, permissions: { toolOverrides: { sleep: { timeoutMs: 5000 } } }'), 5000)
})

test('echo gives its message back, for those who register it', async (t) => {
  const runtime = await workshop(t).open({ registerTools: (registry) => registry.register('echo', createEchoTool) })
  const said = async (message: string): Promise<Outcome> =>
    (await runtime.openAgent().call({ tool: 'echo', arguments: { message } })).outcome
  assert.equal(wordsOf(await said('a\nb')), 'a\nb')
  assert.ok(!(await workshop(t).open()).openAgent().registry.has('echo'))
})
