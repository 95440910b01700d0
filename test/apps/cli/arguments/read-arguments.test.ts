import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readArguments } from '../../../../src/apps/cli/arguments/read-arguments.ts'
import type { Command } from '../../../../src/apps/cli/command.ts'
import { isNexusError } from '../../../../src/kernel/index.ts'

const COMMAND: Command = {
  name: 'skills list',
  summary: 'lists',
  usage: '<name> -- <command>',
  options: {
    json: { type: 'boolean', help: 'as JSON' },
    model: { type: 'string', short: 'm', value: 'NAME', help: 'a model' },
    'skills-dir': { type: 'string', multiple: true, value: 'DIR', help: 'folders' },
  },
  examples: [],
  load: () => Promise.reject(new Error('not loaded in this test')),
}

const read = (...args: string[]) => readArguments(COMMAND, args, () => '/home/me')

test('options are read in every usual form', () => {
  const { flags, positionals } = read('-m', 'a', 'github', '--skills-dir', 'x', '--skills-dir=y', '--json')
  assert.deepEqual({ ...flags }, { model: 'a', 'skills-dir': ['x', 'y'], json: true })
  assert.deepEqual(positionals, ['github'])
})

test('what stands behind -- belongs to the command that is run', () => {
  const { flags, positionals, rest } = read('github', '--', 'ls', '--json', '--', '-m')
  assert.deepEqual([{ ...flags }, positionals, rest], [{}, ['github'], ['ls', '--json', '--', '-m']])
})

test('a value behind = may look like an option', () => {
  assert.equal(read('--model=--json').flags['model'], '--json')
  assert.equal(read('--model', '-').flags['model'], '-')
})

test('with --help no word is too many', () => {
  assert.equal(read('a', 'b', '-h').flags['help'], true)
})

for (const [args, message, fix] of [
  [['--nope'], /has no option --nope/, /^See its options: nexus skills list --help$/],
  [['--modle', 'x'], /has no option --modle/, /^Did you mean --model\?/],
  [['-x'], /has no option -x/, /^See its options: nexus skills list --help$/],
  [['--__proto__'], /has no option --__proto__/, /^See its options: nexus skills list --help$/],
  [['--constructor=1'], /has no option --constructor/, /^See its options: nexus skills list --help$/],
  [['--model'], /--model needs a value/, /^Write --model NAME\.$/],
  [['-m', '--json'], /--model needs a value/, /^Write --model NAME\.$/],
  [['--json=1'], /--json takes no value/, /^Write --json alone\.$/],
  [['--help=1'], /--help takes no value/, /^Write --help alone\.$/],
  [['a', 'b'], /'b' and what follows are not a command without -- before them/, /^Put -- before the command/],
] as const)
  test(`${args.join(' ')} is wrong use: ${message.source}`, () => {
    assert.throws(
      () => read(...args),
      (error: unknown) => {
        assert.ok(isNexusError(error))
        assert.equal(error.code, 'INVALID_ARGUMENT')
        assert.match(error.message, message)
        assert.match(error.fix ?? '', fix)
        return true
      },
    )
  })

test('~ that the shell left in quotes is the home directory where a path is meant', () => {
  const { flags, positionals, rest } = read(
    ...['~/skills/pdf', '--skills-dir', '~/a', '--skills-dir=~', '-m', '~/m'],
    ...['--', 'ls', '~/b'],
  )
  assert.deepEqual({ ...flags }, { model: '~/m', 'skills-dir': ['/home/me/a', '/home/me'] })
  assert.deepEqual([positionals, rest], [['/home/me/skills/pdf'], ['ls', '~/b']])
  const words = (usage: string) => readArguments({ ...COMMAND, usage }, ['~/x'], () => '/home/me').positionals
  assert.deepEqual(['"<task>"|-', '<words…>', '<path…>'].map(words), [['~/x'], ['~/x'], ['/home/me/x']])
})

test('the home directory is looked up only for ~', () => {
  const noHome = (): never => assert.fail('looked up')
  assert.deepEqual(readArguments(COMMAND, ['~other/x', '--skills-dir', 'a~'], noHome).positionals, ['~other/x'])
})
