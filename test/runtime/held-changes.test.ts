/** File tools obey the gate of commands: what it would hold of a command, a person is asked about. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parsePolicy } from '../../src/authorize/index.ts'
import type { Parts, Runtime } from '../../src/runtime/index.ts'
import { callOf, codeOf, wordsOf, workshop } from './rig.ts'

const POLICY = parsePolicy({ allow: ['*'] }).rules

async function open(
  t: TestContext,
  more: Partial<Parts> = {},
): Promise<{ runtime: Runtime; at: (name: string) => string }> {
  const { root, ...shop } = workshop(t)
  const workspace = join(root, 'work')
  mkdirSync(workspace)
  const runtime = await shop.open({ workspace, agents: [{ id: 'main', policy: POLICY }], ...more })
  return { runtime, at: (name) => join(workspace, name) }
}

const write = (runtime: Runtime, path: string) =>
  callOf(runtime, { tool: 'write_file', arguments: { path, content: 'x' } })

test('a person is asked about what would be held, with the reason, and the file is written after a yes', async (t) => {
  const asked: (string | undefined)[] = []
  const approve: Parts['approve'] = async (_call, question, _signal, why) => {
    asked.push(question, why)
    return true
  }
  const { runtime, at } = await open(t, { approve })
  const { outcome, decision } = await write(runtime, '.envrc')
  assert.deepEqual([codeOf(outcome), decision.rule], ['success', 'hold .envrc, approved by callback'])
  assert.equal(readFileSync(at('.envrc'), 'utf8'), 'x')
  const why = 'If a command changed .envrc, Nexus would hold the change: its name begins with a dot.'
  assert.deepEqual(asked, [`May 'write_file' make the change in the workspace? ${why}`, why])
  assert.equal(codeOf((await write(runtime, 'plain.txt')).outcome), 'success')
  assert.equal(asked.length, 2, 'nobody is asked about another file')
})

test('after a no nothing is written, and the answer is not remembered', async (t) => {
  const { runtime, at } = await open(t, { approve: async () => false })
  const { outcome, entry } = await write(runtime, '.git/hooks/pre-commit')
  assert.deepEqual([codeOf(outcome), entry.state], ['PERMISSION_DENIED', 'denied'])
  assert.equal(existsSync(at('.git')), false)
  const [approval] = await runtime.approvals.remembered()
  assert.equal(approval, undefined)
})

test('where nobody can be asked it is refused, and the words name the command that would hold it', async (t) => {
  const { runtime, at } = await open(t)
  const { outcome } = await write(runtime, 'skills/a/SKILL.md')
  assert.match(wordsOf(outcome), /Nexus would hold the change: it holds skills/)
  assert.match(outcome.type === 'failed' ? String(outcome.fix) : '', /run_command: Nexus holds it.*nexus changes keep/)
  assert.equal(existsSync(at('skills')), false)
  for (const path of ['nexus.yaml', '../x']) assert.equal(codeOf((await write(runtime, path)).outcome), 'ACCESS_DENIED')
})

test('what a person agreed to is not what became held while they were asked', async (t) => {
  const agents = [{ id: 'main', policy: parsePolicy({ ask: ['write_file'] }).rules }]
  const approve: Parts['approve'] = async () => {
    // The other half of a repository.
    for (const name of ['objects', 'refs']) mkdirSync(at(`r/${name}`), { recursive: true })
    return true
  }
  const { runtime, at } = await open(t, { approve, agents })
  const { outcome } = await write(runtime, 'r/HEAD')
  assert.match(wordsOf(outcome), /would hold the change of 'r'/)
  assert.equal(existsSync(at('r/HEAD')), false)
})

test('a question is answered by who answers, not by rules: neither a remembered answer nor a skill', async (t) => {
  let count = 0
  const approve: Parts['approve'] = async () => {
    count += 1
    return { isAllowed: true, remember: 'exact' }
  }
  const { runtime, at } = await open(t, { approve })
  writeFileSync(at('.envrc'), 'old')
  for (const expected of [1, 2]) {
    await write(runtime, '.envrc')
    assert.equal(count, expected)
  }
})
