/** `kill -9` of Nexus while it takes changes back: each file is old or new, the set says which, and a second try ends it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordsOf } from '../../src/machine/changes/index.ts'
import { IS_ROOT, openPlace, outputOf, startParent } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'
import { rounds } from './rounds.ts'

const ROUNDS = rounds(50)
const FILES = Array.from({ length: 400 }, (_, index) => `f${index}`)

for (const mode of IS_ROOT ? ['mirror'] : ['auto', 'mirror'])
  test(
    `kill -9 while changes are taken back, workspace mode ${mode}`,
    { skip: whySkipped() ?? false },
    async (context) => {
      const place = openPlace(context)
      const { workspace, stateDir } = place
      for (const name of FILES) writeFileSync(join(workspace, name), 'old')
      let takingMs = 150
      for (let round = 0; round < ROUNDS; round++) {
        const text = `new ${round}`
        const before = FILES.map((name) => readFileSync(join(workspace, name), 'utf8'))
        const command = `for f in f*; do printf '${text}' > $f; done; mkdir -p node_modules; echo ${round} > node_modules/x; echo ${round} > .envrc; echo begun`
        const parent = startParent(place, command, { mode })
        const ended = once(parent, 'exit')
        await once(parent.stdout ?? parent, 'data')
        const at = performance.now()
        // Later rounds kill at other steps; one that came too late makes the next earlier.
        const isInTime = await Promise.race([sleep((takingMs * (round + 1)) / ROUNDS, true), ended.then(() => false)])
        parent.kill('SIGKILL')
        await ended
        if (!isInTime) takingMs = (performance.now() - at) / 2
        const now = FILES.map((name) => readFileSync(join(workspace, name), 'utf8'))
        for (const [index, found] of now.entries())
          assert.ok([before[index], text].includes(found), `${FILES[index]}: ${found}`)
        assert.match(await outputOf(startParent(place, 'true', { mode })), /end exit 0/)
        const [set] = recordsOf(stateDir, workspace).list()
        const isNew = set?.state === 'applied' && readFileSync(join(workspace, 'f0'), 'utf8') === text
        const wanted = isNew ? FILES.map(() => text) : before
        assert.deepEqual(
          FILES.map((name) => readFileSync(join(workspace, name), 'utf8')),
          wanted,
        )
        assert.deepEqual(
          readdirSync(workspace).filter((name) => !FILES.includes(name)),
          [],
        )
        // A second try ends it.
        const again = await outputOf(startParent(place, `${command}; cat .envrc node_modules/x`, { mode }))
        assert.match(again, new RegExp(`begun\\n${round}\\n${round}\\n`))
        assert.deepEqual(
          FILES.map((name) => readFileSync(join(workspace, name), 'utf8')),
          FILES.map(() => text),
        )
      }
      assert.equal(existsSync(join(workspace, '.envrc')), false)
    },
  )
