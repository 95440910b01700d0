import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Place } from './nexus.ts'

/** What bash would offer after these words; the last is the one being typed. */
function offers(script: string, words: readonly string[]): string[] {
  const line = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nexus; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, status, stderr } = spawnSync('bash', ['-c', line, script, ...words], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout.split('\n').filter((word) => word !== '')
}

test('bash completes commands, their second words and their options', async (t) => {
  const place = new Place(t)
  const script = join(place.root, 'nexus.bash')
  writeFileSync(script, (await place.run(['completion', 'bash'])).stdout)
  assert.deepEqual(offers(script, ['nexus', 'do']), ['doctor'])
  assert.ok(offers(script, ['nexus', 'skills', '']).includes('list'))
  assert.deepEqual(offers(script, ['nexus', 'skills', 'list', '--js']), ['--json'])
  assert.deepEqual(offers(script, ['nexus', 'run', '--mod']), ['--model'])
})

for (const shell of ['bash', 'zsh', 'fish']) {
  const isThere = spawnSync(shell, ['--version']).status === 0
  test(
    `the script for ${shell} has no fault of syntax`,
    { skip: !isThere && `${shell} is not installed` },
    async (t) => {
      const place = new Place(t)
      const script = join(place.root, 'completion')
      writeFileSync(script, (await place.run(['completion', shell])).stdout)
      const check = spawnSync(shell, ['-n', script], { encoding: 'utf8' })
      assert.equal(check.status, 0, check.stderr)
    },
  )
}

test('an unknown shell is answered with the known ones', async (t) => {
  const { code, stderr } = await new Place(t).run(['completion', 'cmd'])
  assert.equal(code, 2)
  assert.match(stderr, /bash, zsh or fish/)
})
