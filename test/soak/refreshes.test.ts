import assert from 'node:assert/strict'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import type { Runtime } from '../../src/public/index.ts'
import { workshop } from '../runtime/rig.ts'
import { rounds } from './rounds.ts'

const SKILLS = 2_000
const ROUNDS = rounds(50)
const MIB = 1_048_576

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What is alive, inside and outside of the heap, in bytes. */
async function alive(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** What every caller would ask of a catalog. */
function use(runtime: Runtime): number {
  return runtime.openAgent().instructions().length + runtime.openAgent().catalog().version.length
}

/** Runs the rounds after some that are not counted, and says how many bytes more are alive. */
async function growth(runtime: Runtime, round: (index: number) => void): Promise<number> {
  let before = 0
  for (let index = -10; index < ROUNDS; index++) {
    if (index === 0) before = await alive()
    round(index + 10)
    await runtime.refresh()
    use(runtime)
  }
  return (await alive()) - before
}

const nameOf = (index: number): string => `skill-${String(index).padStart(5, '0')}`

test('a server that looks again and again has no more in memory, whatever changes between', async (t) => {
  const shop = workshop(t)
  for (let index = 0; index < SKILLS; index++) shop.write(nameOf(index))
  const runtime = await shop.open()
  assert.equal(runtime.openAgent().catalog().skills.length, SKILLS)
  // So that files are old enough to be kept from one look to the next.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3_600_000 })

  const same = await growth(runtime, () => undefined)
  assert.ok(same < MIB / 2, `${ROUNDS} looks at the same left ${same} bytes`)

  const edited = await growth(runtime, (index) => {
    shop.write(nameOf(index * 7), { description: `Does it for the ${index}th time.` })
  })
  assert.ok(edited < MIB, `${ROUNDS} edits left ${edited} bytes`)

  const replaced = await growth(runtime, (index) => {
    rmSync(join(shop.root, nameOf(index * 7)), { recursive: true, force: true })
    shop.write(nameOf(SKILLS + index))
  })
  assert.ok(replaced < MIB, `${ROUNDS} skills that came for others left ${replaced} bytes`)

  const full = await alive()
  const away = `${shop.root}-away`
  t.after(() => rmSync(away, { recursive: true, force: true }))
  renameSync(shop.root, away)
  await runtime.refresh()
  const left = full - (await alive())
  assert.ok(left > SKILLS * 200, `of skills that are gone only ${left} bytes were given back`)
})
