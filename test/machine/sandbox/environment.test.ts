import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkEnvironment, refusedVariable } from '../../../src/machine/sandbox/index.ts'

const REFUSED = [
  'LD_PRELOAD', 'LD_AUDIT', 'DYLD_LIBRARY_PATH', 'GCONV_PATH', 'NODE_OPTIONS', 'NODE_PATH', 'PYTHONPATH', 'PYTHONHOME', 'PERL5OPT', 'PERL5DB',
  'RUBYOPT', 'PHPRC', 'BASH_ENV', 'BASH_FUNC_ls', 'ENV', 'PROMPT_COMMAND', 'PATH', 'HOME', 'TMPDIR', 'IFS', 'CDPATH', 'GIT_SSH', 'GIT_CONFIG_COUNT',
  'GIT_EXTERNAL_DIFF', 'SSH_ASKPASS', 'EDITOR', 'PAGER', 'MANPAGER', 'https_proxy', 'No_Proxy', 'SSL_CERT_FILE', 'OPENSSL_CONF', 'JAVA_TOOL_OPTIONS',
  '_JAVA_OPTIONS', 'npm_config_script_shell', 'PIP_EXTRA_INDEX_URL', 'UV_INDEX_URL', 'CARGO_HOME', 'GOFLAGS', 'MAKEFLAGS', 'XDG_DATA_HOME', 'NEXUS_HOME',
  'UID', 'BASHOPTS', 'AWS_CONFIG_FILE', 'DOCKER_HOST', 'ELECTRON_RUN_AS_NODE',
] // oxfmt-ignore
const GIVEN = [
  'GITHUB_TOKEN',
  'OPENAI_API_KEY',
  'AWS_ACCESS_KEY_ID',
  'MY_MODE',
  'NODE_ENV',
  'DEBUG',
  '_private',
  'a',
  'constructor',
  'toString',
]
const NO_NAMES = ['', '1A', 'A-B', 'A B', 'A=B', 'A\nB', 'A\0', 'Ä', '\uff21', 'A'.repeat(201)]

test('names that steer a loader, an interpreter or another program are refused in any spelling', () => {
  for (const name of REFUSED) {
    for (const spelt of [name, name.toLowerCase(), name.toUpperCase()])
      assert.match(refusedVariable(spelt) ?? '', /controls/, spelt)
  }
})

test('ordinary names are given, also those that objects have by nature', () => {
  for (const name of GIVEN) assert.equal(refusedVariable(name), undefined, name)
})

test('what is no name is refused as such', () => {
  for (const name of NO_NAMES) assert.match(refusedVariable(name) ?? '', /is not a name/, JSON.stringify(name))
})

test('values that no process can be given are refused by name', () => {
  const message = /MY_VALUE/
  assert.throws(() => checkEnvironment({ MY_VALUE: 'a\0b' }), { code: 'INVALID_ARGUMENT', message })
  assert.throws(() => checkEnvironment({ MY_VALUE: 'x'.repeat(100_001) }), { code: 'INVALID_ARGUMENT', message })
  assert.throws(
    () =>
      checkEnvironment(Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`V${index}`, 'x'.repeat(99_000)]))),
    { code: 'INVALID_ARGUMENT' },
  )
})

const corpus = process.env['NEXUS_CORPUS'] ?? join(import.meta.dirname, '../../../../shared/corpus')
const list = join(corpus, '../attacks/lists/env-keys.json')

test(
  'every case of the list of attacks is decided as expected',
  { skip: !existsSync(list) && 'the list is not here' },
  () => {
    const { cases } = JSON.parse(readFileSync(list, 'utf8')) as {
      cases: { id: string; name?: string; expect: string }[]
    }
    const expected = { refuse: /controls/, error: /is not a name/, unset: undefined, accept: undefined } as const
    for (const { id, name, expect } of cases) {
      if (name === undefined) continue
      const wanted = expected[expect as keyof typeof expected]
      if (wanted) assert.match(refusedVariable(name) ?? '', wanted, `${id} ${name}`)
      else assert.equal(refusedVariable(name), undefined, `${id} ${name}`)
    }
  },
)
