import assert from 'node:assert/strict'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { startModelServer } from '../../../../../src/testing/index.ts'
import { Place } from '../../nexus.ts'

interface Why {
  readonly verdict: string
  readonly findings: readonly {
    code: string
    severity: string
    message: string
    path?: string
    line?: number
    fix: string
    places?: readonly { path: string }[]
  }[]
}

/** A skill in the workspace of a place, at `path` below it. */
function put(place: Place, path: string, text: string): void {
  const file = join(place.workspace, path, 'SKILL.md')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}. Use when asked.\n${more}---\n\n# ${name}\n`

async function why(
  place: Place,
  name: string,
  args: readonly string[] = ['--trust'],
): Promise<Why & { code: number | null }> {
  const { code, stdout, stderr } = await place.run(['skills', 'why', name, '--json', ...args])
  assert.ok(stdout !== '', stderr)
  return { code, ...(JSON.parse(stdout) as { data: Why }).data }
}

/** The finding with that code; each has something to do next. */
function found({ findings }: Why, code: string): Why['findings'][number] {
  assert.ok(findings.every((finding) => finding.fix !== ''))
  const match = findings.find((finding) => finding.code === code)
  assert.ok(match, `${code} is not among ${findings.map((finding) => finding.code).join(', ')}`)
  return match
}

test('a skill that is not there is answered with the places that were searched, and 4', async (t) => {
  const place = new Place(t)
  const answer = await why(place, 'absent')
  assert.equal(answer.code, 4)
  const { places = [] } = answer.findings[0] ?? {}
  assert.ok(places.some(({ path }) => path === join(place.workspace, 'skills')))
  const { stdout } = await place.run(['skills', 'why', 'absent'])
  assert.match(stdout, /\n {4}Looked in:\n {6}\.\/skills\n {6}\S/)
})

test('why ends with 1 when one of its findings is an error, although the skill is ready', async (t) => {
  const place = new Place(t)
  put(place, 'skills/stuck', skill('stuck', 'disable-model-invocation: true\nuser-invocable: false\n'))
  const { code, verdict, findings } = await why(place, 'stuck')
  assert.deepEqual([code, verdict, findings[0]?.severity], [1, 'ready', 'error'])
  assert.equal((await why(place, 'greet')).code, 0)
})

test('a skill in a wrong place is named with the place', async (t) => {
  const place = new Place(t)
  put(place, 'skills/greet/inner/lost', skill('lost'))
  const answer = await why(place, 'lost')
  assert.equal(answer.verdict, 'missing')
  assert.ok(answer.findings.some((finding) => finding.path?.endsWith('inner/lost/SKILL.md')))
})

test('a skill that cannot be read is answered with file and line', async (t) => {
  const answer = await why(new Place(t), 'broken')
  assert.equal(answer.verdict, 'invalid')
  assert.ok(answer.findings.some((finding) => finding.path?.endsWith('broken/SKILL.md') && finding.line === 1))
})

test('a skill without description is held for it', async (t) => {
  const place = new Place(t)
  put(place, 'skills/mute', '---\nname: mute\n---\n\n# Mute\n')
  found(await why(place, 'mute'), 'missing-description')
})

test('each unmet need is a finding of its own', async (t) => {
  const answer = await why(new Place(t), 'image-gen')
  assert.equal(answer.code, 1)
  found(answer, 'bin')
  found(answer, 'env')
})

test('an untrusted workspace is the answer, with the command to type', async (t) => {
  const answer = await why(new Place(t), 'greet', [])
  assert.match(found(answer, 'untrusted').fix, /nexus trust/)
})

test('a disabled skill and one not on the list of its agent are answered so', async (t) => {
  const place = new Place(t)
  const config = 'agents:\n  - { id: main, skills: [slow] }\nskills:\n  disabled_skills: [slow]\n'
  writeFileSync(join(place.workspace, 'nexus.yaml'), config)
  found(await why(place, 'slow'), 'disabled')
  found(await why(place, 'greet'), 'not-allowed')
})

