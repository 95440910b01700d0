import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { copiesIn } from '../../src/cli/show/skills.ts'
import type { Invocation } from '../../src/cli/command.ts'
import { showOne } from '../../src/cli/commands/skills/catalog.ts'
import { findings } from '../../src/cli/open.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { readEnvironment } from '../../src/config/index.ts'
import { skillAddress } from '../../src/kernel/index.ts'
import { lookAround, type LookOptions } from '../../src/local/inspect.ts'
import { Place } from './nexus.ts'

const USUAL = 'description: Does it. Use when asked.\n'

/** A SKILL.md; `more` are further lines of its frontmatter. */
function text(name: string, more = USUAL): string {
  return `---\nname: ${name}\n${more}---\nBody of ${name}.\n`
}

/** Names that several copies have, in every way that matters to their state. */
const FILES: Readonly<Record<string, string>> = {
  'workspace/skills/pdf/SKILL.md': text('pdf'),
  'workspace/skills/zzz/SKILL.md': text('pdf', 'description: The last in path order.\n'),
  'workspace/skills/group/sub/docx/SKILL.md': text('docx'),
  'workspace/skills/docx/SKILL.md': text('docx'),
  'workspace/skills/off/SKILL.md': text('off'),
  'workspace/skills/held/SKILL.md': text(
    'held',
    `${USUAL}metadata: {"nexus":{"requires":{"bins":["no-such-bin-1"]}}}\n`,
  ),
  'workspace/skills/keyed/SKILL.md': text('keyed', `${USUAL}metadata: {"nexus":{"skillKey":"pdf"}}\n`),
  'workspace/skills/wide/SKILL.md': text('ｐｐｔｘ'),
  'workspace/skills/mute/SKILL.md': '---\nname: mute\n---\n',
  'workspace/skills/odd/SKILL.md': text('"o\\x64d"', 'description: "« Wörter » 📄"\nlicense: MIT — or so\n'),
  'workspace/skills/nameless/SKILL.md': `---\n${USUAL}---\n`,
  'workspace/skills/halved/SKILL.md': 'no frontmatter',
  'workspace/skills/node_modules/SKILL.md': text('node_modules'),
  'home/skills/pdf/SKILL.md': text('pdf'),
  'home/skills/pptx/SKILL.md': text('pptx'),
  'home/skills/halved/SKILL.md': text('halved'),
  'home/skills/apart/SKILL.md': text(
    'apart',
    `${USUAL}license: MIT\ncompatibility: Needs « Node »\nallowed-tools: Read, Bash(git:*)\n`,
  ),
  'extra/same/SKILL.md': text('docx'),
  'extra/pdf/SKILL.md': text('pdf', 'description: Another one.\nos: windows\n'),
  'extra/github/SKILL.md': text('github'),
  'extra/installs/SKILL.md': text(
    'installs',
    `${USUAL}metadata: {"nexus":{"primaryEnv":"MY_TOKEN","requires":{"bins":["no-such-bin-2"]},"install":[{"kind":"brew","formula":"gh","bins":["no-such-bin-2"]}]}}\n`,
  ),
  'extra/long/SKILL.md': text('long', `description: ${'long '.repeat(1_200)}\n`),
  'home/nexus.yaml':
    'skills:\n  disabled_skills: [off]\n  entries:\n    installs: { env: { MY_TOKEN: "1", STRAY: "2" } }\nagents:\n  - id: main\n  - id: narrow\n    skills: [docx, local/pdf]\n',
}

function prepare(t: { after: (fn: () => void) => void }): { readonly place: Place; readonly options: LookOptions } {
  const place = new Place(t)
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(place.root, path)), { recursive: true })
    writeFileSync(join(place.root, path), content)
  }
  symlinkSync('pdf', join(place.workspace, 'skills/linked'))
  symlinkSync('/', join(place.workspace, 'skills/outside'))
  const environment = readEnvironment({ PATH: process.env['PATH'], HOME: place.root, NEXUS_HOME: place.home })
  const skillsDirs = [join(place.root, 'extra'), join(place.root, 'none')]
  return { place, options: { cwd: place.workspace, environment, skillsDirs, tolerateConfigErrors: true } }
}

interface Shown {
  readonly stdout: string
  /** What is wrong with the configuration and the places. */
  readonly notes: readonly string[]
}

