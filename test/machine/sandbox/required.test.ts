import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../../source-tree.ts'
import { openDirectory } from './local-rig.ts'
import { whySkipped } from './required.ts'

test('a run that decides skips no test of the sandbox, even where bubblewrap cannot work', () => {
  for (const env of [{ TESTS_REQUIRE_SANDBOX: '1' }, { CI: 'true' }])
    assert.equal(whySkipped({ env, bwrap: '/does/not/exist' }), undefined)
})

test('another run skips them where bubblewrap is missing or fails, and says why', (context) => {
  const directory = openDirectory()
  context.after(() => rmSync(directory, { recursive: true }))
  const bwrap = join(directory, 'bwrap')
  writeFileSync(bwrap, '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2; exit 1\n')
  chmodSync(bwrap, 0o755)
  assert.match(whySkipped({ env: {}, bwrap }) ?? '', /No permissions to create new namespace/)
  assert.match(whySkipped({ env: {}, bwrap: join(directory, 'absent') }) ?? '', /ENOENT/)
  assert.match(whySkipped({ env: { TESTS_REQUIRE_SANDBOX: '0', CI: 'true' }, bwrap }) ?? '', /No permissions/)
})

test('npm test decides, unless it is told not to', (context) => {
  const directory = openDirectory()
  context.after(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'told.test.ts')
  writeFileSync(
    file,
    "import { writeSync } from 'node:fs'\nwriteSync(1, `required: ${process.env['TESTS_REQUIRE_SANDBOX']}\\n`)\n",
  )
  const { NODE_TEST_CONTEXT: _inner, TESTS_REQUIRE_SANDBOX: _given, ...env } = process.env
  const saidWith = (more: NodeJS.ProcessEnv): string =>
    spawnSync(process.execPath, ['scripts/check.mjs', file], { cwd: ROOT, encoding: 'utf8', env: { ...env, ...more } })
      .stdout
  assert.match(saidWith({}), /required: 1\n/)
  assert.match(saidWith({ TESTS_REQUIRE_SANDBOX: '0' }), /required: 0\n/)
})
