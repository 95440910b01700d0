/** Questions about calls that name a skill, or its files: an answer is about one revision. */
import assert from 'node:assert/strict'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { parsePolicy } from '../../src/authorize/index.ts'
import type { Runtime } from '../../src/runtime/index.ts'
import type { Approval } from '../../src/store/index.ts'
import { createScriptedSandbox } from '../../src/testing/index.ts'
import { callOf, codeOf, wordsOf, workshop } from './rig.ts'

/** The next open question. */
async function question(runtime: Runtime): Promise<Approval> {
  for (;;) {
    const [approval] = await runtime.approvals.list()
    if (approval) return approval
    await new Promise(setImmediate)
  }
}

test('a skill that changed while a person was asked is not loaded: the answer was about another revision', async (t) => {
  const shop = workshop(t)
  const file = shop.write('alpha')
  const agents = [{ id: 'main', policy: parsePolicy({ ask: ['load_skill'] }).rules }]
  const runtime = await shop.open({ agents, waitForAnswers: true })
  const load = () => callOf(runtime, { tool: 'load_skill', arguments: { skill_name: 'alpha' }, sessionId: 's1' })
  const changed = load()
  const { id } = await question(runtime)
  writeFileSync(file, '---\nname: alpha\ndescription: Does alpha.\n---\nOther text.\n')
  await runtime.approvals.answer(id, { isAllowed: true, by: 'ada', kind: 'person' })
  const { outcome, entry } = await changed
  assert.match(wordsOf(outcome), /The skill changed while a person was asked/)
  assert.deepEqual([entry.state, codeOf(outcome)], ['denied', 'PERMISSION_DENIED'])
  const unchanged = load()
  await runtime.approvals.answer((await question(runtime)).id, { isAllowed: true, by: 'ada', kind: 'person' })
  assert.equal(codeOf((await unchanged).outcome), 'success')
})

test('a skill that cannot be read any more after a person was asked is not loaded, and no command runs for it', async (t) => {
  const shop = workshop(t)
  const agents = [{ id: 'main', policy: parsePolicy({ ask: ['load_skill', 'run_command'] }).rules }]
  const sandbox = createScriptedSandbox({})
  const runtime = await shop.open({ agents, sandbox, workspace: shop.root, waitForAnswers: true })
  const closed: Readonly<Record<string, (file: string) => void>> = {
    'its SKILL.md': (file) => renameSync(file, join(shop.root, 'elsewhere.md')),
    'its directory': (file) => renameSync(dirname(file), join(shop.root, '.elsewhere')),
  }
  for (const [what, close] of Object.entries(closed))
    for (const [tool, more] of [
      ['load_skill', {}],
      ['run_command', { command: 'ls' }],
    ] as const) {
      const file = shop.write('alpha')
      const asking = callOf(runtime, { tool, arguments: { skill_name: 'alpha', ...more }, sessionId: 's1' })
      const { id, skillDigest } = await question(runtime)
      assert.ok(skillDigest)
      close(file)
      await runtime.approvals.answer(id, { isAllowed: true, by: 'ada', kind: 'person' })
      const { outcome, entry } = await asking
      assert.match(wordsOf(outcome), /The skill changed while a person was asked/, `${tool}: ${what}`)
      assert.equal(entry.state, 'denied')
      for (const name of ['alpha', 'elsewhere.md', '.elsewhere'])
        rmSync(join(shop.root, name), { recursive: true, force: true })
    }
  assert.deepEqual(sandbox.requests, [])
})

test('only the revision that a person agreed to is loaded: an edit between the last check and the load is not', async (t) => {
  const shop = workshop(t)
  const file = shop.write('alpha')
  const agents = [{ id: 'main', policy: parsePolicy({ ask: ['load_skill'] }).rules }]
  const runtime = await shop.open({ agents, waitForAnswers: true })
  const load = (text?: string) => {
    // The last thing before the load that a caller sees.
    const onDecision = () => {
      if (text !== undefined) writeFileSync(file, `---\nname: alpha\ndescription: Does alpha.\n---\n${text}\n`)
    }
    const request = { tool: 'load_skill', arguments: { skill_name: 'alpha' } }
    return runtime.openAgent({ sessionId: 's1' }).call(request, { onDecision })
  }
  const asking = load('Other text.')
  await runtime.approvals.answer((await question(runtime)).id, { isAllowed: true, by: 'ada', kind: 'person' })
  assert.match(wordsOf((await asking).outcome), /changed after a person agreed to load it/)
  const again = load()
  await runtime.approvals.answer((await question(runtime)).id, {
    isAllowed: true,
    by: 'ada',
    kind: 'person',
    remember: 'exact',
  })
  assert.match(wordsOf((await again).outcome), /Other text/)
  const remembered = await load('Third text.')
  assert.equal(remembered.decision.rule, 'ask load_skill, remembered')
  assert.match(wordsOf(remembered.outcome), /changed after a person agreed to load it/)
})

test('a command that names files of a skill without skill_name is asked about each time', async (t) => {
  const shop = workshop(t)
  shop.write('alpha')
  const agents = [{ id: 'main', policy: parsePolicy({ ask: ['run_command'] }).rules }]
  const sandbox = createScriptedSandbox({})
  const runtime = await shop.open({ agents, sandbox, workspace: shop.root, waitForAnswers: true })
  const agent = runtime.openAgent({ sessionId: 's1' })
  await agent.call({ tool: 'load_skill', arguments: { skill_name: 'alpha' } })
  const placed = agent.loadedSkills()[0]?.baseDir ?? assert.fail('alpha is not loaded')
  for (const [args, canRemember] of [
    [{ command: `bash ${placed}/go.sh` }, false],
    [{ command: 'bash ./alpha/go.sh' }, false],
    [{ command: 'bash go.sh', cwd: 'alpha' }, false],
    [{ command: 'cd alpha && bash go.sh' }, false],
    [{ command: "pushd -- 'alpha'; bash go.sh" }, false],
    [{ command: 'make --directory=alpha' }, false],
    [{ command: 'cd alphabet && bash go.sh' }, true],
    [{ command: `bash ${placed}/go.sh`, skill_name: 'alpha' }, true],
    [{ command: 'make alpha' }, true],
  ] as const) {
    const asking = agent.call({ tool: 'run_command', arguments: args })
    const approval = await question(runtime)
    await runtime.approvals.answer(approval.id, { isAllowed: false, by: 'ada', kind: 'person' })
    await asking
    assert.deepEqual(
      [approval.canRemember, approval.skillDigest !== undefined],
      [canRemember, 'skill_name' in args],
      approval.command,
    )
  }
})
