import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type Layer, parsePolicy } from '../../src/authorize/index.ts'
import type { CallLimits } from '../../src/kernel/index.ts'
import { createScriptedSandbox } from '../../src/testing/index.ts'
import { defineTool } from '../../src/tools/index.ts'
import { callOf, codeOf, wordsOf, workshop } from './rig.ts'
import { bench, keyOf, KEY } from './variables-rig.ts'

/** What one command ran with, under the limits of a layer of its agent. */
async function command(t: TestContext, limits: CallLimits, args: { readonly cwd?: string } = {}) {
  const { root, open } = workshop(t)
  mkdirSync(join(root, 'data'))
  const sandbox = createScriptedSandbox({ script: () => ({ stdout: 'ran' }) })
  const layers: Layer[] = [{ name: 'ceiling', decide: () => ({ type: 'allow', rule: 'ceiling', limits }) }]
  const agents = [{ id: 'main', policy: parsePolicy({}).rules, layers }]
  const runtime = await open({ sandbox, workspace: root, agents })
  const { outcome, decision } = await callOf(runtime, { tool: 'run_command', arguments: { command: 'ls', ...args } })
  return { outcome, decision, root, request: sandbox.requests[0] }
}

test('denying run_command.secrets gives a command for a skill no secret, and says so when it fails', async (t) => {
  const { rules } = parsePolicy({ deny: ['run_command.secrets'] })
  const rig = await bench(t, {
    skills: { github: { primaryEnv: 'GH_TOKEN' } },
    entries: { github: keyOf(KEY) },
    script: () => ({ exitCode: 1, stderr: 'GH_TOKEN is missing' }),
    parts: { agents: [{ id: 'main', policy: rules }] },
  })
  await rig.load('github')
  const outcome = await rig.run({ skill_name: 'github' })
  assert.deepEqual(rig.lastEnv(), {})
  assert.match(wordsOf(outcome), /denies run_command\.secrets/)
})

test('a limit on the names of secrets gives those and no others', async (t) => {
  const layers: Layer[] = [
    { name: 'ceiling', decide: () => ({ type: 'allow', rule: 'ceiling', limits: { secrets: ['ALPHA_KEY'] } }) },
  ]
  const rig = await bench(t, {
    skills: { two: { envVars: ['ALPHA_KEY', 'BETA_KEY'] } },
    entries: { two: { env: { ALPHA_KEY: 'alpha-1234', BETA_KEY: 'beta-5678' } } },
    parts: { agents: [{ id: 'main', policy: parsePolicy({}).rules, layers }] },
  })
  await rig.load('two')
  await rig.run({ skill_name: 'two' })
  assert.deepEqual(rig.lastEnv(), { ALPHA_KEY: 'alpha-1234' })
})

test('paths reach the sandbox with the whole workspace, which it narrows', async (t) => {
  const { outcome, request, root } = await command(t, {})
  assert.equal(codeOf(outcome), 'success')
  assert.deepEqual([request?.workspace, request?.paths], [root, undefined])
  const paths = { readPaths: ['/'], writePaths: ['/elsewhere'], blockedPaths: ['/elsewhere/not'] }
  const narrowed = await command(t, { ...paths, timeoutMs: 1000 }, { cwd: 'data' })
  assert.deepEqual([narrowed.request?.cwd, narrowed.request?.paths], ['data', paths])
})

test('limits that leave a command nothing to read refuse it, and nothing runs', async (t) => {
  for (const limits of [{ readPaths: [] }, { readPaths: ['/elsewhere'] }, { blockedPaths: ['/'] }]) {
    const { outcome, request } = await command(t, limits)
    assert.equal(codeOf(outcome), 'ACCESS_DENIED', JSON.stringify(limits))
    assert.match(wordsOf(outcome), /The limits on paths allow it to read nothing of the workspace/)
    assert.equal(request, undefined)
  }
})

test('denied domains reach the sandbox, and a sandbox that cannot enforce limits runs nothing', async (t) => {
  const { request } = await command(t, { networkDomains: [] })
  assert.deepEqual(request?.networkDomains, [])
  const shop = workshop(t)
  const open = createScriptedSandbox({})
  const sandbox = {
    kind: 'none' as const,
    facts: () => open.facts(),
    place: open.place.bind(open),
    run: open.run.bind(open),
    close: () => open.close(),
  }
  const agents = [{ id: 'main', policy: parsePolicy({ deny: ['run_command.network'] }).rules }]
  const runtime = await shop.open({ sandbox, workspace: shop.root, agents })
  const { outcome } = await callOf(runtime, { tool: 'run_command', arguments: { command: 'ls' } })
  assert.equal(codeOf(outcome), 'PERMISSION_DENIED')
  assert.match(wordsOf(outcome), /without a sandbox Nexus cannot enforce them/)
  assert.deepEqual(open.requests, [])
})

test('a time limit of a layer stops a tool that names a longer one, and the tool sees its limits', async (t) => {
  const shop = workshop(t)
  let seen: CallLimits | undefined
  const layers: Layer[] = [
    { name: 'grants', decide: () => ({ type: 'allow', rule: 'time', limits: { timeoutMs: 20 } }) },
  ]
  const runtime = await shop.open({
    agents: [{ id: 'main', policy: parsePolicy({}).rules, layers }],
    registerTools: (registry) =>
      registry.register('slow', () =>
        defineTool({
          name: 'slow',
          description: 'Waits until it is stopped.',
          parameters: { type: 'object' },
          options: { timeoutMs: 60_000 },
          execute: (_args, { limits, signal }) => {
            seen = limits
            return new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped')))
          },
        }),
      ),
  })
  await callOf(runtime, { tool: 'slow', arguments: {} })
  assert.deepEqual(seen, { timeoutMs: 20 })
})
