import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coversCommand, shownCall, shownCommand } from '../../src/authorize/index.ts'

const shown = (command: string) => shownCommand({ tool: 'run_command', arguments: { command } })

const PREFIXES: Readonly<Record<string, string>> = {
  'git log --oneline': 'git log',
  'npm run test': 'npm run test',
  'npm install left-pad': 'npm install',
  'cargo build --release': 'cargo build',
}

for (const [command, prefix] of Object.entries(PREFIXES))
  test(`${command} can be remembered as ${prefix}`, () => assert.equal(shown(command).prefix, prefix))

const NONE = [
  'timeout 5 ls',
  'bash ./check.sh',
  'sudo -n ls',
  'env ls',
  'python3 tests/a.py',
  'python3.12 -m x',
  'git -C sub log',
  'npm run',
  'npm exec x',
  'npx prettier',
  'yarn dlx x',
  'uv run x',
  'X=1 git log',
  'git log; rm -rf x',
  'git log\nrm -rf x',
  'git log | sh',
  '/usr/bin/env git',
  // Options of these name a program to run.
  'tar cf a.tar f',
  'sort f',
  'rg word',
  'sed p f',
  'man ls',
  'vim f',
  'git grep word',
  'git fetch origin',
  'git rebase main',
  '/usr/bin/git pull origin',
  // Variables before a command change what it loads.
  'LD_PRELOAD=./x.so ls f',
  'PATH=.:/usr/bin git status',
]

for (const command of NONE)
  test(`no beginning of ${JSON.stringify(command)} is offered`, () => assert.equal(shown(command).prefix, undefined))

test('a remembered script of a runner covers no other script', () => {
  const answer = { match: 'prefix', text: 'npm run test' } as const
  assert.equal(coversCommand(answer, shown('npm run test -- --watch')), true)
  assert.equal(coversCommand(answer, shown('npm run deploy')), false)
  assert.equal(coversCommand({ match: 'prefix', text: 'timeout' }, shown('timeout 5 rm -rf src')), false)
})

test('a person is shown a command as it runs, and beside it its other arguments', () => {
  const call = (args: Record<string, string>) => shownCall({ tool: 'run_command', arguments: args })
  assert.deepEqual(call({ command: 'echo "a"' }), { command: 'echo "a"' })
  assert.deepEqual(call({ skill_name: 's', command: 'echo "a"\nls', cwd: 'x' }), {
    command: 'echo "a"\nls',
    more: '{"cwd":"x","skill_name":"s"}',
  })
  assert.deepEqual(shownCall({ tool: 'write_file', arguments: { path: 'a', content: 'b' } }), {
    command: '{"content":"b","path":"a"}',
  })
})
