import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { ended, Place } from '../cli/nexus.ts'
import { ROOT } from '../../source-tree.ts'
import { startHttp } from './client.ts'

const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

/** The official suite against a real `nexus mcp --http`; gives what it says. */
async function conform(t: TestContext, args: readonly string[]): Promise<string> {
  const place = new Place(t)
  const tools = join(import.meta.dirname, 'conformance/tools.mjs')
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), `skills: { custom: [${JSON.stringify(`${tools}#tools`)}] }\n`)
  const { url } = await startHttp(t, place, ['--trust', '--no-auth'])
  const child = spawn(process.execPath, [SUITE, 'server', '--url', url, ...args], { cwd: place.root })
  const { code, stdout, stderr } = await ended(child)
  const unexpected = /\n[^\n]*(?:Unexpected|Stale)[\s\S]*/.exec(stdout)?.[0] ?? stdout
  assert.equal(code, 0, `${unexpected}\n${stderr}`)
  return stdout
}

for (const revision of ['2025-11-25', '2026-07-28'])
  test(`the official suite for ${revision} passes but for the scenarios that are listed with their reason`, async (t) => {
    const listed = join(import.meta.dirname, 'conformance', `${revision}.yaml`)
    const said = await conform(t, ['--requirements', revision, '--expected-failures', listed])
    assert.match(said, /✓ tools-list/)
  })

for (const part of ['enumeration', 'manifest', 'directory'])
  test(`the official suite for skills over MCP passes: ${part}`, async (t) => {
    assert.match(await conform(t, ['--scenario', `sep-2640-skills-${part}`]), /Passed: (\d+)\/\1, 0 failed, 0 warnings/)
  })
