import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { ROOT } from '../../../source-tree.ts'
import { Place } from '../nexus.ts'

const HEAD = 'description: Reads files. Use when there are files.\n---\n# It\n\n'

function prepare(t: TestContext, files: Readonly<Record<string, string>>): Place {
  const place = new Place(t)
  for (const [path, text] of Object.entries(files)) {
    const file = join(place.workspace, 'checked', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  return place
}

test('a path behind {baseDir} is checked against the files of a skill without links', async (t) => {
  const body = 'Run `sh {baseDir}/go.sh` and `${NEXUS_SKILL_DIR}/go.sh`, not `sh {baseDir}/gone.sh`.\n'
  const place = prepare(t, { 'paths/SKILL.md': `---\nname: paths\n${HEAD}${body}`, 'paths/go.sh': 'true\n' })
  const { stdout } = await place.run(['skills', 'validate', 'checked'])
  assert.match(stdout, /The path "\{baseDir\}\/gone\.sh" refers to a file that the skill does not have/)
  assert.match(stdout, /0 errors, 0 warnings, 1 info$/m)
})

test('the skills that we ship are valid, without a finding', async (t) => {
  const { code, stdout } = await new Place(t).run(['skills', 'validate', join(ROOT, 'skills')])
  assert.equal(code, 0)
  assert.match(stdout, /^4 skills: 4 valid, 0 invalid; 0 errors, 0 warnings, 0 info$/m)
})

test('one finding is reported once a line, however often the line has it', async (t) => {
  const body = 'See [x](no.md), [y](no.md) and [z](other.md).\n\nSee [x](no.md).\n'
  const place = prepare(t, { 'links/SKILL.md': `---\nname: links\n${HEAD}${body}` })
  const { stdout } = await place.run(['skills', 'validate', 'checked'])
  assert.deepEqual(
    [...stdout.matchAll(/SKILL\.md:(\d+:\d+)\n.*"(.*)"/g)].map(([, at, target]) => [at, target]),
    [
      ['7:9', 'no.md'],
      ['7:36', 'other.md'],
      ['9:9', 'no.md'],
    ],
  )
  assert.match(stdout, /0 errors, 0 warnings, 3 info$/m)
})

const MIXED = {
  'a/SKILL.md': `---\nname: a\n${HEAD}See [x](no.md).\n`,
  'b/SKILL.md': `---\nname: b\nuser_invocable: no\nlicense: [\n${HEAD}It.\n`,
  'c/SKILL.md': `---\nname: other\n${HEAD}See [x](no.md).\n`,
}

test('skills with errors come first, and errors come first in a skill', async (t) => {
  const place = prepare(t, MIXED)
  const { stdout } = await place.run(['skills', 'validate', 'checked', '--strict'])
  const shown = [...stdout.matchAll(/^(error|warning|info) \S+ checked\/(\w)/gm)].map(
    ([, kind, name]) => `${name} ${kind}`,
  )
  assert.deepEqual(shown, ['b error', 'b warning', 'b warning', 'c error', 'c info', 'a info'])
  const { diagnostics } = JSON.parse(
    (await place.run(['skills', 'validate', 'checked', '--strict', '--json'])).stdout,
  ) as {
    diagnostics: { severity: string }[]
  }
  assert.deepEqual(
    diagnostics.map(({ severity }) => severity),
    ['error', 'warning', 'warning', 'error', 'info', 'info'],
  )
})

test('--quiet reports errors only, in each format, and nothing where there is none', async (t) => {
  const place = prepare(t, MIXED)
  const run = (...args: string[]) => place.run(['skills', 'validate', '--quiet', '--strict', ...args])
  const { code, stdout } = await run('checked')
  assert.equal(code, 1)
  assert.deepEqual(
    stdout.match(/^(?:error|warning|info|valid) .*/gm)?.map((line) => line.split(' ')[0]),
    ['error', 'error'],
  )
  assert.match(stdout, /2 errors/)
  const { diagnostics } = JSON.parse((await run('checked', '--json')).stdout) as { diagnostics: unknown[] }
  assert.equal(diagnostics.length, 2)
  assert.doesNotMatch((await run('checked', '--format', 'github')).stdout, /::(?:notice|warning)/)
  assert.deepEqual(await run('checked/a'), { code: 0, signal: null, stdout: '', stderr: '' })
})
