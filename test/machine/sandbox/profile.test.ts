import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { wrapCommandWithSandboxLinux } from '@anthropic-ai/sandbox-runtime/dist/sandbox/linux-sandbox-utils.js'
import { bwrapArguments } from '../../../src/machine/sandbox/runner/profile.ts'
import { openDirectory, openRig } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped() ?? false
const READABLE = ['/usr', '/etc', '/lib', '/lib64', '/bin', '/sbin'].filter((path) => existsSync(path))
const LIMITS = {
  memoryBytes: 9,
  freeDiskBytes: 9,
  projectMemoryBytes: 9,
  projectProcesses: 9,
  processes: 512,
  openFiles: 4096,
  fileSizeBytes: 2 ** 30,
  dataBytes: 2 ** 32,
  sharedMemoryBytes: 2 ** 26,
}

/** Number of arguments of the options that the library uses today; another one is an update to look at. */
const LIBRARY_OPTIONS: Readonly<Record<string, number>> = {
  '--new-session': 0, '--die-with-parent': 0, '--unshare-net': 0, '--unshare-pid': 0, '--unshare-user': 0, '--ro-bind': 2,
  '--bind': 2, '--tmpfs': 1, '--dev': 1, '--proc': 1, '--cap-drop': 1, '--cap-add': 1, '--unsetenv': 1,
} // oxfmt-ignore

type Option = readonly string[]

function optionsOf(words: readonly string[], arity: (name: string) => number): Option[] {
  const options: Option[] = []
  for (let at = 0; at < words.length && words[at] !== '--';) {
    const end = at + 1 + arity(words[at] ?? '')
    options.push(words.slice(at, end))
    at = end
  }
  return options
}

/** What the library would call bubblewrap with for our policy. It looks into the directory that it runs in. */
async function libraryOptions(root: string, workspace: string): Promise<Option[]> {
  const spy = join(root, 'bwrap')
  writeFileSync(spy, `#!/bin/bash\nprintf '%s\\0' "$@"\n`)
  chmodSync(spy, 0o755)
  const empty = join(root, 'empty')
  mkdirSync(empty)
  const before = process.cwd()
  process.chdir(empty)
  try {
    const line = await wrapCommandWithSandboxLinux({
      command: 'true',
      needsNetworkRestriction: true,
      readConfig: { denyOnly: ['/'], allowWithinDeny: READABLE },
      writeConfig: { allowOnly: [workspace], denyWithinAllow: [] },
      binShell: 'bash',
      bwrapPath: spy,
      ripgrepConfig: { command: '/bin/true' },
    })
    const words = spawnSync('/bin/sh', ['-c', line], { encoding: 'utf8' }).stdout.split('\0')
    return optionsOf(words, (name) => LIBRARY_OPTIONS[name] ?? assert.fail(`the library uses ${name} now`))
  } finally {
    process.chdir(before)
  }
}

test("what the library's own profile forbids, ours forbids too", { skip }, async (context) => {
  const root = openDirectory()
  context.after(() => rmSync(root, { recursive: true, force: true }))
  const workspace = join(root, 'work')
  mkdirSync(workspace)
  const library = await libraryOptions(root, workspace)
  const run = { workspace: { source: workspace, path: workspace }, view: undefined, places: [], way: undefined }
  const policy = {
    bwrap: 'bwrap',
    unshare: undefined,
    relay: undefined,
    helper: '/stage/apply-seccomp',
    readable: READABLE,
    liveDirectory: root,
    group: undefined,
    limits: LIMITS,
  }
  const ours = bwrapArguments(policy, run, join(root, 'temp'))
  const has = (option: Option): boolean => ours.join('\0').includes(option.join('\0'))
  const forbids = library.filter(([name]) => /^--(?:new|die|unshare|cap-drop|proc|dev)/.test(name ?? ''))
  assert.ok(forbids.length >= 7, `only ${forbids.length} options that forbid: did the library change?`)
  for (const option of forbids) assert.ok(has(option), option.join(' '))
  assert.equal(ours.includes('--cap-add'), false)
  assert.deepEqual(ours.slice(ours.indexOf('--') + 1, -2), ['/stage/apply-seccomp', '/bin/bash'])
  assert.ok(has(['--setenv', 'SRT_ALLOW_NESTED_USERNS', '0']))

  // Hidden there: an empty directory, or a file without content.
  const hidden = library
    .filter(([name, source]) => name === '--tmpfs' || source === '/dev/null')
    .map((option) => option.at(-1) ?? '')
    .filter((path) => path !== '/tmp')
  assert.ok(hidden.includes('/home') && hidden.includes('/root'), hidden.join(' '))
  const rig = await openRig(context)
  const { stdout } = await rig.run(
    `for p in ${hidden.join(' ')}; do find "$p" -type f -size +0 2>/dev/null | head -3; done`,
  )
  const own = (path: string): boolean => path.includes('/stages/') || path.includes('/revisions/')
  assert.deepEqual(
    stdout.split('\n').filter((path) => path !== '' && !own(path)),
    [],
  )
})

test('the root of a command has only what it needs, and nothing can be written into it', { skip }, async (context) => {
  const { run } = await openRig(context)
  const { stdout } = await run(
    'ls -A / | tr "\\n" " "; for p in / /etc /usr /sys /dev /run; do touch $p/x 2>/dev/null && echo "wrote $p"; done; true',
  )
  const names = stdout.trim().split(' ')
  const known = [
    'bin',
    'dev',
    'etc',
    'lib',
    'lib32',
    'lib64',
    'libx32',
    'proc',
    'sbin',
    'sys',
    'tmp',
    'usr',
    'var',
    'home',
    'root',
    'work',
  ]
  assert.deepEqual(
    names.filter((name) => !known.includes(name)),
    [],
  )
})
