import assert from 'node:assert/strict'
import { type SpawnOptions, spawnSync, type SpawnSyncOptionsWithStringEncoding } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { COMMANDS } from '../../../src/apps/cli/table.ts'
import { Place } from './nexus.ts'

/** What bash would offer after these words; the last is the one being typed. */
function offers(script: string, words: readonly string[], options?: SpawnOptions): string[] {
  const line = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nexus; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, status, stderr } = spawnSync('bash', ['-c', line, script, ...words], inText(options))
  assert.equal(status, 0, stderr)
  return stdout.split('\n').filter((word) => word !== '')
}

test('bash completes commands, their second words and their options', async (t) => {
  const place = new Place(t)
  const script = join(place.root, 'nexus.bash')
  writeFileSync(script, (await place.run(['completion', 'bash'])).stdout)
  const bash = (words: readonly string[]): string[] => offers(script, words, place.options())
  assert.deepEqual(bash(['nexus', 'do']), ['doctor'])
  assert.ok(bash(['nexus', 'skills', '']).includes('list'))
  assert.deepEqual(bash(['nexus', 'skills', 'list', '--js']), ['--json'])
  assert.deepEqual(bash(['nexus', 'run', '--mod']), ['--model'])
})

/** What zsh would offer: its own functions for it only work while somebody types, so they print what they are given. */
const ZSH = `
  compdef() { }
  compadd() { shift; print -l -- "$@" }
  _describe() { print -l -- "\${(@)\${(P)2}%%:*}" }
  _files() { print -r -- "<files\${1:+ $1}>" }
  _message() { print -r -- "<$1>" }
  compset() { words[CURRENT]=\${words[CURRENT]#*=} }
  source "$0"; words=("$@"); CURRENT=$#; _nexus`

/** What each shell offers after these words; the last is the one being typed. */
const SHELLS: Readonly<Record<string, typeof offers>> = {
  bash: offers,
  zsh: (script, words, options) => lines(spawnSync('zsh', ['-f', '-c', ZSH, script, ...words], inText(options))),
  fish: (script, words, options) => {
    const typed = words.map((word) => word.replaceAll("'", '')).join(' ')
    const line = `complete -c nexus -e; source ${script}; complete -C '${typed}'`
    return lines(spawnSync('fish', ['--no-config', '-c', line], inText(options))).map(
      (offer) => offer.split('\t')[0]?.replace(/^--\w+=/, '') ?? '',
    )
  },
}

function inText({ cwd, env }: SpawnOptions = {}): SpawnSyncOptionsWithStringEncoding {
  return { cwd, env, encoding: 'utf8' }
}

function lines({ stdout, stderr }: { stdout: string; stderr: string }): string[] {
  assert.equal(stderr, '')
  return stdout.split('\n').filter((word) => word !== '')
}

/** Every value that is one of some words, in the order in which help names them. */
const VALUES: readonly (readonly [line: string, values: readonly string[]])[] = [
  ['prompt --style', ['markdown', 'xml', 'list', 'names']],
  ['prompt --budget 5 --style', ['markdown', 'xml', 'list', 'names']],
  ['skills validate --format', ['text', 'json', 'sarif', 'github']],
  ['skills validate x --strict --profile', ['spec', 'claude', 'openclaw']],
  ['skills migrate --to', ['nexus', 'flat']],
  ['skills run --sandbox', ['local', 'none']],
  ['run --sandbox', ['local', 'none']],
  ['demo --sandbox', ['local', 'none']],
  ['completion', ['bash', 'zsh', 'fish']],
]

for (const [shell, offered] of Object.entries(SHELLS)) {
  const isThere = spawnSync(shell, ['--version']).status === 0
  const skip = !isThere && `${shell} is not installed`

  test(`${shell} completes the values of options that are one of some words`, { skip }, async (t) => {
    const place = new Place(t)
    const script = join(place.root, 'completion')
    writeFileSync(script, (await place.run(['completion', shell])).stdout)
    for (const [line, values] of VALUES) {
      const words = ['nexus', ...line.split(' ')]
      const found = offered(script, [...words, ''], place.options()).filter((word) => !word.startsWith('-'))
      assert.deepEqual(found.toSorted(), values.toSorted(), line)
    }
    const half = shell === 'bash' ? ['nexus', 'prompt', '--style', '=', ''] : ['nexus', 'prompt', '--style=']
    assert.deepEqual(offered(script, half, place.options()).toSorted(), ['list', 'markdown', 'names', 'xml'])
    assert.deepEqual(offered(script, ['nexus', 'prompt', '--budget', ''], place.options()), [], 'it takes any word')
    assert.deepEqual(offered(script, ['nexus', 'prompt', '--agent', ''], place.options()), ['main'])
  })

  test(`${shell} completes the names that the typed nexus gives`, { skip }, async (t) => {
    const place = new Place(t)
    const script = join(place.root, 'completion')
    writeFileSync(script, (await place.run(['completion', shell])).stdout)
    const { stdout } = await place.run(['skills', 'list', '--all', '--json'])
    const { skills, held, shadowed, invalid } = JSON.parse(stdout).data as Record<string, { name: string }[]>
    const names = [...new Set([skills, held, shadowed, invalid].flatMap((each = []) => each.map(({ name }) => name)))]
    assert.ok(names.length > 0)
    const withoutOptions = (word: string): boolean => !/^-|^<.*>$/.test(word)
    const found = offered(script, ['nexus', 'skills', 'show', ''], place.options()).filter(withoutOptions)
    assert.deepEqual(found.toSorted(), names.toSorted())
  })

  test(`the script for ${shell} has no fault of syntax`, { skip }, async (t) => {
    const place = new Place(t)
    const script = join(place.root, 'completion')
    writeFileSync(script, (await place.run(['completion', shell])).stdout)
    const check = spawnSync(shell, ['-n', script], { encoding: 'utf8' })
    assert.equal(check.status, 0, check.stderr)
  })
}

test('what completion offers for an option is what its command takes, and what its help names', async (t) => {
  const place = new Place(t)
  const seen = new Set<string>()
  for (const { name, options = {} } of COMMANDS) {
    for (const [option, { choices, help }] of Object.entries(options)) {
      if (choices === undefined) continue
      seen.add(option)
      for (const choice of choices) assert.ok(help.includes(choice), `--help of ${name} --${option} names ${choice}`)
      const positional = /path|name|task|session|<id>/.test(COMMANDS.find((each) => each.name === name)?.usage ?? '')
        ? ['x']
        : []
      const rest = name === 'skills run' ? ['--', 'true'] : []
      const { code, stderr } = await place.run([...name.split(' '), ...positional, `--${option}`, 'zzz', ...rest])
      assert.equal(code, 2, `${name} --${option}: ${stderr}`)
      assert.ok(stderr.includes(`is not supported. Supported: ${choices.join(', ')}.`), stderr)
    }
  }
  assert.deepEqual([...seen].toSorted(), [
    'format',
    'log-level',
    'origin',
    'profile',
    'remember',
    'sandbox',
    'scope',
    'style',
    'to',
  ])
})

test('an unknown shell is answered with the known ones', async (t) => {
  const { code, stderr } = await new Place(t).run(['completion', 'cmd'])
  assert.equal(code, 2)
  assert.match(stderr, /Supported: bash, zsh, fish/)
})
