import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findGroup, makeRunnerGroup } from '../../../src/machine/sandbox/local/cgroup.ts'
import { withDefaults } from '../../../src/machine/sandbox/local/options.ts'
import { reachedTogether } from '../../../src/machine/sandbox/runner/reached.ts'
import { openGroup } from '../../../src/machine/sandbox/runner/cgroup.ts'
import { Watch } from '../../../src/machine/sandbox/runner/watch.ts'
import { IS_ROOT, localOptions, openDirectory, openRig } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped() ?? false
const MIB = 1024 * 1024
/** Much longer than the limits need: only they end these commands. */
const timeoutMs = 60_000

test('a fork bomb ends with the limit and its setting named, and the next command runs', { skip }, async (context) => {
  const { run } = await openRig(context, { limits: { processes: 64 } })
  const ended = await run(':(){ :|:& };:; sleep 60', { timeoutMs, maxOutputBytes: 1000 })
  assert.deepEqual([ended.end, ended.exitCode], ['killed', 137])
  assert.match(ended.notes.join(), /more than 64 processes and threads.*execution\.limits\.processes/)
  assert.equal((await run('echo alive')).stdout, 'alive\n')
})

test('processes that use too much memory together end, and the next command runs', { skip }, async (context) => {
  const { run } = await openRig(context, { limits: { memoryBytes: 200 * MIB } })
  const hold = `node -e "const held = Buffer.alloc(${60 * MIB}, 1); setTimeout(() => held, 60000)"`
  const ended = await run(`for i in 1 2 3 4; do ${hold} & done; wait`, { timeoutMs })
  assert.deepEqual([ended.end, ended.exitCode], ['killed', 137])
  assert.match(ended.notes.join(), /more than 200 MiB of memory.*execution\.limits\.memoryBytes/)
  assert.equal((await run('echo alive')).stdout, 'alive\n')
})

test('memory that processes share is counted once', { skip }, async (context) => {
  const { run } = await openRig(context, { limits: { memoryBytes: 200 * MIB } })
  const script = `
import os, time
held = bytearray(b'x') * (100 * 1024 * 1024)
for _ in range(4):
    if os.fork() == 0:
        time.sleep(1.5)
        os._exit(0)
for _ in range(4): os.wait()
print('done')`
  const ended = await run(`python3 -c "${script}"`, { timeoutMs })
  assert.deepEqual([ended.end, ended.stdout], ['exit', 'done\n'], ended.notes.join())
})

test('CPU time is that of all processes, also of those that ended', { skip }, async (context) => {
  const { run } = await openRig(context, { limits: { cpuSeconds: 1 } })
  const ended = await run('while :; do timeout 0.3 sh -c "while :; do :; done"; done', { timeoutMs })
  assert.equal(ended.end, 'killed')
  assert.match(ended.notes.join(), /more than 1 s of CPU time.*execution\.limits\.cpuSeconds/)
  const project = await openRig(context, { limits: { projectCpuSeconds: 1 } })
  const loop = 'while :; do :; done'
  const all = await Promise.all([project.run(loop, { timeoutMs }), project.run('sleep 0.5; echo ended', { timeoutMs })])
  assert.deepEqual(
    all.map(({ end }) => end),
    ['killed', 'exit'],
  )
  assert.match(all[0]?.notes.join() ?? '', /commands of this project together.*execution\.limits\.projectCpuSeconds/)
})

test('one process may take more than all, so that the limit of all is named; CPU time is also that of a project', () => {
  const { limits } = withDefaults(localOptions({ limits: { memoryBytes: 300 * MIB, projectCpuSeconds: 10 } }))
  assert.equal(limits.dataBytes, 2348 * MIB)
  assert.equal(withDefaults(localOptions({ limits: { dataBytes: MIB } })).limits.dataBytes, MIB)
  const used = (cpuSeconds: number) => ({ memoryBytes: 1, tasks: 1, cpuSeconds })
  assert.equal(reachedTogether([used(4), used(6)], limits), undefined)
  const { note, by } = reachedTogether([used(4), used(6.1)], limits) ?? {}
  assert.match(
    note ?? '',
    /running commands of this project together used more than 10 s of CPU.*limits\.projectCpuSeconds/,
  )
  assert.equal(by, 'cpuSeconds')
})

test('commands of one project together have limits, and the one that uses most ends', { skip }, async (context) => {
  const { run, sandbox, workspace } = await openRig(context, { limits: { projectProcesses: 60 } })
  const many = (count: number): string => `for i in $(seq ${count}); do sleep 60 & done; wait`
  const controller = new AbortController()
  const begun = Promise.withResolvers<void>()
  const small = sandbox.run(
    { command: `echo begun; ${many(20)}`, workspace, timeoutMs, onOutput: () => begun.resolve() },
    controller.signal,
  )
  await begun.promise
  const large = await run(many(45), { timeoutMs })
  assert.equal(large.end, 'killed')
  assert.match(large.notes.join(), /commands of this project together.*execution\.limits\.projectProcesses/)
  controller.abort()
  assert.equal((await small).end, 'cancelled')
})

