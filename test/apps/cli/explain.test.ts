import assert from 'node:assert/strict'
import test from 'node:test'
import { meanings } from '../../../src/apps/cli/commands/explain.ts'
import { CODES } from '../../../src/kernel/index.ts'
import { Place } from './nexus.ts'

test('explain prints meaning, example and fix of a code, with both sides of a diff', async (t) => {
  const { code, stdout } = await new Place(t).run(['explain', 'yaml-duplicate-key'])
  assert.equal(code, 0)
  assert.match(stdout, /^yaml-duplicate-key\n\nmeaning: A key is given twice\.\n\nexample: pdf\/SKILL\.md/)
  assert.match(stdout, /\n {4}-name: pdf-reader\n/)
  assert.match(stdout, /\nfix: Keep one of the two lines\.\n$/)
})

test('explain takes a code in any case, and with the brackets that a finding has', async (t) => {
  const place = new Place(t)
  for (const typed of ['call_denied', '(CALL_DENIED)', '`CALL_DENIED`.'])
    assert.match((await place.run(['explain', typed])).stdout, /^CALL_DENIED\n/)
})

test('explain without a code lists every code with one line', async (t) => {
  const { code, stdout } = await new Place(t).run(['explain'])
  assert.equal(code, 0)
  for (const each of meanings().keys()) assert.match(stdout, new RegExp(`^ {2}${each} +\\S`, 'm'))
})

test('explain of an unknown code proposes the nearest one', async (t) => {
  const { code, stdout, stderr } = await new Place(t).run(['explain', 'yaml-duplicat-key'])
  assert.equal(code, CODES.FILE_NOT_FOUND.exit)
  assert.equal(stdout, '')
  assert.match(
    stderr,
    /Nexus has no code 'yaml-duplicat-key'\.\n {2}fix: Did you mean: nexus explain yaml-duplicate-key$/m,
  )
})

test('a shell offers the codes', async (t) => {
  const place = new Place(t)
  const { stdout } = await place.run(['completion', 'bash', '--', 'explain', ''])
  const codes = [...meanings().keys()].toSorted()
  assert.deepEqual(stdout.split('\n').slice(1, codes.length + 1), codes)
})
