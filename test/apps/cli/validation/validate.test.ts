import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Place } from '../nexus.ts'

const GOOD = '---\nname: good\ndescription: Does it. Use when asked.\n---\nDo it.\n'
const COLON = '---\nname: colon\ndescription: Use when: asked # yes\nuser_invocable: no\n---\nDo it. \n\n'
const CLAW =
  '---\nname: claw\ndescription: d\nmetadata: {"clawdbot":{"emoji":"🔧","requires":{"bins":["foo"]}}}\n---\nDo.\n'

/** Writes skills into the folder `checked` of a place. */
function write(place: Place, files: Readonly<Record<string, string>>): string {
  const folder = join(place.workspace, 'checked')
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, name, 'SKILL.md'), text)
  }
  return folder
}

interface Printed {
  readonly ok: boolean
  readonly data: {
    readonly skills: readonly { readonly file: string; readonly valid: boolean; readonly changes: readonly unknown[] }[]
    readonly summary: Readonly<Record<string, number>>
  }
  readonly diagnostics: readonly { readonly code: string; readonly severity: string; readonly line?: number }[]
}

test('a valid skill is named, and the exit code is 0', async (t) => {
  const place = new Place(t)
  write(place, { good: GOOD })
  const { code, stdout, stderr } = await place.run(['skills', 'validate', 'checked/good', '--strict'])
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(stdout, 'valid checked/good/SKILL.md\n1 skill: 1 valid, 0 invalid; 0 errors, 0 warnings, 0 info\n')
})

test('a fault is shown with its line and column, and the fix', async (t) => {
  const place = new Place(t)
  write(place, { colon: COLON })
  const { code, stdout, stderr } = await place.run(['skills', 'validate', 'checked/colon/SKILL.md', '--strict'])
  assert.equal(code, 1)
  assert.ok(
    stdout.includes(
      [
        'error yaml-repaired checked/colon/SKILL.md:3:14',
        '    Nexus read the value of description as plain text. A value without quotes contains ": ".',
        '    fix: Write: description: "Use when: asked # yes"',
      ].join('\n'),
    ),
    stdout,
  )
  assert.match(stderr, /--fix/)
})

test('the same file is valid leniently, and the warning is still shown', async (t) => {
  const place = new Place(t)
  write(place, { colon: COLON })
  const { code, stdout } = await place.run(['skills', 'validate', 'checked'])
  assert.equal(code, 0)
  assert.match(stdout, /^warning yaml-repaired/m)
})

test('held and invalid are counted as list counts them', async (t) => {
  const place = new Place(t)
  const folder = write(place, {
    good: GOOD,
    bare: '---\nname: bare\n---\nDo.\n',
    needs: '---\nname: needs\ndescription: Does it. Use when asked.\nrequires: gh\n---\nDo.\n',
    twice: '---\nname: twice\nname: other\ndescription: Does it. Use when asked.\n---\nDo.\n',
  })
  const { stdout, code } = await place.run(['skills', 'validate', 'checked'])
  assert.match(stdout, /^4 skills: 1 valid, 2 held, 1 invalid; /m)
  assert.equal(code, 1)
  const { data } = JSON.parse((await place.run(['skills', 'validate', 'checked', '--json'])).stdout) as Printed
  assert.deepEqual([data.summary['held'], data.summary['invalid']], [2, 1])
  const listed = await place.run(['skills', 'list', '--json', '--all', '--trust', '--skills-dir', folder])
  const all = JSON.parse(listed.stdout) as { data: { held: { name: string }[]; invalid: { name: string }[] } }
  const names = (of: { name: string }[]): string[] => of.map(({ name }) => name)
  assert.ok(['bare', 'needs'].every((name) => names(all.data.held).includes(name)))
  assert.ok(names(all.data.invalid).includes('twice'))
})

test('fix writes what the fix says, keeps every other byte and the mode, and leaves nothing behind', async (t) => {
  const place = new Place(t)
  const folder = write(place, { colon: COLON, good: GOOD })
  const file = join(folder, 'colon', 'SKILL.md')
  chmodSync(file, 0o640)
  const before = statSync(join(folder, 'good', 'SKILL.md')).mtimeMs
  const { code, stdout } = await place.run(['skills', 'validate', 'checked', '--strict', '--profile=claude', '--fix'])
  assert.equal(code, 0)
  assert.match(
    stdout,
    / {2}- 3 \| description: Use when: asked # yes\n {2}\+ 3 \| description: "Use when: asked # yes"/,
  )
  assert.equal(
    readFileSync(file, 'utf8'),
    COLON.replace('Use when: asked # yes', '"Use when: asked # yes"').replace('user_invocable', 'user-invocable'),
  )
  assert.equal(statSync(file).mode & 0o777, 0o640)
  assert.deepEqual(readdirSync(join(folder, 'colon')), ['SKILL.md'])
  assert.equal(statSync(join(folder, 'good', 'SKILL.md')).mtimeMs, before)
  assert.equal((await place.run(['skills', 'validate', 'checked', '--profile', 'claude'])).code, 0)
})

