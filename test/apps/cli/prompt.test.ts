import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Place } from './nexus.ts'

const STYLES = {
  markdown: [/^- \*\*greet\*\*: /m, '</skills>'],
  xml: [/^ {4}<name>greet<\/name>$/m, '</available_skills>'],
  list: [/^- greet: /m, '</skills>'],
  names: [/^- greet$/m, '</skills>'],
} as const

interface Printed {
  readonly data: { text: string; index: { style: string; characters: number; tokens: number; budgetChars: number } }
}

test('each style of the index can be looked at, and closes once whatever descriptions hold', async (t) => {
  const place = new Place(t)
  for (const [style, [line, end]] of Object.entries(STYLES)) {
    const { code, stdout, stderr } = await place.run(['prompt', '--trust', '--style', style])
    assert.equal(code, 0, stderr)
    assert.match(stdout, line, style)
    assert.equal(stdout.split(end).length, 2, style)
    assert.match(
      stderr,
      new RegExp(`style ${style}: \\d+ characters, about \\d+ tokens with the rules of use; .* of 12000 characters`),
    )
  }
})

test('the style is that of nexus.yaml, and a flag weighs more', async (t) => {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), 'skills: { prompt: { style: xml, budgetChars: 400 } }\n')
  const { data } = JSON.parse((await place.run(['prompt', '--trust', '--json'])).stdout) as Printed
  assert.deepEqual([data.index.style, data.index.budgetChars], ['xml', 400])
  assert.ok(data.index.characters <= 400)
  const flags = ['--style', 'names', '--budget', '300']
  const { data: other } = JSON.parse((await place.run(['prompt', '--trust', ...flags, '--json'])).stdout) as Printed
  assert.deepEqual([other.index.style, other.index.budgetChars], ['names', 300])
  assert.ok(other.index.characters <= 300)
})

test('the budget is that of SKILLS_PROMPT_CHAR_BUDGET where nothing else says one', async (t) => {
  const place = new Place(t)
  const env = { SKILLS_PROMPT_CHAR_BUDGET: '250' }
  const { stderr } = await place.run(['prompt', '--trust'], { env })
  assert.match(stderr, / of 250 characters/)
  assert.match((await place.run(['prompt', '--trust', '--budget', '9000'], { env })).stderr, / of 9000 characters/)
})

test('the cost is that of all that is sent, the rules of use too', async (t) => {
  const { stdout } = await new Place(t).run(['prompt', '--trust', '--json'])
  const { data } = JSON.parse(stdout) as { data: { text: string; characters: number; index: { characters: number } } }
  assert.equal(data.characters, [...data.text].length)
  assert.ok(data.characters > data.index.characters)
})

test('list, prompt and doctor report skills that the budget cuts, with the setting that shows them', async (t) => {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), 'skills: { prompt: { budgetChars: 300 } }\n')
  for (const [command, stream] of [
    [['skills', 'list', '--trust'], 'stderr'],
    [['prompt', '--trust'], 'stderr'],
    [['doctor'], 'stdout'],
  ] as const) {
    const printed = (await place.run(command))[stream]
    assert.match(printed, /over-budget/, command.join(' '))
    assert.match(printed, /Set skills\.prompt\.budgetChars to \d+ in nexus\.yaml/, command.join(' '))
  }
  const { stdout } = await place.run(['skills', 'list', '--trust', '--json'])
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; subject?: string }[] }
  assert.equal(diagnostics.find(({ code }) => code === 'over-budget')?.subject, 'skills.prompt.budgetChars')
})

test('with the Skill tool on the surface the style is list, and that is said', async (t) => {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), 'skills: { surface: [Skill] }\n')
  const { code, stdout, stderr } = await place.run(['prompt', '--trust', '--style', 'xml'])
  assert.equal(code, 0)
  assert.match(stdout, /^- greet: /m)
  assert.match(stderr, /--style xml has no effect, because .*Skill/)
})

test('a budget that holds not even a count says so', async (t) => {
  const { code, stdout, stderr } = await new Place(t).run(['prompt', '--trust', '--budget', '0'])
  assert.deepEqual([code, stdout], [0, ''])
  assert.match(stderr, /Over budget: 0 characters have no room/)
})

for (const [flag, value, fix] of [
  ['--style', 'xlm', /fix: Write --style xml/],
  ['--style', '', /fix: Write --style markdown/],
  ['--budget', 'many', /fix: Write, for example, --budget 12000/],
  ['--budget', '-1', /budget/],
  ['--budget', '1.5', /fix: Write, for example, --budget 12000/],
] as const)
  test(`${flag} '${value}' is wrong use`, async (t) => {
    const { code, stdout, stderr } = await new Place(t).run(['prompt', '--trust', flag, value])
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, fix)
  })
