/** Rows 132 and 135 of the catalogue of attacks, for agents in nexus.yaml. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findings, makePlace } from './place.ts'

const ODD_IDS: readonly unknown[] = [
  ...['', ' ', '.', '..', '...', 'a/b', 'a\\b', '%2e', 'a\0b', 'a\r\nb', '*', '>', '$SYS', '--help', '-x', '@key'],
  ...[
    '__proto__',
    '__proto__/x',
    '\u202egnp',
    '\u200ba',
    '\uff41',
    'x'.repeat(64),
    'x'.repeat(65_536),
    'x'.repeat(100_000),
    "a'--",
  ],
  ...[1, null, true, {}, [], ['a/b']],
]
const PLAIN_IDS = ['a.b', 'constructor', 'toString', 'hasOwnProperty', '0x', 'x'.repeat(63)]
const SQL = `'; drop table agents; -- "\`$1 :projectId ? %_\\`

test('an id of an agent outside the contract is an error of its place, and one inside it is only an id', async () => {
  await using place = await makePlace()
  for (const id of ODD_IDS) {
    const shown = JSON.stringify(id).slice(0, 80)
    await place.write('home/.nexus/nexus.yaml', `agents: ${JSON.stringify([{ id }])}\n`)
    const loaded = await place.load()
    assert.ok(
      loaded.diagnostics.some(({ severity }) => severity === 'error'),
      shown,
    )
    for (const { message } of loaded.diagnostics)
      assert.ok(message.length < 1_000 && !/[\0\r\u202e]/.test(message), shown)
  }
  for (const id of PLAIN_IDS) {
    await place.write('home/.nexus/nexus.yaml', `agents: ${JSON.stringify([{ id }])}\n`)
    const loaded = await place.load()
    assert.deepEqual([findings(loaded), loaded.config.agents.map((agent) => agent.id)], [[], [id]])
  }
})

test('SQL in the texts of an agent in nexus.yaml is kept as it is', async () => {
  await using place = await makePlace()
  await place.write('home/.nexus/nexus.yaml', `agents: ${JSON.stringify([{ id: 'main', instructions: SQL }])}\n`)
  const { config } = await place.load()
  assert.equal(config.agents[0]?.instructions, SQL)
})