test('encoding is fixed only when asked for', async (t) => {
  const place = new Place(t)
  const file = join(write(place, { good: `\uFEFF${GOOD}` }), 'good', 'SKILL.md')
  await place.run(['skills', 'validate', 'checked', '--fix'])
  assert.equal(readFileSync(file, 'utf8'), `\uFEFF${GOOD}`)
  await place.run(['skills', 'validate', 'checked', '--fix-encoding'])
  assert.equal(readFileSync(file, 'utf8'), GOOD)
})

test('no fix goes through a link, and bytes that are not UTF-8 stay', async (t) => {
  const place = new Place(t)
  const folder = write(place, { colon: COLON })
  const outside = join(place.root, 'outside')
  mkdirSync(join(outside, 'linked'), { recursive: true })
  writeFileSync(join(outside, 'SKILL.md'), COLON)
  writeFileSync(join(outside, 'linked', 'SKILL.md'), COLON)
  mkdirSync(join(folder, 'file-link'))
  symlinkSync(join(outside, 'SKILL.md'), join(folder, 'file-link', 'SKILL.md'))
  symlinkSync(join(outside, 'linked'), join(folder, 'folder-link'))
  const latin = Buffer.from(COLON.replace('asked', 'caf\u00e9'), 'latin1')
  mkdirSync(join(folder, 'latin'))
  writeFileSync(join(folder, 'latin', 'SKILL.md'), latin)
  const { code, stdout } = await place.run(['skills', 'validate', 'checked', '--fix'])
  assert.equal(code, 1)
  assert.match(stdout, /link-outside checked\/file-link\/SKILL\.md/)
  assert.match(stdout, /link-outside checked\/folder-link/)
  assert.equal(readFileSync(join(outside, 'SKILL.md'), 'utf8'), COLON)
  assert.equal(readFileSync(join(outside, 'linked', 'SKILL.md'), 'utf8'), COLON)
  assert.deepEqual(readFileSync(join(folder, 'latin', 'SKILL.md')), latin)
  const named = await place.run(['skills', 'validate', 'checked/file-link/SKILL.md', '--fix'])
  assert.equal(named.code, 1)
  assert.equal(readFileSync(join(outside, 'SKILL.md'), 'utf8'), COLON)
})

test('a SKILL.md that leads to another file of the folder is validated and never written', async (t) => {
  const place = new Place(t)
  const folder = write(place, { good: GOOD })
  writeFileSync(join(folder, 'shared.md'), COLON)
  mkdirSync(join(folder, 'linked'))
  symlinkSync('../shared.md', join(folder, 'linked', 'SKILL.md'))
  for (const command of [
    ['validate', 'checked', '--fix'],
    ['migrate', 'checked'],
  ]) {
    const { code, stdout, stderr } = await place.run(['skills', ...command])
    assert.equal(code, 0)
    assert.match(stdout + stderr, /warning link-followed checked\/linked\/SKILL\.md/)
    assert.match(
      stdout + stderr,
      /the file was not written, because it is a link\n.*fix: Name the file that it refers to: .*shared\.md/,
    )
    assert.equal(readFileSync(join(folder, 'shared.md'), 'utf8'), COLON)
  }
})

test('a path that does not exist is exit code 4, and the others are validated', async (t) => {
  const place = new Place(t)
  write(place, { good: GOOD })
  const { code, stdout } = await place.run(['skills', 'validate', 'nowhere', 'checked/good'])
  assert.equal(code, 4)
  assert.match(stdout, /error path-missing nowhere/)
  assert.match(stdout, /^valid checked\/good\/SKILL\.md$/m)
})

test('a folder without skills, and a file of another name, are said plainly', async (t) => {
  const place = new Place(t)
  mkdirSync(join(place.workspace, 'empty'))
  const empty = await place.run(['skills', 'validate', 'empty'])
  assert.equal(empty.code, 1)
  assert.match(empty.stdout, /error skill-missing empty/)
  mkdirSync(join(place.workspace, 'low'))
  writeFileSync(join(place.workspace, 'low', 'skill.md'), GOOD)
  const low = await place.run(['skills', 'validate', 'low'])
  assert.equal(low.code, 1)
  assert.match(low.stdout, /error skill-file-name low\/skill\.md/)
})

test('wrong use is exit code 2 with the way out', async (t) => {
  const place = new Place(t)
  for (const args of [[], ['x', '--profile', 'spek'], ['x', '--format', 'xml'], ['x', '--json', '--format', 'sarif']]) {
    const { code, stdout, stderr } = await place.run(['skills', 'validate', ...args])
    assert.equal(code, 2, args.join(' '))
    // With --json the error is an envelope.
    if (args.includes('--json')) assert.equal((JSON.parse(stdout) as Printed).ok, false)
    else assert.match(stderr, /fix:/)
  }
})

