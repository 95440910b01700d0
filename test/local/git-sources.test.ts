import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig, readEnvironment } from '../../src/config/index.ts'
import { openLocal } from '../../src/local/index.ts'
import { skillText, startGitServer } from '../skills/install/git-server.ts'

async function open(t: TestContext, url: string) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-sources-')))
  for (const name of ['home', 'work']) mkdirSync(join(root, name))
  writeFileSync(join(root, 'home/nexus.yaml'), `skills: { sources: [{ type: git, url: '${url}' }] }\n`)
  const environment = readEnvironment({ HOME: root, NEXUS_HOME: join(root, 'home'), PATH: '' })
  const local = await openLocal({ cwd: join(root, 'work'), environment, sandbox: 'none' })
  t.after(async () => {
    await local.close()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })
  return { local, root, environment }
}

test('a runtime fetches a source that is due beside its turns', async (t) => {
  const server = await startGitServer(t)
  server.upstream('team').write('a/SKILL.md', skillText('a')).publish()
  const { local } = await open(t, server.url('team'))
  const names = async () => (await local.sources.find(({ id }) => id === 'git:team')?.discover())?.skills.map(({ name }) => name) // oxfmt-ignore
  for (const until = performance.now() + 10_000; (await names())?.length === 0 && performance.now() < until;)
    await sleep(20)
  assert.deepEqual(await names(), ['a'])
})

test('a server that never answers keeps neither the opening nor the closing of a runtime', async (t) => {
  const server = createServer(() => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void (server.closeAllConnections(), server.close()))
  const asked = once(server, 'request')
  const { local } = await open(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}/team.git`)
  await asked
  const begun = performance.now()
  await local.close()
  assert.ok(performance.now() - begun < 2_000)
})

test('only the file of the user may follow a source without a question, or name a policy and hosts without encryption', async (t) => {
  const { root, environment } = await open(t, 'https://127.0.0.1:9/team')
  mkdirSync(join(root, 'work/.nexus'))
  const text =
    'skills: { sources: [{ type: git, url: "https://127.0.0.1:9/x", follow: true }], install: { httpHosts: [evil.test], policy: /bin/true } }\n'
  writeFileSync(join(root, 'work/nexus.yaml'), text)
  const { config, diagnostics } = await loadConfig({ cwd: join(root, 'work'), environment, trusted: true })
  const [first] = config.skills.sources
  assert.ok(first?.type === 'git' && first.url.endsWith('/x') && first.follow === undefined)
  assert.deepEqual(config.skills.install, { httpHosts: [] })
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ['config-user-only', 'config-user-only', 'config-user-only'],
  )
})
