/** Two writers that complete a git repository together: each alone may make only a part, and the host obeys the whole. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome } from '../../src/kernel/index.ts'
import {
  createRegistry,
  createServices,
  executeTool,
  FILES,
  registerBuiltins,
  SANDBOX,
  WORKSPACE,
} from '../../src/tools/index.ts'
import { withChangeSets } from '../../src/machine/sandbox/index.ts'
import { localOptions, openRig, type Rig, STATE_DIR } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'
import { contextOf } from '../tools/rig.ts'
import { COMPILED } from '../source-tree.ts'

const skip = whySkipped() ?? false
const SOURCE = join(import.meta.dirname, '..', '..', 'src')

/** Parts that make a directory a repository for git. */
const isRepository = (directory: string): boolean =>
  ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(directory, name)))

/** Enough for a writer that does not wait to be done. */
const settled = (work: Promise<unknown>): Promise<unknown> => Promise.race([work, sleep(1_500)])

async function writeHead({ sandbox, workspace }: Rig, path: string): Promise<Outcome> {
  const services = createServices()
  services.register(SANDBOX, sandbox)
  services.register(WORKSPACE, workspace)
  services.register(FILES, {})
  const registry = createRegistry(services)
  registerBuiltins(registry)
  const tool = registry.get('write_file')
  assert.ok(tool)
  return executeTool(tool, { path, content: 'ref: refs/heads/main\n' }, contextOf({ services }))
}

/** Another process that works with the same state directory; `script` has `sandbox` and `workspace`. It ends with the test. */
async function startOther(t: TestContext, workspace: string, script: string): Promise<ChildProcess> {
  const code = `
    import { createSandbox } from '${SOURCE}/machine/sandbox/index.ts'
    const sandbox = await createSandbox({ kind: 'local', projectId: 'other', stateDir: '${STATE_DIR}' })
    const workspace = '${workspace}'
    ${script}`
  const child = spawn(process.execPath, [COMPILED, '--no-warnings', '--input-type=module', '-e', code], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

test(
  'changes of a command, keep and undo wait for a file tool, and changes are checked against what it wrote',
  { skip },
  async (t) => {
    const rig = await openRig(t)
    // The first command also starts the runner.
    await rig.run('true')
    const repository = join(rig.workspace, 'r')
    let isUndoing = false
    const running = await rig.sandbox.alone?.(rig.workspace, async () => {
      const command = rig.run('mkdir -p r/objects r/refs; touch beside')
      // As keep and undo do it.
      const undoing = withChangeSets(rig.workspace, localOptions(), () => Promise.resolve((isUndoing = true)))
      await settled(Promise.race([command, undoing]))
      assert.equal(isUndoing, false)
      mkdirSync(repository)
      writeFileSync(join(repository, 'HEAD'), 'ref: refs/heads/main\n')
      return { command, undoing }
    })
    const { notes } = (await running?.command) ?? {}
    assert.equal(await running?.undoing, true)
    assert.equal(isRepository(repository), false)
    assert.match(notes?.join('\n') ?? '', /Nexus holds r \(it is a new repository\)/)
    assert.equal(existsSync(join(rig.workspace, 'beside')), true)
  },
)

test('a file tool waits for the changes of a command, and is checked against them', { skip }, async (t) => {
  const rig = await openRig(t)
  const repository = join(rig.workspace, 'r')
  const started = await rig.sandbox.alone?.(rig.workspace, async () => {
    const writing = writeHead(rig, 'r/HEAD')
    await settled(writing)
    for (const name of ['objects', 'refs']) mkdirSync(join(repository, name), { recursive: true })
    return { writing }
  })
  const outcome = await started?.writing
  assert.equal(isRepository(repository), false)
  assert.equal(outcome?.type === 'failed' && outcome.code, 'ACCESS_DENIED')
})

test('a process that dies loses the lock of a workspace', { skip }, async (t) => {
  const rig = await openRig(t)
  const script = `await sandbox.alone(workspace, async () => { console.log('held'); await new Promise((end) => setTimeout(end, 1e6)) })`
  const other = await startOther(t, rig.workspace, script)
  const command = rig.run('touch made')
  await settled(command)
  assert.equal(existsSync(join(rig.workspace, 'made')), false)
  other.kill('SIGKILL')
  assert.equal((await command).exitCode, 0)
  assert.equal(existsSync(join(rig.workspace, 'made')), true)
})

test('write_file in one process beside run_command in another completes no repository', { skip }, async (t) => {
  const rig = await openRig(t)
  const names = Array.from({ length: 60 }, (_, index) => `r${index}`)
  const command = `for d in ${names.join(' ')}; do mkdir -p $d/objects $d/refs; done`
  const script = `
    process.stdin.on('end', async () => { await sandbox.close(); process.exit(0) })
    console.log('ready')
    process.stdin.on('data', async () => { console.log((await sandbox.run({ workspace, command: ${JSON.stringify(command)} })).exitCode) })`
  const other = await startOther(t, rig.workspace, script)
  for (let round = 0; round < 2; round++) {
    const ended = once(other.stdout as NodeJS.EventEmitter, 'data')
    other.stdin?.write('run')
    await Promise.race([ended, firstIn(rig.workspace)])
    for (const name of names) await writeHead(rig, `${name}/HEAD`)
    await ended
    assert.deepEqual(
      names.filter((name) => isRepository(join(rig.workspace, name))),
      [],
    )
    for (const name of readdirSync(rig.workspace)) rmSync(join(rig.workspace, name), { recursive: true })
  }
})

/** When the first change of a command is there. */
async function firstIn(workspace: string): Promise<void> {
  while (readdirSync(workspace).length === 0) await sleep(1)
}