test('json holds every skill and finding in the envelope, alone on stdout', async (t) => {
  const place = new Place(t)
  write(place, { good: GOOD, colon: COLON })
  for (const flag of ['--json', '--format=json']) {
    const { code, stdout, stderr } = await place.run(['skills', 'validate', 'checked', '--strict', flag])
    assert.deepEqual([code, stderr], [1, ''])
    const { ok, data, diagnostics } = JSON.parse(stdout) as Printed
    assert.equal(ok, false)
    assert.deepEqual(
      data.skills.map(({ file, valid }) => [file, valid]),
      [
        ['checked/colon/SKILL.md', false],
        ['checked/good/SKILL.md', true],
      ],
    )
    assert.deepEqual(
      diagnostics.map(({ code: found, severity, line }) => `${severity} ${found} ${line}`),
      ['error yaml-repaired 3', 'warning key-spelling 4', 'warning key-unknown 4'],
    )
    assert.equal(data.summary['invalid'], 1)
  }
})

test('sarif has one run, a rule for each code, and results with places', async (t) => {
  const place = new Place(t)
  write(place, { 'a b': COLON })
  const { code, stdout } = await place.run(['skills', 'validate', 'checked', '--strict', '--format', 'sarif'])
  assert.equal(code, 1)
  const log = JSON.parse(stdout) as {
    version: string
    runs: { tool: { driver: { rules: { id: string }[] } }; results: Record<string, unknown>[] }[]
  }
  assert.equal(log.version, '2.1.0')
  const [run] = log.runs
  const result = run?.results.find(({ ruleId }) => ruleId === 'yaml-repaired')
  assert.equal(run?.tool.driver.rules[Number(result?.['ruleIndex'])]?.id, 'yaml-repaired')
  assert.equal(result?.['level'], 'error')
  assert.deepEqual(result?.['locations'], [
    {
      physicalLocation: {
        artifactLocation: { uri: 'checked/a%20b/SKILL.md' },
        region: { startLine: 3, startColumn: 14 },
      },
    },
  ])
})

test('github annotations are one line each, and hide nothing in a name', async (t) => {
  const place = new Place(t)
  write(place, { odd: '---\nname: "a\\n::error::b \\e[31m"\ndescription: d\n---\nSee [x](none.md).\n' })
  const { code, stdout } = await place.run(['skills', 'validate', 'checked', '--strict', '--format', 'github'])
  assert.equal(code, 1)
  const lines = stdout.trimEnd().split('\n')
  assert.ok(
    lines.every((line) =>
      /^::(?:error|notice) file=checked\/odd\/SKILL\.md,line=\d,col=\d+,title=[a-z-]+::/.test(line),
    ),
  )
  assert.ok(!stdout.includes('\u001b'))
  assert.match(stdout, /^::notice .*title=link-target::/m)
})

test('hostile text cannot move or colour text of the terminal', async (t) => {
  const place = new Place(t)
  write(place, { odd: '---\nname: odd\ndescription: 你\u001b[31m\u202e@x: y\n---\nx\n' })
  const { stdout } = await place.run(['skills', 'validate', 'checked', '--strict'])
  assert.match(stdout, /error \S+ checked\/odd\/SKILL\.md:3/)
  assert.ok(!/[\u001b\u202e]/.test(stdout))
})

test('migrate shows and then writes the form of the design, and does nothing twice', async (t) => {
  const place = new Place(t)
  const file = join(write(place, { claw: CLAW, good: GOOD }), 'claw', 'SKILL.md')
  const dry = await place.run(['skills', 'migrate', 'checked', '--dry-run'])
  assert.equal(dry.code, 0)
  assert.match(dry.stdout, / {2}- 4 \| metadata: \{"clawdbot"/)
  assert.match(dry.stdout, /1 of 2 skills would change/)
  assert.equal(readFileSync(file, 'utf8'), CLAW)
  assert.equal((await place.run(['skills', 'migrate', 'checked'])).code, 0)
  assert.equal(
    readFileSync(file, 'utf8'),
    '---\nname: claw\ndescription: d\nmetadata:\n  emoji: "🔧"\n  requires:\n    bins: ["foo"]\n---\nDo.\n',
  )
  assert.match((await place.run(['skills', 'migrate', 'checked'])).stdout, /^0 of 2 skills changed$/m)
})

test('migrate to flat makes metadata that the strict specification accepts', async (t) => {
  const place = new Place(t)
  write(place, { claw: CLAW })
  const { code, stdout } = await place.run(['skills', 'migrate', 'checked', '--to', 'flat', '--json'])
  assert.equal(code, 0)
  assert.equal((JSON.parse(stdout) as Printed).data.summary['changed'], 1)
  const checked = await place.run(['skills', 'validate', 'checked', '--strict', '--json'])
  assert.deepEqual([checked.code, (JSON.parse(checked.stdout) as Printed).diagnostics], [0, []])
})

test('migrate refuses what it cannot read, and what does not exist', async (t) => {
  const place = new Place(t)
  write(place, { broken: '---\nname: broken\n' })
  assert.equal((await place.run(['skills', 'migrate', 'checked'])).code, 1)
  assert.equal((await place.run(['skills', 'migrate', 'nowhere'])).code, 4)
  assert.equal((await place.run(['skills', 'migrate', 'checked', '--to', 'yaml'])).code, 2)
})
