import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkSandbox, createSandbox } from '../../../src/machine/sandbox/index.ts'
import { IS_ROOT, localOptions, openDirectory } from './local-rig.ts'
import { whySkipped } from './required.ts'
import { COMPILED } from '../../source-tree.ts'

const skip = whySkipped() ?? false
const PARENT = join(import.meta.dirname, 'parent.ts')

function scratch(context: TestContext): string {
  const path = openDirectory()
  context.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Runs `node parent.ts` under a program that changes its rights. */
function runUnder(program: readonly string[], root: string): string {
  const [name = '', ...args] = program
  mkdirSync(join(root, 'work'), { recursive: true })
  const { stdout, stderr } = spawnSync(
    name,
    [...args, process.execPath, COMPILED, PARENT, join(root, 'state'), join(root, 'work'), 'touch ran; echo RAN'],
    { encoding: 'utf8' },
  )
  assert.equal(existsSync(join(root, 'work/ran')), false)
  return stdout + stderr
}

test(
  'a missing bubblewrap is named, with the command that installs it, and nothing is run',
  { skip: process.platform !== 'linux' },
  async (context) => {
    const empty = scratch(context)
    const sandbox = await createSandbox(localOptions({ programDirectories: [empty] }))
    await assert.rejects(sandbox.run({ command: 'touch ran', workspace: empty }), {
      code: 'SANDBOX_UNAVAILABLE',
      message: /bubblewrap \(bwrap\) is not installed/,
      fix: /(?:install|add|-S).* bubblewrap$/,
    })
    assert.equal(existsSync(join(empty, 'ran')), false)
    await sandbox.close()
  },
)

test('a bubblewrap that cannot make namespaces is refused with its own words', { skip }, async (context) => {
  const programs = scratch(context)
  writeFileSync(
    join(programs, 'bwrap'),
    '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2; exit 1\n',
  )
  chmodSync(join(programs, 'bwrap'), 0o755)
  const [found] = await checkSandbox(localOptions({ programDirectories: [programs] }))
  assert.equal(found?.code, 'sandbox-unavailable')
  assert.match(found?.message ?? '', /user namespaces do not work \(bwrap: No permissions to create new namespace\)/)
  assert.notEqual(found?.fix, undefined)
})

test('the check finds nothing where commands can be confined', { skip }, async () => {
  assert.deepEqual(await checkSandbox(localOptions()), [])
})

test('without user namespaces nothing is run, and the setting to change is named', { skip }, (context) => {
  const root = scratch(context)
  const inside = ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--keep-caps', 'sh', '-c']
  const off = 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps -all --ambient-caps -all "$@"'
  if (spawnSync(inside[0] ?? '', [...inside.slice(1), off, 'sh', 'true']).status !== 0)
    return context.skip('this machine cannot nest user namespaces')
  const said = runUnder([...inside, off, 'sh'], root)
  assert.match(
    said,
    /error SANDBOX_UNAVAILABLE .*user namespaces do not work.*\| Type: sysctl -w user\.max_user_namespaces=/,
  )
})

test('root that cannot change its uid is refused', { skip: skip || (!IS_ROOT && 'needs root') }, (context) => {
  const mapped = runUnder(['unshare', '--user', '--map-root-user'], scratch(context))
  assert.match(mapped, /error SANDBOX_UNAVAILABLE .*uid 0 cannot be dropped/)
  const bounded = runUnder(['setpriv', '--bounding-set', '-setuid,-setgid', '--inh-caps', '-all'], scratch(context))
  assert.match(bounded, /error SANDBOX_UNAVAILABLE .*uid 0 cannot be dropped \(setuid: EPERM\)/)
})

test(
  'a state directory that the dropped uid cannot enter is refused with the mode to change',
  { skip: skip || (!IS_ROOT && 'needs root') },
  async (context) => {
    const closed = scratch(context)
    chmodSync(closed, 0o700)
    const [found] = await checkSandbox(localOptions({ stateDir: join(closed, 'state') }))
    assert.match(found?.message ?? '', /uid 200000 cannot enter/)
    assert.match(found?.fix ?? '', /chmod o\+x/)
  },
)

test('a state directory that others can write to is refused', { skip }, async (context) => {
  const open = join(scratch(context), 'state')
  mkdirSync(open)
  chmodSync(open, 0o777)
  const [found] = await checkSandbox(localOptions({ stateDir: open }))
  assert.match(found?.fix ?? '', /chmod go-w/)
})

test(
  'a state directory without space is refused with its path, and leaves nothing half written',
  { skip: skip || (!IS_ROOT && 'needs root') },
  async (context) => {
    const full = openDirectory()
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', full])
    context.after(() => {
      spawnSync('umount', [full])
      rmSync(full, { recursive: true })
    })
    if (status !== 0) return context.skip('no tmpfs can be mounted here')
    const stateDir = join(full, 'state')
    const workspace = scratch(context)
    const run = async () => (await createSandbox(localOptions({ stateDir }))).run({ command: 'true', workspace })
    await assert.rejects(run, (error: Error & { fix?: string }) => {
      assert.match(error.message, /cannot write its files for commands into \S+ \(ENOSPC\)/)
      assert.match(error.fix ?? '', /^Free space/)
      return true
    })
    assert.deepEqual(readdirSync(join(stateDir, 'stages')), [])
  },
)
