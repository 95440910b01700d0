import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { compileCheckout, copyCheckout } from './checkout.ts'
import { processesWith } from '../../../src/machine/sandbox/runner/process-tree.ts'
import { IS_ROOT, openPlace, openRig, outputOf, startParent, STATE_DIR } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped() ?? false

/** Waits until nothing is found any more; what is still found after ten seconds is returned. */
async function gone(find: () => readonly unknown[]): Promise<readonly unknown[]> {
  for (let tries = 0; tries < 200 && find().length > 0; tries++) await setTimeout(50)
  return find()
}

/** What the library makes in the shared /tmp; tests that run at the same time may have some of it for a moment. */
const inTemp = (): string[] => readdirSync('/tmp').filter((name) => /^(?:claude-(?:empty|http|socks)-|srt-)/.test(name))

test('after kill -9 of the parent no process and no file is left', { skip }, async (context) => {
  const place = openPlace(context)
  const before = inTemp()
  const mark = `nexus-orphan-${process.pid}`
  const parent = startParent(
    place,
    `echo secret > file; setsid bash -c "trap '' TERM HUP; exec -a ${mark} sleep 300" & echo begun; exec -a ${mark} sleep 300`,
  )
  await once(parent.stdout ?? parent, 'data')
  assert.notEqual(processesWith('cmdline', place.root).length, 0)
  parent.kill('SIGKILL')
  assert.deepEqual(await gone(() => [...processesWith('cmdline', mark), ...processesWith('cmdline', place.root)]), [])
  assert.deepEqual(await gone(() => readdirSync(place.live)), [])
  assert.deepEqual(await gone(() => inTemp().filter((name) => !before.includes(name))), [])
})

test(
  'a parent that ends without closing leaves nothing and is not held up by the idle runner',
  { skip },
  async (context) => {
    const place = openPlace(context)
    assert.match(await outputOf(startParent(place, 'echo fine')), /fine\n\nend exit 0/)
    assert.deepEqual(await gone(() => processesWith('cmdline', place.root)), [])
    assert.deepEqual(await gone(() => readdirSync(place.live)), [])
  },
)

test(
  'when the runner is killed its commands die, the caller is told, and the next command has a new runner',
  { skip },
  async (context) => {
    const { run } = await openRig(context, { projectId: 'killed' })
    const mark = `nexus-runner-${process.pid}`
    const begun = Promise.withResolvers<void>()
    const lost = run(`echo begun; exec -a ${mark} sleep 300`, { onOutput: () => begun.resolve() })
    await begun.promise
    for (const pid of processesWith('cmdline', `${STATE_DIR}/stages`).filter(
      (pid) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(process.pid),
    )) {
      process.kill(Number(pid), 'SIGKILL')
    }
    await assert.rejects(lost, { code: 'SANDBOX_FAILED' })
    assert.deepEqual(await gone(() => processesWith('cmdline', mark)), [])
    assert.equal((await run('echo again')).stdout, 'again\n')
  },
)

test('several processes stage the same version at once and all of them work', { skip }, async (context) => {
  const place = openPlace(context)
  const outputs = await Promise.all(Array.from({ length: 3 }, () => outputOf(startParent(place, 'echo fine'))))
  for (const output of outputs) assert.match(output, /fine\n\nend exit 0/)
  assert.equal(readdirSync(join(place.stateDir, 'stages')).length, 1)
})

test('what a lost machine left behind is removed by the next sandbox', { skip }, async (context) => {
  const place = openPlace(context)
  await outputOf(startParent(place, 'true'))
  const { live } = place
  await gone(() => readdirSync(live))
  const token = readFileSync('/proc/self/stat', 'utf8') && '1-999999999-5-00000000'
  const namespace = (await import('node:fs')).statSync('/proc/self/ns/pid').ino
  mkdirSync(join(live, token.replace(/^1/, String(namespace)), 'mirror-x'), { recursive: true })
  await outputOf(startParent(place, 'true'))
  assert.deepEqual(await gone(() => readdirSync(live)), [])
})

test(
  'a checkout below a directory that only root can enter works',
  { skip: skip || (!IS_ROOT && 'needs root') },
  async (context) => {
    const place = openPlace(context)
    const checkout = join(place.root, 'private/checkout')
    copyCheckout(checkout)
    const workspace = join(place.root, 'private/work')
    mkdirSync(workspace)
    writeFileSync(join(workspace, 'in'), 'data')
    chmodSync(join(place.root, 'private'), 0o700)
    const output = await outputOf(
      startParent({ ...place, workspace }, 'id -u; node -e "console.log(typeof fetch)"; cp in out', {
        script: join(checkout, 'test/machine/sandbox/parent.ts'),
      }),
    )
    assert.match(output, /^200000\nfunction\n\nend exit 0/)
    assert.equal(readFileSync(join(workspace, 'out'), 'utf8'), 'data')
  },
)

test('built files work as the sources do', { skip }, async (context) => {
  const place = openPlace(context)
  const checkout = join(place.root, 'checkout')
  copyCheckout(checkout)
  compileCheckout(checkout)
  const output = await outputOf(
    startParent(place, 'echo fine', { script: join(checkout, 'test/machine/sandbox/parent.js') }),
  )
  assert.match(output, /fine\n\nend exit 0/)
  const stages = join(place.stateDir, 'stages')
  assert.ok(
    readdirSync(join(stages, readdirSync(stages)[0] ?? '', 'sandbox/runner')).every((name) => name.endsWith('.js')),
  )
})
