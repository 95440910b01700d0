/** P3 and N15 as a user of the package meets them: every built-in tool of a nexus.yaml, and what a call that fails says. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type JsonObject, type Outcome, toModelText } from '../../src/public/index.ts'
import { openLocal, readEnvironment } from '../../src/public/local.ts'

/** A search service on loopback. */
async function searxng(t: TestContext): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ results: [{ title: 'Nexus', url: 'https://e.test/', content: 'A runtime.' }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('P3, N15: each built-in of nexus.yaml does its work, and a call that fails names the tool and the reason', async (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-builtins-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [home, cwd] = [join(root, 'home'), join(root, 'work')]
  for (const directory of [home, cwd]) mkdirSync(directory)
  writeFileSync(
    join(home, 'nexus.yaml'),
    `search: { provider: searxng, url: "${await searxng(t)}" }\ntools: { run_command: { blocked: [shutdown] } }\n`,
  )
  const environment = readEnvironment({ HOME: root, NEXUS_HOME: home, PATH: process.env['PATH'] ?? '' })
  const local = await openLocal({ cwd, environment, sandbox: 'none', record: 'memory', trusted: true })
  t.after(() => local.close())
  const agent = local.runtime.openAgent()
  const call = async (tool: string, args: JsonObject): Promise<Outcome> =>
    (await agent.call({ tool, arguments: args })).outcome
  const text = async (tool: string, args: JsonObject): Promise<string> => toModelText(await call(tool, args))

  await text('write_file', { path: 'a.txt', content: 'one\n' })
  await text('write_file', { path: 'a.txt', content: 'two\n', append: true })
  assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'one\ntwo\n')
  assert.match(await text('read_file', { path: 'a.txt' }), /^one\ntwo/)
  assert.match(await text('list_directory', {}), /a\.txt/)
  assert.match(await text('run_command', { command: 'wc -l < a.txt' }), /\b2\b/)
  assert.match(await text('web_search', { query: 'nexus' }), /A runtime\./)

  const failed = async (tool: string, args: JsonObject): Promise<readonly [string, string]> => {
    const outcome = await call(tool, args)
    assert.equal(outcome.type, 'failed', `${tool} did not fail`)
    return outcome.type === 'failed' ? [outcome.code, outcome.message] : ['', '']
  }
  for (const [tool, args, code, reason] of [
    ['read_file', { path: 'b.txt' }, 'NOT_FOUND', /b\.txt/],
    ['read_file', { path: 7 }, 'INVALID_PARAM', /read_file.*path/s],
    ['run_command', { command: 'shutdown now' }, 'PERMISSION_DENIED', /shutdown/],
    ['wether', {}, 'NOT_FOUND', /wether/],
  ] as const) {
    const [actual, message] = await failed(tool, args)
    assert.equal(actual, code, message)
    assert.match(message, reason)
  }
})
