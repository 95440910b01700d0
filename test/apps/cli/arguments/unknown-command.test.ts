import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Place } from '../nexus.ts'

/** What was typed, and what stderr must say. All of it is wrong use: exit code 2, and nothing but the document of `--json` on stdout. */
const MISTAKES: readonly (readonly [string, RegExp])[] = [
  ['skils list', /no command 'nexus skils list'\.\n {2}fix: Did you mean: nexus skills list$/m],
  ['skils', /fix: Did you mean: nexus skills$/m],
  ['skills lst', /fix: Did you mean: nexus skills list$/m],
  ['docter', /fix: Did you mean: nexus doctor$/m],
  ['validate ./skills', /fix: Did you mean: nexus skills validate$/m],
  ['list', /fix: Did you mean: nexus skills list$/m],
  ['frobnicate', /no command 'nexus frobnicate'\.\n {2}fix: See all commands: nexus --help$/m],
  ['help frobnicate', /no command 'nexus frobnicate'/],
  ['version', /fix: Did you mean: nexus --version$/m],
  ['--verison', /no option '--verison'.*\n {2}fix: Write options after the command.* nexus --help$/m],
  ['--json skills list', /no option '--json'.*\n {2}fix: Write options after the command.* nexus --help$/m],
  [
    'skills list extra',
    /nexus skills list does not take the argument 'extra'\.\n {2}fix: Remove it, or see what .*: nexus skills list --help$/m,
  ],
  ['skills list -- extra', /does not take the argument 'extra'/],
  ['skills show a b', /does not take the argument 'b'/],
  ['doctor now', /does not take the argument 'now'/],
  [
    'config check ./other.yaml',
    /does not take .*'\.\/other\.yaml'\.\n {2}fix: Remove it, or see what .*: nexus config check --help$/m,
  ],
  ['skills list --agent', /--agent needs a value\.\n {2}fix: Write --agent ID\./],
  ['skills list --agent --json', /--agent needs a value\.\n {2}fix: Write --agent ID\./],
  ['skills list --json=1', /--json takes no value\.\n {2}fix: Write --json alone\./],
  ['skills list --alll', /has no option --alll\.\n {2}fix: Did you mean --all\?/],
  ['skills list -x', /has no option -x\.\n {2}fix: See its options: nexus skills list --help$/m],
  [
    'prompt --budget -1',
    /'-1' after --budget is read as another option.*\n {2}fix: If it is the value, write --budget=-1\./,
  ],
  ['skills', /^Usage: nexus skills <command>[\s\S]* {2}skills list /],
  ['skills --json', /nexus skills needs one of its commands: list, show, /],
]

for (const [typed, says] of MISTAKES)
  test(`nexus ${typed} is wrong use, and the answer says what to type`, async (t) => {
    const { code, stdout, stderr } = await new Place(t).run(typed.split(' '))
    assert.equal(code, 2, stderr)
    assert.match(stderr, says)
    const isDocument = typed.includes('--json') && !typed.includes('--json=')
    assert.equal(isDocument ? (JSON.parse(stdout) as { ok: boolean }).ok : stdout, isDocument ? false : '')
  })

test('help of a group is asked for and so goes to stdout', async (t) => {
  for (const args of [
    ['skills', '--help'],
    ['skills', '-h'],
    ['help', 'skills'],
  ]) {
    const { code, stdout, stderr } = await new Place(t).run(args)
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /^Usage: nexus skills <command>/)
  }
})
