import assert from 'node:assert/strict'
import test from 'node:test'
import type { Invocation } from '../src/apps/cli/command.ts'
import { findInSettings } from '../src/apps/cli/commands/config.ts'
import { assertValid, loadConfig, readEnvironment } from '../src/config/index.ts'
import { BUILTIN_TOOLS } from '../src/tools/index.ts'
import { decide } from '../src/authorize/index.ts'
import { readPolicies } from '../src/local/index.ts'
import { makePlace } from './config/place.ts'
import { readSource } from './source-tree.ts'

const [, SAMPLE = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(readSource('README.md')) ?? []

for (const owner of ['user', 'local'] as const) {
  test(`config check finds nothing in the nexus.yaml of the README (${owner})`, async () => {
    await using place = await makePlace({ [owner]: SAMPLE })
    const environment = readEnvironment({ HOME: place.home, GH_TOKEN: 'ghp_123456' })
    const around = { cwd: place.workspace, environment }
    const loaded = await loadConfig({ ...around, trusted: true })
    const invocation = { ...around, flags: {}, signal: new AbortController().signal } as unknown as Invocation
    assert.deepEqual([...loaded.diagnostics, ...(await findInSettings(loaded, invocation))], [])
  })
}

test('the nexus.yaml of the README does what its comments say', async () => {
  await using place = await makePlace({ user: SAMPLE })
  const environment = readEnvironment({ HOME: place.home, GH_TOKEN: 'ghp_123456' })
  const loaded = await loadConfig({ cwd: place.workspace, environment })
  const { policies } = await readPolicies(loaded)
  const decided = BUILTIN_TOOLS.map((tool) => {
    const call = { tool: tool.name, arguments: {}, agentId: 'main', origin: 'model' } as const
    const definition = { ...tool, description: '', parameters: {}, execute: () => Promise.reject(new Error('not run')) }
    return [tool.name, decide({ call, tool: definition, policy: policies[0]!.policy }).type]
  })
  assert.equal(new Map(decided as [string, string][]).get('run_command'), 'ask')
  assert.equal(new Map(decided as [string, string][]).get('load_skill'), 'allow')
  const config = assertValid(loaded)
  assert.equal(config.skills.entries.get('github')?.hasApiKey, true)
  assert.equal(config.skills.prompt.budgetChars, 8000)
})
