import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { JsonObject, Outcome } from '../../src/kernel/index.ts'
import type { SandboxScript } from '../../src/testing/index.ts'
import { callOf, codeOf } from './rig.ts'
import { type Bench, bench, KEY, keyOf, TURN } from './variables-rig.ts'
import type { TestContext } from 'node:test'

const SKILLS = { a: { primaryEnv: 'KEY' } }

/** A runtime in which skill `a` has the key, and every command says what the script says. */
function open(t: TestContext, script: SandboxScript, key = KEY): Promise<Bench> {
  return bench(t, { skills: SKILLS, entries: { a: keyOf(key) }, script })
}

/** Runs a command for `a`; outcome, ledger and what was seen live, as one text each. */
async function seen(
  { runtime, ledger }: Bench,
  args: JsonObject = {},
): Promise<{ outcome: Outcome; texts: readonly string[] }> {
  let live = ''
  const { outcome } = await callOf(
    runtime,
    { tool: 'run_command', arguments: { command: 'x', skill_name: 'a', ...args }, origin: 'library' },
    { onOutput: ({ text }) => (live += text) },
  )
  return { outcome, texts: [JSON.stringify(outcome), JSON.stringify(await ledger.list()), live] }
}

test('a value that a command prints is in neither outcome, ledger nor live output, however it is written', async (t) => {
  const key = 'ghp/secret+value=="&ü'
  const bytes = Buffer.from(key)
  const forms = [
    key,
    encodeURIComponent(key),
    JSON.stringify(key),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    Buffer.from(`KEY=${key}\n`).toString('base64'),
    Buffer.from(`-KEY=${key}\n`).toString('base64'),
    Buffer.from(`--KEY=${key}\n`).toString('base64url'),
  ]
  const stdout = forms.map((form, index) => `<${index}> ${form}`).join('\n')
  const { texts } = await seen(await open(t, () => ({ stdout, stderr: stdout }), key))
  const cores = [key, 'ghp/secret', 'ghp%2Fsecret', bytes.toString('hex').slice(4, -4)]
  for (const encoded of forms.slice(5)) cores.push(encoded.slice(8, -8))
  for (const text of texts)
    for (const core of cores) assert.ok(!text.toLowerCase().includes(core.toLowerCase()), `${core} in ${text}`)
})

test('a value that is cut in two by the limits of output leaves no half behind', async (t) => {
  for (const shift of [0, 1, 5, KEY.length - 1]) {
    const stdout = `${'x'.repeat(10_000 - shift)}${KEY}${'y'.repeat(100)}`
    const { texts } = await seen(await open(t, () => ({ stdout })))
    for (const text of texts) assert.ok(!text.includes(KEY.slice(0, 6)))
  }
})

test('a value that the sandbox cut in two leaves no half behind either, also in live output', async (t) => {
  const half = KEY.slice(0, -3)
  const { outcome, texts } = await seen(
    await open(t, () => ({ stdout: `xx ${half}`, stdoutTruncated: true, stdoutBytes: 300_000 })),
  )
  assert.equal(outcome.type, 'partial')
  for (const text of texts) assert.ok(!text.includes(KEY.slice(0, 6)), text)
})

test('a command that is killed, times out or is cancelled leaves no value behind', async (t) => {
  const printed = { stdout: `key ${KEY}`, stderr: KEY }
  for (const [script, code] of [
    [() => ({ ...printed, hang: true }), 'TIMEOUT'],
    [() => ({ ...printed, end: 'killed', exitCode: 137 }), 'EXECUTION_ERROR'],
    [() => ({ ...printed, end: 'cancelled', exitCode: -1 }), 'CANCELLED'],
  ] as const satisfies readonly (readonly [SandboxScript, string])[]) {
    const { outcome, texts } = await seen(await open(t, script), { timeout_sec: 0.01 })
    assert.equal(codeOf(outcome), code)
    assert.deepEqual(outcome.data?.['variables'], ['KEY'])
    for (const text of texts) assert.ok(!text.includes(KEY), text)
  }
})

test('a sandbox that quotes the value in its error or its notes is blanked', async (t) => {
  const failing = await seen(
    await open(t, () => {
      throw new Error(`spawn bash KEY=${KEY}`)
    }),
  )
  const noting = await seen(await open(t, () => ({ notes: [`${KEY}.txt was not taken back`] })))
  for (const text of [...failing.texts, ...noting.texts]) assert.ok(!text.includes(KEY), text)
})

test('from then on the value is blanked everywhere: in arguments, in what other tools answer, in what is stored and asked', async (t) => {
  const rig = await bench(t, {
    skills: SKILLS,
    entries: { a: keyOf(KEY) },
    parts: { agents: [{ id: 'main', policy: askAll() }], approve: async (_call, question) => !question.includes(KEY) },
  })
  const call = { tool: 'run_command', arguments: { command: 'true', skill_name: 'a' }, origin: 'library' } as const
  assert.equal((await callOf(rig.runtime, call)).decision.type, 'allow')
  const { outcome } = await callOf(rig.runtime, { tool: 'load_skill', arguments: { skill_name: `a ${KEY}` }, ...TURN })
  await callOf(rig.runtime, { tool: 'run_command', arguments: { command: `echo ${KEY}` }, ...TURN })
  const all = JSON.stringify([outcome, await rig.ledger.list(), rig.runtime.redact({ said: KEY })])
  assert.ok(!all.includes(KEY), all)
  assert.ok(!rig.runtime.openAgent().instructions().includes(KEY))
})

test('a value of several lines is blanked also when only one of them is printed', async (t) => {
  const lines = ['-----BEGIN KEY-----', 'MIIEowIBAAKCAQEAx1234567', 'Q7pQ0b3o9H8mVtYcZkL2aaaa', '-----END KEY-----']
  const { texts } = await seen(await open(t, () => ({ stdout: `${lines[1]}\n--\n${lines[2]}` }), lines.join('\n')))
  for (const text of texts) assert.ok(!text.includes('MIIEowIBAAKC') && !text.includes('Q7pQ0b3o9H8'), text)
})

function askAll() {
  return { profile: 'full', allow: [], ask: ['run_command'], deny: [], groups: new Map() } as const
}
