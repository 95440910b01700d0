import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import type { JsonObject, Outcome } from '../../src/kernel/index.ts'
import { createRuntime, type Parts, type Runtime } from '../../src/runtime/index.ts'
import { type Blobs, createMemoryStore, openBlobFiles, type Store } from '../../src/store/index.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'
import { createScriptedSandbox, type Script } from '../../src/testing/scripted-sandbox.ts'
import { defineTool, toModelText } from '../../src/tools/index.ts'

const root = mkdtempSync(join(tmpdir(), 'nexus-kept-'))
after(() => rmSync(root, { recursive: true }))

const SECRET = 'sécret-token-1234'
const LONG = 'a line of output\n'.repeat(20_000)

interface Rig {
  readonly runtime: Runtime
  readonly store: Store
  readonly blobs: Blobs
  readonly clock: ReturnType<typeof createFakeClock>
}

async function rig(script: Script, more: Partial<Parts> = {}): Promise<Rig> {
  const directory = mkdtempSync(join(root, 'r-'))
  const clock = createFakeClock(1_000)
  const store = await createMemoryStore({ projectId: 'default', clock })
  const blobs = await openBlobFiles({ directory: join(directory, 'blobs'), references: store.blobs })
  const sandbox = createScriptedSandbox({ script })
  const runtime = await createRuntime({
    ...{ sources: [], sandbox, workspace: directory, store, blobs, clock, secrets: [SECRET], toolTimeoutMs: 0 },
    ...more,
  })
  return { runtime, store, blobs, clock }
}

async function callOnce(runtime: Runtime, tool = 'run_command', args: JsonObject = { command: 'make' }) {
  return (await runtime.openAgent().call({ tool, arguments: args })).outcome
}

interface Row {
  readonly name: string
  readonly id: string
  readonly bytes: number
  readonly is_cut: boolean
}
const rowsOf = (outcome: Outcome): Row[] => (outcome.data?.['saved_output'] ?? []) as unknown as Row[]

async function wholeOf({ store, blobs }: Rig, { id }: Row): Promise<string> {
  const reference = await store.blobs.get(id)
  assert.ok(reference)
  const chunks: Uint8Array[] = []
  for await (const chunk of blobs.read(reference)) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

it('a command that is cut for the model is kept whole, each stream by itself, and the outcome names both', async () => {
  const made = await rig(() => ({ stdout: LONG, stderr: `${LONG}!` }))
  const outcome = await callOnce(made.runtime)
  assert.equal(outcome.type, 'partial')
  const rows = rowsOf(outcome)
  assert.deepEqual(
    rows.map(({ name, bytes, is_cut }) => [name, bytes, is_cut]),
    [
      ['stdout', LONG.length, false],
      ['stderr', LONG.length + 1, false],
    ],
  )
  const [stdout, stderr] = rows
  assert.ok(stdout && stderr)
  assert.equal(await wholeOf(made, stdout), LONG)
  assert.equal(await wholeOf(made, stderr), `${LONG}!`)
  assert.equal((outcome.data?.['truncation'] as JsonObject)['full_output_path'], `tool-output/${stderr.id}`)
  assert.match(
    toModelText(outcome),
    new RegExp(`whole ${LONG.length} bytes of stdout are kept for 7 days.*--output ${stdout.id}`),
  )
  await made.runtime.close()
})

it('a command that is shown whole keeps nothing', async () => {
  const made = await rig(() => ({ stdout: 'short' }))
  assert.equal((await callOnce(made.runtime)).type, 'success')
  assert.deepEqual(await made.store.blobs.list(), [])
  await made.runtime.close()
})

it('secrets are blanked in what is kept, also those with characters of several bytes and in base64', async () => {
  const base64 = Buffer.from(SECRET).toString('base64')
  const made = await rig(() => ({ stdout: `${LONG}one ${SECRET} two ${base64} é\n` }))
  const [stdout] = rowsOf(await callOnce(made.runtime))
  assert.ok(stdout)
  assert.equal((await wholeOf(made, stdout)).slice(LONG.length), 'one [redacted] two [redacted] é\n')
  await made.runtime.close()
})

it('a result of any tool that is cut is kept as the model would have read it', async () => {
  const lines = defineTool({
    ...{ name: 'lines', description: 'Gives many lines.', parameters: { type: 'object' } },
    execute: async () => `${LONG}and ${SECRET}`,
  })
  const made = await rig(() => ({}), { registerTools: (registry) => registry.register('lines', () => lines) })
  const outcome = await callOnce(made.runtime, 'lines', {})
  const [row] = rowsOf(outcome)
  assert.ok(row)
  assert.equal(await wholeOf(made, row), `${LONG}and [redacted]`)
  assert.match(toModelText(outcome), new RegExp(`nexus sessions show --output ${row.id}`))
  await made.runtime.close()
})

it('what cannot be kept is reported, and the call goes on', async () => {
  const { blobs: references } = await createMemoryStore({ projectId: 'p' })
  const broken: Blobs = await openBlobFiles({ directory: '/proc/none', references })
  const made = await rig(() => ({ stdout: LONG }), { blobs: broken })
  const outcome = await callOnce(made.runtime)
  assert.equal(outcome.type, 'partial')
  assert.equal((outcome.data?.['truncation'] as JsonObject)['full_output_path'], null)
  assert.match(toModelText(outcome), /The rest of stdout was not kept: The output was not saved in \/proc\/none/)
  await made.runtime.close()
})

it('what was kept is removed after 7 days, the bytes too', async () => {
  const made = await rig(() => ({ stdout: LONG }))
  const [first] = rowsOf(await callOnce(made.runtime))
  assert.ok(first)
  const reference = await made.store.blobs.get(first.id)
  assert.ok(reference)
  await made.runtime.close()
  await made.clock.advance(7 * 86_400_000)
  assert.equal(await made.store.blobs.get(first.id), undefined)
  await made.store.blobs.trim()
  assert.equal(await made.blobs.collect(), 1)
  await assert.rejects(async () => {
    for await (const _ of made.blobs.read(reference)) assert.fail('it was read')
  }, /does not exist/)
})