/** What `skills show` prints about a name: with everything looked at, or only what is asked for. */
async function show(name: string, options: LookOptions, flags: Invocation['flags']): Promise<Shown> {
  const look = await lookAround(options)
  const written: string[] = []
  const parts = {
    columns: 80,
    paint: (_style: string, words: string) => words,
    paintNote: (_style: string, words: string) => words,
    line: (words = '') => written.push(words),
    json: (value: unknown) => written.push(JSON.stringify(value, undefined, 2)),
    note: (words: string) => written.push(`note: ${words}`),
  }
  const { environment, cwd } = options
  const invocation = { flags, environment, cwd, terminal: parts as unknown as Terminal } as Invocation
  const catalog = look.catalog(typeof flags['agent'] === 'string' ? flags['agent'] : undefined)
  try {
    await showOne(name, { look, catalog, invocation })
  } catch (error) {
    written.push(String(error))
  }
  const about = findings({ diagnostics: look.diagnostics, found: look.found, catalog: look.catalog() })
  return { stdout: written.join('\n'), notes: about.map(({ path, message }) => `${path}: ${message}`) }
}

const WAYS: readonly Invocation['flags'][] = [{}, { json: true }, { agent: 'narrow' }]

for (const trusted of [true, false]) {
  test(`one skill is shown as if everything had been looked at, in a workspace that is ${trusted ? '' : 'not '}trusted`, async (t) => {
    const { options } = prepare(t)
    const all = { ...options, trusted }
    const copies = copiesIn((await lookAround(all)).catalog())
    const names = new Set([...copies.map(({ name }) => name), 'workspace/pdf', 'halved', 'broken', 'none'])
    assert.ok(names.size > 20)
    for (const name of names) {
      for (const flags of WAYS) {
        const label = `${name} ${JSON.stringify(flags)}`
        assert.deepEqual(await show(name, { ...all, name }, flags), await show(name, all, flags), label)
      }
    }
  })
}

test('a name that is found where it should be does not make others be looked at', async (t) => {
  const { options } = prepare(t)
  const namesOf = async (name: string): Promise<readonly string[]> => {
    const look = await lookAround({ ...options, trusted: true, name })
    return copiesIn(look.catalog()).map(skillAddress).sort()
  }
  // A name that must be folded before it can be compared is always taken along.
  const odd = 'workspace/ｐｐｔｘ'
  assert.deepEqual(await namesOf('apart'), ['local/apart', odd])
  assert.deepEqual(await namesOf('docx'), ['extra:extra/docx', 'workspace/docx', 'workspace/docx', odd])
  assert.ok((await namesOf('none')).length > 20)
  assert.ok((await namesOf('keyed')).length > 20)
})

test('a large folder is not searched for the same name, and show says so', async (t) => {
  const { place, options } = prepare(t)
  for (let index = 0; index < 300; index++) {
    mkdirSync(join(place.root, `extra/s-${index}`))
    writeFileSync(join(place.root, `extra/s-${index}/SKILL.md`), text(`s-${index}`))
  }
  const narrow = await lookAround({ ...options, name: 's-8' })
  assert.ok(copiesIn(narrow.catalog()).length > 300, 'an agent with a list of skills may see another copy')
  writeFileSync(join(place.home, 'nexus.yaml'), '{}\n')
  const { stdout } = await show('s-7', { ...options, name: 's-7' }, {})
  const extra = join(place.root, 'extra')
  assert.ok(
    stdout.endsWith(
      `note: Not searched for other skills of that name: ${extra}. nexus skills why s-7 looks everywhere`,
    ),
  )
  assert.ok(stdout.startsWith((await show('s-7', options, {})).stdout))
  const json = await show('s-7', { ...options, name: 's-7' }, { json: true })
  const { diagnostics } = JSON.parse(json.stdout) as { diagnostics: readonly { code: string; severity: string }[] }
  assert.deepEqual(
    diagnostics.map(({ code, severity }) => [code, severity]),
    [['same-name-not-searched', 'info']],
  )
})

test('nexus skills show prints one skill, and the nearest names for one that is not there', async (t) => {
  const { place } = prepare(t)
  const shown = await place.run(['skills', 'show', 'apart', '--json'])
  assert.equal(shown.code, 0, shown.stderr)
  const { data } = JSON.parse(shown.stdout) as { data: { address: string; sha256: string } }
  assert.equal(data.address, 'local/apart')
  assert.match(data.sha256, /^[0-9a-f]{64}$/)
  const missing = await place.run(['skills', 'show', 'apar'])
  assert.deepEqual([missing.code, missing.stdout], [4, ''])
  assert.match(missing.stderr, /There is no skill 'apar'/)
})
