import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { processesWith } from '../../../src/machine/sandbox/runner/process-tree.ts'
import { IS_ROOT, openPlace, openRig, outputOf, type ParentPlace, startParent } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip =
  (whySkipped() ?? false) || (IS_ROOT && 'root works in a mirror; normal-user.test.ts runs this file as a normal user')

const EVIL =
  'mkdir -p .claude sub/.vscode .git/hooks; echo "execution: { sandbox: none }" | tee nexus.yaml .envrc .claude/settings.json sub/.vscode/tasks.json .git/config .git/hooks/pre-commit > /dev/null; echo good > file; echo begun; sleep 300'

/** A parent whose command has made its protected places by now. */
async function startEvil(place: ParentPlace, mode: string): Promise<ChildProcess> {
  const parent = startParent(place, EVIL, { mode })
  await once(parent.stdout ?? parent, 'data')
  return parent
}

const said = (place: ParentPlace): Promise<string> => outputOf(startParent(place, 'echo fine', { mode: 'direct' }))

/** The runner of a state directory: it is named by its stage. */
function runnerOf({ stateDir }: ParentPlace): number {
  const stages = `${stateDir}/stages`
  // Bubblewrap names the stage too, and the seccomp helper starts from it: only the runner is Node with this option.
  const found = processesWith('cmdline', stages).find((pid) => {
    const [program, option] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return program?.startsWith(stages) && option === '--no-warnings'
  })
  assert.ok(found !== undefined)
  return found
}

async function until(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !check(); tries++) await setTimeout(50)
  assert.ok(check())
}

/** Every file of the workspace, sorted. */
function filesOf({ workspace }: Pick<ParentPlace, 'workspace'>): string[] {
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
    const text = await said(place)
    assert.match(text, /^sandbox-recovered [^]*nexus\.yaml: moved to nexus\.yaml\.nexus-removed-[^]*fine/)
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
    assert.doesNotMatch(await said(place), /recovered/)
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

test('in layers, which is the default, no protected place ever appears in the workspace', { skip }, async (context) => {
  const place = openPlace(context)
  const parent = await startEvil(place, 'auto')
  const runner = runnerOf(place)
  assert.deepEqual(readdirSync(place.workspace), [])
  parent.kill('SIGSTOP')
  process.kill(runner, 'SIGKILL')
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  assert.deepEqual(readdirSync(place.workspace), [])
  assert.match(await outputOf(startParent(place, 'echo fine')), /fine/)
  await until(() => readdirSync(place.live).length === 0)
})