test('a shadowed copy is answered with the file that wins, one with the same files as a duplicate', async (t) => {
  const place = new Place(t)
  const extra = join(place.root, 'extra')
  cpSync(join(place.workspace, 'skills', 'slow'), join(extra, 'slow'), { recursive: true })
  mkdirSync(join(extra, 'greet'), { recursive: true })
  writeFileSync(join(extra, 'greet', 'SKILL.md'), skill('greet'))
  const flags = ['--trust', '--skills-dir', extra]
  const shadowed = await why(place, 'extra:extra/greet', flags)
  assert.match(JSON.stringify(shadowed), /shadowed by \.\/skills\/greet\/SKILL\.md/)
  assert.match(JSON.stringify(await why(place, 'extra:extra/slow', flags)), /duplicate/)
})

test('a skill that the budget shortened or left out is answered so', async (t) => {
  const place = new Place(t)
  for (let index = 0; index < 40; index++)
    put(place, `skills/many-${index}`, skill(`many-${index}`, `license: ${'x'.repeat(20)}\n`))
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'skills:\n  prompt: { budgetChars: 900 }\n')
  const codes = new Set<string>()
  for (const name of ['many-0', 'slow'])
    for (const finding of (await why(place, name)).findings) codes.add(finding.code)
  assert.ok(
    [...codes].some((code) => code.startsWith('over-budget')),
    [...codes].join(', '),
  )
})

test('a skill that came after the last turn of a session is answered as stale', async (t) => {
  const place = new Place(t)
  await using server = await startModelServer({ script: [{ type: 'text', text: 'ok' }] })
  await place.run(['run', 'hello', '--trust', '--model', 'openai-compatible/scripted', '--base-url', server.url])
  const { stdout } = await place.run(['sessions', 'list', '--json'])
  const id = (JSON.parse(stdout) as { data: { sessions: { id: string }[] } }).data.sessions[0]?.id ?? ''
  put(place, 'skills/newcomer', skill('newcomer'))
  found(await why(place, 'newcomer', ['--trust', '--session', id]), 'stale-session')
})

test('a skill that a session loaded in the turn in which it came is known, until its script changes', async (t) => {
  const place = new Place(t)
  const load = { name: 'load_skill', arguments: { skill_name: 'newcomer' } }
  await using server = await startModelServer({
    script: ({ messages }) => {
      if (messages.some(({ role }) => role === 'tool')) return { type: 'text', text: 'ok' }
      put(place, 'skills/newcomer', skill('newcomer'))
      writeFileSync(join(place.workspace, 'skills/newcomer/run.sh'), 'echo 1\n')
      return { type: 'tool-calls', calls: [load] }
    },
  })
  await place.run(['run', 'hello', '--trust', '--model', 'openai-compatible/scripted', '--base-url', server.url])
  const { stdout } = await place.run(['sessions', 'list', '--json'])
  const id = (JSON.parse(stdout) as { data: { sessions: { id: string }[] } }).data.sessions[0]?.id ?? ''
  const same = await why(place, 'newcomer', ['--trust', '--session', id])
  assert.ok(!same.findings.some(({ code }) => code === 'stale-session'), JSON.stringify(same.findings))
  writeFileSync(join(place.workspace, 'skills/newcomer/run.sh'), 'echo 2\n')
  const { findings } = await why(place, 'newcomer', ['--trust', '--session', id])
  const stale = findings.find(({ code }) => code === 'stale-session')
  assert.equal(stale?.message, 'Its files changed after the session loaded it.')
})

test('in a terminal the answer comes first, each finding with what to do next', async (t) => {
  const { stdout, code } = await new Place(t).run(['skills', 'why', 'image-gen'])
  assert.equal(code, 1)
  assert.match(stdout, /^image-gen is held\.\n\n✗ /)
  assert.match(stdout, /missing env: GEMINI_API_KEY[^✗]*fix: Set skills\.entries\.image-gen/)
})

test('search finds a ready skill by its words, and ends with 4 when none fits', async (t) => {
  const place = new Place(t)
  assert.match((await place.run(['skills', 'search', 'spreadsheet', 'chart'])).stdout, /^csv-report/)
  assert.equal((await place.run(['skills', 'search', 'quantum'])).code, 4)
})

