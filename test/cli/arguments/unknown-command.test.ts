import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Place } from '../nexus.ts'

/** What was typed, and what stderr must say. All of it is wrong use: exit code 2, and nothing but the document of `--json` on stdout. */
const MISTAKES: readonly (readonly [string, RegExp])[] = [
  ['skils list', /no command 'nexus skils list'\.\n {2}fix: Did you mean: nexus skills list\?/],
  ['skils', /fix: Did you mean: nexus skills\?/],
  ['skills lst', /fix: Did you mean: nexus skills list\?/],
  ['docter', /fix: Did you mean: nexus doctor\?/],
  ['validate ./skills', /fix: Did you mean: nexus skills validate\?/],
  ['list', /fix: Did you mean: nexus skills list\?/],
  ['frobnicate', /no command 'nexus frobnicate'\.\n {2}fix: See: nexus --help/],
  ['help frobnicate', /no command 'nexus frobnicate'/],
  ['version', /fix: Did you mean: nexus --version\?/],
  ['--verison', /no option '--verison'.*\n {2}fix: Did you mean: nexus --version\?/],
  ['-v', /no option '-v'.*\n {2}fix: Did you mean: nexus --version\?/],
  ['--json skills list', /fix: Options stand behind the command: nexus skills list --json/],
  [
    'skills list extra',
    /nexus skills list: 'extra' is one argument too many\.\n {2}fix: See: nexus skills list --help/,
  ],
  ['skills list -- extra', /'extra' is one argument too many/],
  ['skills show a b', /'b' is one argument too many/],
  ['doctor now', /'now' is one argument too many/],
  [
    'config check ./other.yaml',
    /'\.\/other\.yaml' is one argument too many\.\n {2}fix: nexus config check --config \.\/other\.yaml/,
  ],
  ['skills list --agent', /--agent needs a value\.\n {2}fix: --agent ID/],
  ['skills list --agent --json', /--agent needs a value\.\n {2}fix: --agent ID/],
  ['skills list --json=1', /--json takes no value\.\n {2}fix: --json/],
  ['skills list --alll', /Unknown option '--alll'\.\n {2}fix: Did you mean --all\?/],
  ['skills list -x', /Unknown option '-x'\.\n {2}fix: See: nexus skills list --help/],
  ['skills', /^Usage: nexus skills <command>[\s\S]* {2}skills list /],
  ['skills --json', /nexus skills: the command is missing/],
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
