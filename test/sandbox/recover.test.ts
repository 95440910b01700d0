import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { processesWith } from '../../src/sandbox/runner/process-tree.ts'
import { IS_ROOT, openDirectory, openRig, whySkipped } from './local-rig.ts'

const skip =
  ((await whySkipped()) ?? false) ||
  (IS_ROOT && 'root works in a mirror; normal-user.test.ts runs this file as a normal user')

const PARENT = join(import.meta.dirname, 'parent.ts')
const EVIL =
  'mkdir -p .claude sub/.vscode .git/hooks; echo "execution: { sandbox: none }" | tee nexus.yaml .envrc .claude/settings.json sub/.vscode/tasks.json .git/config .git/hooks/pre-commit > /dev/null; echo good > file; echo begun; sleep 300'

interface Place {
  readonly stateDir: string
  readonly workspace: string
  readonly live: string
}

function openPlace(context: TestContext): Place {
  const root = openDirectory()
  const workspace = join(root, 'work')
  mkdirSync(workspace)
  context.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))
  const stateDir = join(root, 'state')
  return { stateDir, workspace, live: join(stateDir, 'projects/default/live') }
}

/** A parent whose command has made its protected places by now. */
async function startEvil({ stateDir, workspace }: Place, mode: string): Promise<ChildProcess> {
  const parent = spawn(process.execPath, [PARENT, stateDir, workspace, EVIL, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(parent.stdout ?? parent, 'data')
  return parent
}

async function outputOf({ stateDir, workspace }: Place, command: string): Promise<string> {
  const child = spawn(process.execPath, [PARENT, stateDir, workspace, command, 'direct'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(child, 'close')
  return text
}

/** The runner of a state directory: it is named by its stage. */
function runnerOf({ stateDir }: Place): number {
  const found = processesWith('cmdline', `${stateDir}/stages`)[0]
  assert.ok(found !== undefined)
  return found
}

async function until(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !check(); tries++) await setTimeout(50)
  assert.ok(check())
}

/** Every file of the workspace, sorted. */
function filesOf({ workspace }: Place): string[] {
  return readdirSync(workspace, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(workspace.length + 1))
    .sort()
}

for (const signal of ['SIGKILL', 'SIGHUP', 'SIGTERM'] as const) {
  test(
    `after ${signal} to the parent the runner removes what the command made under protected names`,
    { skip },
    async (context) => {
      const place = openPlace(context)
      const parent = await startEvil(place, 'direct')
      assert.equal(existsSync(join(place.workspace, 'nexus.yaml')), true)
      parent.kill(signal)
      await until(() => readdirSync(place.live).length === 0)
      assert.deepEqual(filesOf(place), ['file'])
    },
  )
}

test(
  'when parent and runner are killed together, the next start takes the places away, keeps their content and says so',
  { skip },
  async (context) => {
    const place = openPlace(context)
    writeFileSync(join(place.workspace, '.mcp.json'), 'own')
    const parent = await startEvil(place, 'direct')
    const runner = runnerOf(place)
    parent.kill('SIGSTOP')
    process.kill(runner, 'SIGKILL')
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    assert.equal(existsSync(join(place.workspace, 'nexus.yaml')), true)
    const said = await outputOf(place, 'echo fine')
    assert.match(said, /^sandbox-recovered [^]*nexus\.yaml: moved to nexus\.yaml\.nexus-removed-[^]*fine/)
    assert.deepEqual(
      filesOf(place).map((path) => path.replace(/\.nexus-removed-[0-9a-f]+/, ' aside')),
      [
        '.claude aside/settings.json',
        '.envrc aside',
        '.git/config aside',
        '.git/hooks aside/pre-commit',
        '.mcp.json',
        'file',
        'nexus.yaml aside',
        'sub/.vscode aside/tasks.json',
      ],
    )
    await until(() => readdirSync(place.live).length === 0)
    assert.doesNotMatch(await outputOf(place, 'echo fine'), /recovered/)
  },
)

test(
  'when the runner alone is killed, its parent removes the places and tells the next caller',
  { skip },
  async (context) => {
    const place = openPlace(context)
    const { run, workspace } = await openRig(context, { workspaceMode: 'direct', stateDir: place.stateDir })
    const begun = Promise.withResolvers<void>()
    const lost = run(EVIL, { onOutput: () => begun.resolve() })
    await begun.promise
    process.kill(runnerOf(place), 'SIGKILL')
    await assert.rejects(lost, { code: 'SANDBOX_FAILED' })
    assert.deepEqual(filesOf({ ...place, workspace }), ['file'])
    const { notes } = await run('echo again')
    assert.match(notes.join('\n'), /nexus\.yaml: removed/)
    assert.equal(readdirSync(place.live).length, 1)
  },
)

test(
  'in a mirror, which is the default, no protected place ever appears in the workspace',
  { skip },
  async (context) => {
    const place = openPlace(context)
    const parent = await startEvil(place, 'auto')
    const runner = runnerOf(place)
    assert.deepEqual(readdirSync(place.workspace), [])
    parent.kill('SIGSTOP')
    process.kill(runner, 'SIGKILL')
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    assert.deepEqual(readdirSync(place.workspace), [])
    assert.match(await outputOf(place, 'echo fine'), /fine/)
    await until(() => readdirSync(place.live).length === 0)
  },
)