test('a command that fills the disk ends', { skip: !IS_ROOT && 'only root mounts a small disk' }, async (context) => {
  const disk = openDirectory()
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk])
  context.after(() => execFileSync('umount', [disk]))
  const { limits } = withDefaults(localOptions({ limits: { freeDiskBytes: 4 * MIB } }))
  const ended = Promise.withResolvers<string>()
  const forget = new Watch(limits).add({ pid: process.pid, directories: [disk], end: ended.resolve })
  writeFileSync(join(disk, 'large'), Buffer.alloc(13 * MIB))
  assert.match(await ended.promise, /less than 4 MiB of its disk was left.*execution\.limits\.freeDiskBytes/)
  forget()
})

/** Files as a cgroup v2 has them for a scope that systemd delegated: recorded from its documentation, not from a machine. */
function makeGroups(controllers: string): { readonly root: string; readonly scope: string; readonly own: string } {
  const root = openDirectory('nexus-cgroup-')
  const path = '/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope'
  const scope = join(root, path)
  mkdirSync(scope, { recursive: true })
  writeFileSync(join(root, 'cgroup.controllers'), 'cpuset cpu io memory hugetlb pids\n')
  writeFileSync(join(scope, 'cgroup.controllers'), controllers)
  writeFileSync(join(scope, 'cgroup.procs'), '4711\n')
  writeFileSync(join(scope, 'cgroup.subtree_control'), '')
  return { root, scope, own: `0::${path}\n` }
}

test('on plain files: a delegated group is divided, and each command gets its limits there', (context) => {
  const { root, scope, own } = makeGroups('cpu memory pids\n')
  context.after(() => rmSync(root, { recursive: true, force: true }))
  const found = findGroup({ root, own })
  assert.deepEqual(found, { directory: scope })
  const { limits } = withDefaults(localOptions({ limits: { memoryBytes: 300 * MIB, processes: 40 } }))
  const group = makeRunnerGroup({ directory: scope }, 'x', { identity: undefined, limits })
  const read = (file: string): string => readFileSync(join(scope, file), 'utf8').trim()
  assert.equal(read('nexus/cgroup.procs'), '4711')
  assert.equal(read('cgroup.subtree_control'), '+memory +pids')
  assert.equal(read('runner-x/cgroup.subtree_control'), '+memory +pids')
  assert.deepEqual(
    [read('runner-x/memory.max'), read('runner-x/pids.max')],
    [String(limits.projectMemoryBytes), '2048'],
  )
  group?.enter(4712)
  assert.equal(read('runner-x/self/cgroup.procs'), '4712')
  const command = openGroup(join(scope, 'runner-x'), 7, limits)
  const set = ['memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max'].map((file) =>
    read(`runner-x/command-7/${file}`),
  )
  assert.deepEqual(set, [String(300 * MIB), '0', '1', '56'])
  const [program = '', ...rest] = command.entered(['/bin/echo', 'started'])
  assert.equal(execFileSync(program, rest, { encoding: 'utf8' }), 'started\n')
  assert.match(read('runner-x/command-7/cgroup.procs'), /^\d+$/)
  assert.equal(command.isOutOfMemory(), false)
  writeFileSync(
    join(scope, 'runner-x/command-7/memory.events'),
    'low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n',
  )
  assert.equal(command.isOutOfMemory(), true)
})

test('no group is used that is not given: hybrid systems, no controllers, the whole system, files of others', (context) => {
  const { root, scope, own } = makeGroups('cpu pids\n')
  context.after(() => rmSync(root, { recursive: true, force: true }))
  const why = (place: Parameters<typeof findGroup>[0]): string => {
    const found = findGroup(place)
    return 'why' in found ? found.why : found.directory
  }
  assert.match(why({ root, own: '4:memory:/a\n1:cpu:/\n' }), /no cgroup v2/)
  assert.match(why({ root: join(root, 'none'), own }), /no cgroup v2/)
  assert.match(why({ root, own }), /run-1\.scope has no memory$/)
  writeFileSync(join(scope, 'cgroup.controllers'), 'memory pids\n')
  rmSync(join(scope, 'cgroup.subtree_control'))
  assert.match(why({ root, own }), /may not write to/)
  for (const name of ['cgroup.procs', 'cgroup.subtree_control']) writeFileSync(join(root, name), '')
  assert.match(why({ root, own: '0::/\n' }), /group of the whole system/)
})
