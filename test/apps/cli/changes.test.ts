import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { whySkipped } from '../../machine/sandbox/required.ts'
import { Place } from './nexus.ts'

const skip = whySkipped() ?? false

interface Data {
  readonly sets: readonly { readonly id: string; readonly applied: number; readonly held: number }[]
}

test('a command of a skill: its changes are listed, shown, kept and undone', { skip }, async (t) => {
  const place = new Place(t)
  const path = (name: string): string => join(place.workspace, name)
  writeFileSync(path('a.txt'), 'one\n')
  const ran = await place.run([
    'skills',
    'run',
    '--trust',
    'csv-report',
    '--',
    'echo two > a.txt; echo "export X=1" > .envrc',
  ])
  assert.equal(ran.code, 0, ran.stderr)
  assert.match(ran.stderr, /Nexus holds \.envrc \(its name begins with a dot\).*nexus changes keep [0-9a-f]{12}/)
  const { data } = JSON.parse((await place.run(['changes', 'list', '--json'])).stdout) as { data: Data }
  const [set] = data.sets
  assert.ok(set)
  assert.deepEqual([set.applied, set.held], [1, 1])
  const prefix = set.id.slice(0, 5)

  const shown = await place.run(['changes', 'show', prefix, '--diff'])
  assert.match(shown.stdout, /held\s+added\s+\.envrc: its name begins with a dot[^]*\+export X=1[^]*-one\n\+two/)
  const asked = await place.run(['changes', 'keep', prefix])
  assert.equal(asked.code, 2)
  assert.match(asked.stderr, /nobody can be asked here[^]*--yes/)
  assert.equal((await place.run(['changes', 'keep', prefix, '.envrc', '--yes'])).code, 0)
  assert.equal(readFileSync(path('.envrc'), 'utf8'), 'export X=1\n')

  writeFileSync(path('a.txt'), 'by hand\n')
  const undone = await place.run(['changes', 'undo', prefix])
  assert.equal(undone.code, 1)
  assert.match(
    undone.stderr,
    /a\.txt was left: it changed since\. To replace it: nexus changes undo [0-9a-f]+ a\.txt --force/,
  )
  assert.equal(readFileSync(path('a.txt'), 'utf8'), 'by hand\n')
  assert.equal(existsSync(path('.envrc')), false)
  assert.equal((await place.run(['changes', 'undo', prefix, 'a.txt', '--force'])).code, 0)
  assert.equal(readFileSync(path('a.txt'), 'utf8'), 'one\n')

  assert.equal((await place.run(['changes', 'forget', prefix])).code, 0)
  const gone = await place.run(['changes', 'show'])
  assert.equal(gone.code, 4)
  assert.match(gone.stderr, /No command has changed this workspace/)
})

test('a name that a command chose runs nothing in the command that undo shows', { skip }, async (t) => {
  const place = new Place(t)
  const name = 'a $(touch pwned);b.txt'
  const script = `echo two > '${name}'`
  assert.equal((await place.run(['skills', 'run', '--trust', 'csv-report', '--', script])).code, 0)
  writeFileSync(join(place.workspace, name), 'by hand\n')
  const { stderr } = await place.run(['changes', 'undo'])
  assert.match(stderr, /To replace it: nexus changes undo [0-9a-f]+ 'a \$\(touch pwned\);b\.txt' --force/)
})
