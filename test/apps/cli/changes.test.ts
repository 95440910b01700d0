import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { JsonObject } from '../../../src/kernel/index.ts'
import { startModelServer } from '../../../src/testing/index.ts'
import { whySkipped } from '../../machine/sandbox/required.ts'
import { Place } from './nexus.ts'
import { inTerminal, whyNoTerminal } from './terminal.ts'

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
  const listed = await place.run(['changes', 'list'])
  assert.match(listed.stdout, /^[0-9a-f]{12}  \d{4}-.*: 1 change, 1 held until \d{4}-\d\d-\d\d$/m)

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

test('a first word that fits no id is a path of the newest set', { skip }, async (t) => {
  const place = new Place(t)
  const path = (name: string): string => join(place.workspace, name)
  const script =
    'for f in a.txt sub/b.txt; do mkdir -p sub; echo x > $f; done; for f in .envrc .one .two; do echo x > $f; done'
  assert.equal((await place.run(['skills', 'run', '--trust', 'csv-report', '--', script])).code, 0)
  const kept = await place.run(['changes', 'keep', '.envrc', './.one', '--yes'])
  assert.equal(kept.code, 0, kept.stderr)
  assert.deepEqual(
    ['.envrc', '.one', '.two'].map((name) => existsSync(path(name))),
    [true, true, false],
  )
  assert.match((await place.run(['changes', 'drop', '.two'])).stderr, /Dropped 1 held change\./)
  writeFileSync(path('a.txt'), 'by hand\n')
  const undone = await place.run(['changes', 'undo', 'sub', 'a.txt', '--force'])
  assert.equal(undone.code, 0, undone.stderr)
  assert.deepEqual([existsSync(path('a.txt')), existsSync(path('sub/b.txt'))], [false, false])
  const missing = await place.run(['changes', 'keep', '.none', '--yes'])
  assert.match(missing.stderr, /The set [0-9a-f]{12} holds nothing at \.none\./)
  const { data } = JSON.parse((await place.run(['changes', 'list', '--json'])).stdout) as { data: Data }
  const typo = data.sets[0]?.id.startsWith('0') === true ? '1' : '0'
  assert.match((await place.run(['changes', 'drop', typo])).stderr, /There is no change set with the id/)
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

const noTerminal = whyNoTerminal()

/** A turn whose model calls these tools, as arguments of `nexus`. */
async function turn(
  t: TestContext,
  calls: readonly { readonly name: string; readonly arguments: JsonObject }[],
): Promise<string[]> {
  const server = await startModelServer({
    script: [
      { type: 'tool-calls', calls: [...calls] },
      { type: 'text', text: 'Done.' },
    ],
  })
  t.after(() => server.close())
  return ['run', 'hello', '--trust', '--yes', '--model', 'openai-compatible/scripted', '--base-url', server.url]
}

const EDIT = { name: 'run_command', arguments: { command: 'echo two > a.txt; printf "export X=1\\e[31m\\n" > .envrc' } }

test(
  'run names what changed and what is held, and a person sees, takes and drops it in the terminal',
  { skip: skip || noTerminal },
  async (t) => {
    const place = new Place(t)
    const write = { name: 'write_file', arguments: { path: 'b.txt', content: 'b' } }
    const args = await turn(t, [EDIT, write])
    const OFFER = /\[s\]how, \[k\]eep or \[d\]rop it\? Enter leaves it for later\./
    const { screen, code } = await inTerminal(
      place,
      args,
      { prompt: OFFER, keys: 's\r' },
      { prompt: /\+export X=1[^]*\[s\]how/, keys: 'k\r' },
      { prompt: /Bring 1 change into the workspace\? \[y\/N\]/, keys: 'y\r' },
    )
    assert.equal(code, 0, screen)
    assert.match(screen, /Changed 2 files: a\.txt, b\.txt\. To undo it: nexus changes list/)
    assert.match(screen, /Held until \d{4}-\d\d-\d\d: \.envrc\. To see and take it: nexus changes keep [0-9a-f]{12}/)
    assert.match(screen, /Kept 1 change\./)
    assert.ok(!screen.includes('X=1\u001b[31m'), 'control characters of a command are not shown')
    assert.match(readFileSync(join(place.workspace, '.envrc'), 'utf8'), /^export X=1/)
  },
)

test('without a person run and its JSON name what changed, and nobody is asked', { skip }, async (t) => {
  const place = new Place(t)
  const { stdout, stderr, code } = await place.run([...(await turn(t, [EDIT])), '--json'])
  assert.equal(code, 0, stderr)
  assert.match(stderr, /Changed 1 file: a\.txt\. To undo it: nexus changes undo [0-9a-f]{12}\nHeld until .*\.envrc/)
  assert.doesNotMatch(stderr, /\[k\]eep/)
  const { data } = JSON.parse(stdout) as { data: { changes: { applied: string[]; held: string[] }[] } }
  assert.deepEqual(
    data.changes.map(({ applied, held }) => [applied, held]),
    [[['a.txt'], ['.envrc']]],
  )
})

test(
  'a removed session takes its change sets, but not what a person has not decided or what another one made',
  { skip },
  async (t) => {
    const place = new Place(t)
    const ids = async (): Promise<string[]> => {
      const { stdout } = await place.run(['changes', 'list', '--json'])
      return (JSON.parse(stdout) as { data: Data }).data.sets.map(({ id }) => id)
    }
    const edit = (path: string): typeof EDIT => ({ name: 'run_command', arguments: { command: `echo x > ${path}` } })
    const session = async (...paths: string[]): Promise<string> => {
      const { stdout, stderr, code } = await place.run([...(await turn(t, paths.map(edit))), '--json'])
      assert.equal(code, 0, stderr)
      return (JSON.parse(stdout) as { data: { session: string } }).data.session
    }
    const first = await session('a.txt', '.envrc')
    const [held = ''] = await ids()
    const second = await session('c.txt')
    assert.equal((await place.run(['skills', 'run', '--trust', 'csv-report', '--', 'echo x > d.txt'])).code, 0)
    const [ofSkill = '', ofSecond = ''] = await ids()

    const removed = await place.run(['sessions', 'remove', first])
    assert.equal(removed.code, 0, removed.stderr)
    assert.match(removed.stderr, /was removed, with 1 change set: they can no longer be undone\./)
    assert.match(
      removed.stderr,
      new RegExp(`${held} holds changes until \\d{4}-\\d\\d-\\d\\d\\. See it: .*changes show ${held}`),
    )
    assert.deepEqual(await ids(), [ofSkill, ofSecond, held])
    assert.equal(readFileSync(join(place.workspace, 'a.txt'), 'utf8'), 'x\n', 'the workspace stays as it is')

    // Decided by now, it goes with the sessions that are not kept.
    assert.equal((await place.run(['changes', 'drop', held])).code, 0)
    writeFileSync(join(place.home, 'nexus.yaml'), 'store: { retention: { sessions: { maxAgeMs: 1 } } }\n')
    await session('e.txt')
    const left = await ids()
    assert.ok(left.includes(ofSkill), 'of no session')
    for (const gone of [held, ofSecond]) assert.ok(!left.includes(gone), `${gone} of ${second}`)
  },
)

test(
  'skills are named before anything else is shown, force asks for a path, and none records nothing',
  { skip },
  async (t) => {
    const place = new Place(t)
    const script = 'mkdir -p .agents/skills/x; echo x > .agents/skills/x/SKILL.md; head -c 300000 /dev/zero > .big'
    assert.equal((await place.run(['skills', 'run', '--trust', 'csv-report', '--', script])).code, 0)
    const kept = await place.run(['changes', 'keep'])
    assert.match(kept.stderr, /^Skills are among it\. They become trusted/)
    assert.match(kept.stderr, /\.big: nothing → file of 300000 bytes, no text that can be shown/)
    writeFileSync(join(place.home, 'nexus.yaml'), 'execution: { sandbox: none }\n')
    assert.match((await place.run(['changes', 'list'])).stderr, /Without a sandbox Nexus records no changes\./)
    writeFileSync(join(place.home, 'nexus.yaml'), '')
    for (const command of ['keep', 'undo']) {
      const forced = await place.run(['changes', command, '--force', '--yes'].slice(0, command === 'keep' ? 4 : 3))
      assert.equal(forced.code, 2)
      assert.match(forced.stderr, new RegExp(`Name each file: nexus changes ${command} ID PATH --force`))
    }
  },
)

test(
  'no command makes a skill of the user: in a root that is a link into the workspace, or with that root as workspace',
  { skip },
  async (t) => {
    const place = new Place(t)
    const mine = join(place.workspace, 'mine')
    mkdirSync(mine)
    mkdirSync(place.home, { recursive: true })
    symlinkSync(mine, join(place.home, 'skills'))
    const attack =
      'for d in mine .; do mkdir -p $d/evil; echo evil > $d/evil/SKILL.md; done; mv mine other; mkdir mine; cp -r other/* mine'
    const args = ['skills', 'run', '--trust', 'csv-report', '--', attack]
    const ran = await place.run(args)
    assert.match(ran.stderr, /did not keep the change of mine/)
    assert.deepEqual(readdirSync(mine), [])
    const inside = await place.run([...args.slice(0, -1), 'mkdir evil; echo evil > evil/SKILL.md'], { cwd: mine })
    assert.match(inside.stderr, /is in a directory of skills, which are trusted with it/)
    assert.deepEqual(readdirSync(mine), [])
  },
)
