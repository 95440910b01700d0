import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

import type { Skill } from '../../../src/kernel/index.ts'
import { createLoader, examineSkill } from '../../../src/skills/load/index.ts'
import { catalogOf, errorOf, workFolder } from './rig.ts'

const noFifo = spawnSync('mkfifo', ['--version']).error ? 'mkfifo is not installed' : false
const LONG = `---\nname: report\ndescription: Long. Use when asked.\n---\n${'word '.repeat(1_500)}`

/** What a person may do to a skill's directory, and what comes of it. `undefined`: it loads. */
const CASES: readonly {
  readonly what: string
  readonly make: (directory: string) => void
  readonly code?: string
  readonly text?: RegExp
  /** Relative to the skill. */
  readonly file?: string
  readonly leftOut?: readonly string[]
  readonly skip?: string | false
  /** Done after the skill was found. */
  readonly isLater?: true
}[] = [
  { what: 'nothing', make: () => undefined },
  { what: 'a long text', make: (at) => writeFileSync(join(at, 'SKILL.md'), LONG) },
  {
    what: 'links inside and outside',
    make: (at) => {
      mkdirSync(join(at, 'scripts/node_modules/.bin'), { recursive: true })
      symlinkSync('../x/cli.js', join(at, 'scripts/node_modules/.bin/x'))
      symlinkSync('NOTES.txt', join(at, 'b.txt'))
      symlinkSync('/nonexist', join(at, 'LICENSE'))
    },
    leftOut: ['LICENSE', 'b.txt', 'scripts/node_modules/.bin/x'],
  },
  {
    what: 'a FIFO',
    make: (at) => void execFileSync('mkfifo', [join(at, 'pipe')]),
    leftOut: ['pipe'],
    skip: noFifo,
  },
  {
    what: 'a body that ends in Latin-1',
    make: (at) => writeFileSync(join(at, 'SKILL.md'), Buffer.concat([Buffer.from(LONG), Buffer.from([0xe9, 0x0a])])),
  },
  {
    what: 'too many files',
    make: (at) => {
      mkdirSync(join(at, 'node_modules'))
      for (let index = 0; index < 2_001; index++) writeFileSync(join(at, `node_modules/${index}`), '')
    },
    code: 'cannot-load',
    text: /has more than 2000 files/,
    file: 'node_modules',
  },
  {
    what: 'a file of 600 MiB',
    make: (at) => {
      writeFileSync(join(at, 'model.bin'), '')
      truncateSync(join(at, 'model.bin'), 600 * 1_048_576)
    },
    code: 'cannot-load',
    text: /has a file of 629145600 bytes, "model\.bin"/,
    file: 'model.bin',
  },
  {
    what: 'a name with a line break',
    make: (at) => writeFileSync(join(at, 'a\nb'), ''),
    code: 'cannot-load',
    text: /control character/,
    file: 'a\nb',
  },
  {
    what: 'no SKILL.md any more',
    make: (at) => rmSync(join(at, 'SKILL.md')),
    code: 'cannot-load',
    text: /is gone/,
    isLater: true,
  },
]

async function broken(
  t: TestContext,
  make: (directory: string) => void,
  isLater = false,
): Promise<{ skill: Skill; at: string }> {
  const folder = workFolder(t)
  const at = join(folder, 'report')
  if (!isLater) make(at)
  const skill = (await catalogOf(folder)).find('report')
  if (isLater) make(at)
  assert.ok(skill)
  return { skill, at }
}

for (const { what, make, code, text, file, leftOut = [], skip = false, isLater } of CASES)
  test(`${what}: examining says what loading comes to`, { skip }, async (t) => {
    const { skill, at } = await broken(t, make, isLater)
    const catalog = await catalogOf(join(at, '..'))
    const loader = createLoader({ catalog: () => ({ ...catalog, find: () => skill }) })
    const examined = await examineSkill(skill)
    assert.deepEqual(
      examined.leftOut.map(({ path }) => path),
      leftOut,
    )
    assert.equal(examined.problem?.code, code)
    if (text === undefined) {
      const loaded = await loader.load('report')
      assert.ok(loaded.files.some(({ path }) => path === 'NOTES.txt'))
      assert.deepEqual(
        loaded.leftOut.map(({ path }) => path),
        leftOut.filter((path) => !path.includes('/.')),
      )
    } else {
      assert.match(examined.problem?.message ?? '', text)
      assert.match((await errorOf(loader.load('report'))).message, text)
      assert.ok(examined.problem?.fix)
    }
    if (file !== undefined) assert.equal(examined.problem?.path, join(at, file))
    assert.deepEqual(await examineSkill(skill, { isQuick: true }), examined)
  })

test('a cancelled examination ends with CANCELLED, and is no finding about the skill', async (t) => {
  const { skill } = await broken(t, () => undefined)
  for (const isQuick of [true, false])
    assert.equal((await errorOf(examineSkill(skill, { isQuick, signal: AbortSignal.abort() }))).code, 'CANCELLED')
})

test('a missing file is answered with those there are, whatever else lies in the directory', async (t) => {
  const { skill, at } = await broken(t, (directory) => {
    symlinkSync('/etc/passwd', join(directory, 'references/link.md'))
    for (let index = 0; index < 2_100; index++) writeFileSync(join(directory, `z-${index}`), '')
  })
  const catalog = await catalogOf(join(at, '..'))
  const loader = createLoader({ catalog: () => ({ ...catalog, find: () => skill }) })
  const error = await errorOf(loader.readFile('report', 'none.md'))
  assert.match(error.message, /Available files: \[NOTES\.txt, SKILL\.md, .*references\/guide\.md.*and \d+ more\]$/)
  assert.doesNotMatch(error.message, /link\.md/)
})