/** A need that nothing meets, the line of the key that says so, and what to do. */
const WRITTEN: Readonly<Record<string, readonly [metadata: string, line: number, fix: RegExp]>> = {
  'flow-os': ['  x: y\n  requires: {bins: [ls], os: [plan9]}\n', 6, /os:/],
  'other-spelling': ['  install:\n    - kind: brew\n      os: [darwin]\n  os: [osf, Mac-OS]\n', 8, /os:/],
  'empty-part': ['  requires:\n    config: ["a..b"]\n', 6, /^Fix .*SKILL\.md: 'a\.\.b' is not a valid setting/],
}

for (const [name, [metadata, line, fix]] of Object.entries(WRITTEN)) {
  test(`a reason has the line of the key that gives it: ${name}`, async (t) => {
    const place = new Place(t)
    put(place, `skills/${name}`, skill(name, `metadata:\n${metadata}`))
    const { findings, verdict } = await why(place, name)
    assert.equal(verdict, 'held')
    assert.deepEqual([findings[0]?.line, fix.test(findings[0]?.fix ?? '')], [line, true], findings[0]?.fix)
  })
}

test('a requirement that is misspelt is told, although the skill is ready', async (t) => {
  const place = new Place(t)
  put(place, 'skills/slip', skill('slip', 'metadata:\n  requires: {bin: [absent]}\n'))
  const answer = await why(place, 'slip')
  assert.equal(answer.verdict, 'ready')
  assert.deepEqual(
    [found(answer, 'metadata-key').line, found(answer, 'metadata-key').fix],
    [5, 'Write bins instead of "bin", or remove it.'],
  )
})

test('no text in a skill makes a command print warnings', async (t) => {
  const place = new Place(t)
  const json = `{"openclaw":{"emoji":"${'\u2028'.repeat(50)}"}}`
  put(place, 'skills/separators', skill('separators', `metadata: '${json}'\n`))
  for (const command of ['list', 'check']) {
    const { stderr } = await place.run(['skills', command, '--json', '--trust'])
    assert.equal(stderr, '')
  }
})

test('commands that an answer proposes look where the command looked', async (t) => {
  const place = new Place(t)
  put(place, "o'f/dull", '---\nname: dull\n---\n')
  const given = ['--skills-dir', "o'f", '--agent', 'main']
  const told = `nexus skills why --skills-dir 'o'\\''f' --agent main`
  const { stdout } = await place.run(['skills', 'why', 'dull', ...given])
  assert.ok(stdout.includes(`ask again: ${told} dull`), stdout)
  const missed = await place.run(['skills', 'why', 'dul', ...given])
  assert.ok(missed.stdout.includes(`Run: ${told} dull`), missed.stdout)
  for (const command of ['show', 'check']) {
    const { stderr, code } = await place.run(['skills', command, 'zzzz', ...given])
    assert.equal(code, 4)
    if (command === 'show') assert.ok(stderr.includes(`${told} zzzz`), stderr)
  }
  const { stderr } = await place.run(['skills', 'check', 'dull', ...given, '--json'])
  assert.equal(stderr, '')
})

test('of a copy that counts as one with another nothing has to be done, and trust has its path', async (t) => {
  const place = new Place(t)
  for (const directory of ['a', 'b']) put(place, `skills/${directory}`, skill('twin'))
  const { stdout } = await place.run(['skills', 'check', 'twin'])
  assert.match(stdout, /all its files equal those of .*\n.*\n\s+\w+: Nothing to fix/)
  assert.doesNotMatch(stdout, /address it as/)
  const { findings } = await why(place, 'twin', [])
  const trusting = findings.filter(({ code }) => code === 'untrusted').map(({ fix }) => fix)
  assert.equal(trusting.length, 2)
  for (const fix of trusting) assert.ok(fix.endsWith(`nexus trust ${place.workspace}`), fix)
})

test('a skill that cannot be shown with its content names the command with the same places', async (t) => {
  const place = new Place(t)
  put(place, 'more/dull', '---\nname: dull\n---\n')
  const { stderr } = await place.run(['skills', 'show', 'dull', '--content', '--skills-dir', 'more'])
  assert.match(stderr, /nexus skills why --skills-dir more \S*dull/)
})
