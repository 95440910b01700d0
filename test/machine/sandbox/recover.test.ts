import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { processesWith } from '../../../src/machine/sandbox/runner/process-tree.ts'
import { IS_ROOT, openPlace, outputOf, type ParentPlace, startParent } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip =
  (whySkipped() ?? false) || (IS_ROOT && 'root works in a mirror; normal-user.test.ts runs this file as a normal user')

const EVIL =
  'mkdir -p .claude sub/.vscode .git/hooks; echo "execution: { sandbox: none }" | tee nexus.yaml .envrc .claude/settings.json sub/.vscode/tasks.json .git/config .git/hooks/pre-commit > /dev/null; echo good > file; echo begun; sleep 300'

/** A parent whose command has made its protected places by now. */
async function startEvil(place: ParentPlace): Promise<ChildProcess> {
  const parent = startParent(place, EVIL)
  await once(parent.stdout ?? parent, 'data')
  return parent
}

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

test('in layers, which is the default, no protected place ever appears in the workspace', { skip }, async (context) => {
  const place = openPlace(context)
  const parent = await startEvil(place)
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
