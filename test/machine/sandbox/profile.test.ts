import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBwrapLine, splitWords } from '../../../src/machine/sandbox/runner/bwrap-line.ts'
import { type Exists, Protection } from '../../../src/machine/sandbox/guard/protected.ts'

const HELPER = `'SRT_ALLOW_NESTED_USERNS=0 /stage/apply-seccomp /usr/bin/bash -c '"'"'exit'"'"`
const LINE = `/usr/bin/bwrap --new-session --die-with-parent --unshare-net --ro-bind / / --bind /w /w --tmpfs /tmp --ro-bind '/my dir' '/my dir' --dev /dev --unshare-pid --unshare-user --cap-drop ALL --proc /proc --unsetenv SRT_ALLOW_NESTED_USERNS -- /usr/bin/bash -c ${HELPER}''`

test("the library's line is read back into the words it was made of", () => {
  const call = parseBwrapLine(LINE)
  assert.equal(call.program, '/usr/bin/bwrap')
  assert.deepEqual(
    call.options.find(([name, path]) => name === '--ro-bind' && path !== '/'),
    ['--ro-bind', '/my dir', '/my dir'],
  )
  assert.deepEqual(call.command, [
    '/usr/bin/bash',
    '-c',
    "SRT_ALLOW_NESTED_USERNS=0 /stage/apply-seccomp /usr/bin/bash -c 'exit'",
  ])
})

test('a line without one of the parts that confine is refused', () => {
  const parts = [
    '--unshare-net ',
    '--unshare-pid ',
    '--unshare-user ',
    '--cap-drop ALL ',
    '--die-with-parent ',
    '--new-session ',
    '--proc /proc ',
    '--tmpfs /tmp ',
    '--ro-bind / / ',
    '--dev /dev ',
    '--unsetenv SRT_ALLOW_NESTED_USERNS ',
  ]
  for (const part of parts) assert.throws(() => parseBwrapLine(LINE.replace(part, '')), /bwrap line changed/, part)
})

test('a line with an option that we do not know, or without the seccomp helper, is refused', () => {
  assert.throws(
    () => parseBwrapLine(LINE.replace('--dev /dev', '--dev-bind / / --dev /dev')),
    /unknown option --dev-bind/,
  )
  assert.throws(() => parseBwrapLine(LINE.replace('--dev /dev', '--setenv A b --dev /dev')), /unknown option --setenv/)
  assert.throws(() => parseBwrapLine(LINE.replace(HELPER, 'true')), /seccomp helper/)
  assert.throws(() => parseBwrapLine(LINE.replace('NESTED_USERNS=0 ', 'NESTED_USERNS=1 ')), /seccomp helper/)
})

test('anything that a shell would act on is no word', () => {
  for (const line of ['a $b', 'a `b`', 'a;b', 'a & b', 'a > b', 'a  b', "a 'b", 'a "b"', 'a *', 'a\nb'])
    assert.throws(() => splitWords(line), /bwrap line changed/, line)
})

const everything = (): boolean => true
const nothing = (): boolean => false

/** The place of a path in a workspace of which everything was there before. */
function protectedPlace(path: string, kind: string, exists: Exists): string | undefined {
  return new Protection({ paths: [], writable: [] }).placeOf(path, kind, { exists, wasRepository: everything })
}

test('protected places are found at any depth and in any spelling', () => {
  const cases: readonly [string, string | undefined, string?][] = [
    ['.git/hooks/pre-commit', '.git/hooks'],
    ['.git/config', '.git/config'],
    ['.GIT/Hooks/x', '.GIT/Hooks'],
    ['vendor/x/.git/config', 'vendor/x/.git/config'],
    ['.git/modules/a/hooks/x', '.git/modules/a/hooks'],
    ['.git/worktrees/a/commondir', '.git/worktrees/a/commondir'],
    ['.git', '.git', 'file'],
    ['sub/.git', 'sub/.git', 'link'],
    ['.git', undefined, 'directory'],
    ['.git/HEAD', undefined],
    ['.git/refs/heads/config', undefined],
    ['.git/logs/refs/heads/hooks/x', undefined],
    ['.claude/settings.json', '.claude'],
    ['a/.mcp.json', 'a/.mcp.json'],
    ['nexus.yaml', 'nexus.yaml'],
    ['.nexus/state', '.nexus'],
    ['src/config', undefined],
    ['hooks/x', undefined],
    ['.gitignore', undefined],
    ['my.claude', undefined],
    ['skills/x/SKILL.md', 'skills'],
    ['Skills', 'Skills'],
    ['docs/skills/x', undefined],
    ['.agents/skills/x', '.agents'],
    ['a.code-workspace', 'a.code-workspace'],
    ['.hg/hgrc', '.hg/hgrc'],
    ['.hg/store/data', undefined],
    ['.jj/repo/config.toml', '.jj/repo/config.toml'],
    ['config.toml', undefined],
    ['sub/.npmrc', 'sub/.npmrc'],
    ['package.json', undefined],
    ['Makefile', undefined],
    ['.env', undefined],
    ['AGENTS.md', undefined],
  ]
  for (const [path, place, kind = 'file'] of cases) assert.equal(protectedPlace(path, kind, nothing), place, path)
})

test('a repository without .git is known by what it holds', () => {
  assert.equal(protectedPlace('bare/config', 'file', everything), 'bare/config')
  assert.equal(protectedPlace('bare/hooks/x', 'file', everything), 'bare/hooks')
  assert.equal(protectedPlace('config', 'file', everything), 'config')
  assert.equal(
    protectedPlace('bare/config', 'file', (path) => path === 'bare/HEAD'),
    undefined,
  )
})
