import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJsonObject, succeeded } from '../../../src/kernel/index.ts'
import { withParallel } from '../../../src/tools/index.ts'
import { startRig } from './rig.ts'

async function sentSchema(maxConcurrentTools: number): Promise<string> {
  await using rig = await startRig({
    script: [{ type: 'text', text: 'Done.' }],
    tools: { add: () => succeeded('5') },
    agent: { limits: { maxConcurrentTools } },
  })
  await rig.send('go')
  const { tools } = rig.server.requests[0]?.body as { tools?: unknown }
  return JSON.stringify(tools)
}

test('the model sees _parallel in the schema of a tool where more than one call may run at once', async () => {
  assert.match(await sentSchema(2), /"_parallel":\{"type":"boolean"/)
  assert.doesNotMatch(await sentSchema(1), /_parallel/)
})

test('_parallel is added to any schema, and never replaces a property of the tool', () => {
  const added = withParallel({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] })
  assert.ok(isJsonObject(added.properties))
  assert.deepEqual(Object.keys(added.properties), ['a', '_parallel'])
  assert.deepEqual(added.required, ['a'])
  assert.ok(isJsonObject(withParallel({ type: 'object' }).properties))
  const own = { type: 'object', properties: { _parallel: { type: 'string' } } } as const
  assert.equal(withParallel(own), own)
})
