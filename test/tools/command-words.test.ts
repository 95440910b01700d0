import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { run } from './command-rig.ts'
import { messageOf } from './rig.ts'

describe('the courtesy list of run_command', () => {
  const refused: readonly (readonly [string, string])[] = [
    ['', 'Command is required'],
    [' \n', 'Empty command'],
    ['rm -rf x', `Command 'rm' is blocked for safety`],
    ['ls;rm x', `Command 'rm' is blocked for safety`],
    ['env A=1 rm x', `Command 'rm' is blocked for safety`],
    ['ls && sudo id', `Command 'sudo' is blocked for safety`],
    ['echo $(rm x)', `Command 'rm' is blocked for safety`],
    ['echo `dd if=a`', `Command 'dd' is blocked for safety`],
    ['find . | xargs rm', `Command 'rm' is blocked for safety`],
    [`r''m x`, `Command 'rm' is blocked for safety`],
    ['/bin/mv a b', `Command 'mv' is blocked for safety`],
    ['if true; then chmod 777 x; fi', `Command 'chmod' is blocked for safety`],
    ['cat x > /dev/sda', 'Command contains dangerous pattern: > /dev/'],
    ['ls\u200b', 'Command contains the hidden character U+200B.'],
    ['echo ok\rrm x', 'Command contains the hidden character U+000D.'],
    ['ls \u0000', 'Command contains the hidden character U+0000.'],
    ['echo \u202e', 'Command contains the hidden character U+202E.'],
    ['x'.repeat(100_001), 'Command is longer than 100000 bytes.'],
  ]
  for (const [command, message] of refused) {
    it(`refuses ${JSON.stringify(command.slice(0, 40))}`, async () => {
      const { outcome, sandbox } = await run({ command }, { isUnconfined: true })
      assert.equal(outcome.type, 'failed')
      assert.equal(messageOf(outcome), message)
      assert.equal(sandbox.requests.length, 0)
    })
  }

  const passed = [
    'ls > /dev/null 2>&1',
    'echo "a; rm b"',
    'git rm x',
    'npm init -y',
    `python3 - <<'EOF'\ndel x\nformat = 1\nEOF`,
    'for f in *.csv; do node make.mjs "$f"; done',
    'echo 👩‍💻 > x',
    'printf "%s\\n" rm',
    'cat a\t|\nsort',
  ]
  for (const command of passed) {
    it(`lets ${JSON.stringify(command)} through`, async () => {
      assert.equal((await run({ command }, { isUnconfined: true })).outcome.type, 'success')
    })
  }

  it('refuses no word where commands are confined', async () => {
    for (const command of ['rm -rf x', 'chmod +x run.sh', 'mv a b', 'cat x > /dev/sda'])
      assert.equal((await run({ command })).outcome.type, 'success', command)
  })

  it('can be replaced, switched off, or turned into a list of what is allowed', async () => {
    assert.equal(
      (await run({ command: 'rm x' }, { execution: { blockedCommands: [] }, isUnconfined: true })).outcome.type,
      'success',
    )
    assert.match(
      messageOf((await run({ command: 'curl x' }, { execution: { blockedCommands: ['curl'] } })).outcome),
      /'curl' is blocked/,
    )
    const allowed = { allowedCommands: ['ls', 'rm'] }
    assert.equal((await run({ command: 'ls | rm x' }, { execution: allowed })).outcome.type, 'success')
    assert.equal(
      messageOf((await run({ command: 'ls | cat' }, { execution: allowed })).outcome),
      `Command 'cat' is not in the allowed list`,
    )
  })

  it('refuses texts of the settings wherever they are, and then only those', async () => {
    const execution = { blockedPatterns: ['| sudo', '--force'] }
    for (const [command, pattern] of [
      ['id | sudo sh', '| sudo'],
      ['git push --force', '--force'],
    ] as const)
      assert.equal(
        messageOf((await run({ command }, { execution })).outcome),
        `Command contains dangerous pattern: ${pattern}`,
      )
    const { outcome } = await run({ command: 'echo x > /dev/sdz' }, { execution, isUnconfined: true })
    assert.equal(outcome.type, 'success')
  })
})
