import assert from 'node:assert/strict'
import { test } from 'node:test'

import { isNexusError, type Skill } from '../../../src/kernel/index.ts'
import {
  aboutBudget,
  type IndexOptions,
  type PromptIndex,
  renderIndex,
  skillRules,
} from '../../../src/skills/catalog/index.ts'
import { catalogOf, copy } from './copies.ts'

const CATALOG = catalogOf([
  copy('csv-report', { description: 'Turns a CSV file into a summary.', directory: '/skills/csv-report' }),
  copy('github', { description: "Works with GitHub's issues & PRs.", directory: '/skills/github' }),
])

function text(options: IndexOptions = {}): string {
  return renderIndex(CATALOG, options).text
}

test('the Markdown style is the section of seed 001, with locations and one wrapper', () => {
  assert.equal(
    text({ loadTool: false }),
    [
      '<skills>',
      'Available skills provide specialized knowledge. Read SKILL.md for detailed instructions.',
      '',
      '- **csv-report**: Turns a CSV file into a summary.',
      '  Location: `/skills/csv-report/SKILL.md`',
      "- **github**: Works with GitHub's issues &amp; PRs.",
      '  Location: `/skills/github/SKILL.md`',
      '</skills>',
    ].join('\n'),
  )
})

test('the XML style is the catalog of agentskills, with every special character escaped', () => {
  assert.equal(
    text({ style: 'xml', location: ({ name }) => `skill://${name}` }),
    [
      'Available skills provide specialized knowledge. Call load_skill with the name of a skill to read its detailed instructions.',
      '<available_skills>',
      '  <skill>',
      '    <name>csv-report</name>',
      '    <description>Turns a CSV file into a summary.</description>',
      '    <location>skill://csv-report</location>',
      '  </skill>',
      '  <skill>',
      '    <name>github</name>',
      '    <description>Works with GitHub&apos;s issues &amp; PRs.</description>',
      '    <location>skill://github</location>',
      '  </skill>',
      '</available_skills>',
    ].join('\n'),
  )
})

test('the list style is the list of seed 003, the names style leaves the descriptions out', () => {
  const head = '<skills>\nCall Skill with the name of a skill to read its detailed instructions.\n'
  assert.equal(
    text({ style: 'list', loadTool: 'Skill' }),
    `${head}- csv-report: Turns a CSV file into a summary.\n- github: Works with GitHub's issues &amp; PRs.\n</skills>`,
  )
  assert.equal(text({ style: 'names', loadTool: 'Skill' }), `${head}- csv-report\n- github\n</skills>`)
})

test('no skill gives no text', () => {
  assert.deepEqual(renderIndex(catalogOf([])), { text: '', characters: 0, tokens: 0, items: [] })
})

test('a skill that the model may not start by itself is left out', () => {
  const index = renderIndex(catalogOf([copy('a'), copy('b', { model: false })]))
  assert.deepEqual(
    index.items.map(({ name }) => name),
    ['a'],
  )
  assert.doesNotMatch(index.text, /more:/)
})

test('locations can be left out', () => {
  assert.doesNotMatch(text({ location: false }), /Location/)
  assert.doesNotMatch(text({ location: () => undefined }), /Location/)
})

const LONG = Array.from({ length: 10 }, (_, index) =>
  copy(`skill-${index}`, { description: 'word '.repeat(100).trim() }),
)

test('over budget, descriptions are cut evenly by the longest cap that fits, and short ones stay whole', () => {
  const catalog = catalogOf([...LONG, copy('brief', { description: 'Short and whole.' })])
  const index = renderIndex(catalog, { style: 'list', budgetChars: 3000 })
  assert.ok(index.characters <= 3000)
  assert.match(index.text, /- brief: Short and whole\.\n/)
  assert.deepEqual(
    index.items.map(({ shown }) => shown),
    ['full', ...LONG.map(() => 'shortened')],
  )
  const lengths = [...index.text.matchAll(/^- skill-\d: (.*)$/gm)].map(([, description]) => description?.length ?? 0)
  assert.equal(lengths.length, 10)
  // One more character for each of the ten would not have fitted; at most one space is trimmed before each ellipsis.
  assert.ok(index.characters + 10 + 10 > 3000, `${index.characters}`)
  assert.ok(Math.max(...lengths) - Math.min(...lengths) <= 1)
  assert.ok(Math.min(...lengths) >= 40)
})

const shownIn = (index: PromptIndex): string => index.items.map(({ shown }) => shown[0]).join('')

test('a location is asked for only when everything else fits', () => {
  let asked = 0
  const location = (): string => `/place/${asked++}`
  text({ budgetChars: 200, location })
  assert.equal(asked, 0)
  text({ location })
  assert.ok(asked > 0)
})

test('locations go first where a tool loads skills, and stay where none does', () => {
  const whole = renderIndex(catalogOf(LONG))
  const budgetChars = whole.characters - 1
  const index = renderIndex(catalogOf(LONG), { budgetChars })
  assert.doesNotMatch(index.text, /Location/)
  assert.equal(shownIn(index), 'f'.repeat(10))
  assert.equal(index.overBudget, undefined)
  const readWhole = renderIndex(catalogOf(LONG), { loadTool: false })
  const read = renderIndex(catalogOf(LONG), { budgetChars: readWhole.characters - 1, loadTool: false })
  assert.equal(read.text.match(/Location: `/g)?.length, 10)
  assert.equal(shownIn(read), 's'.repeat(10))
})

test('when even 40 characters do not fit, the last in rank are shown by name, as few as needed', () => {
  const index = renderIndex(catalogOf(LONG), { style: 'list', budgetChars: 500 })
  assert.match(shownIn(index), /^s+n+$/)
  const described = [...index.text.matchAll(/^- skill-\d: (.*)$/gm)].map(([, description]) => description?.length ?? 0)
  assert.ok(Math.min(...described) >= 39, `${described}`)
  // One more description of 40 characters would not have fitted, and the others use what is left.
  assert.ok(index.characters + 42 > 500, `${index.characters}`)
})

test('higher tiers keep their descriptions longest, then what is used most, then the first names', () => {
  const description = 'word '.repeat(100).trim()
  const long = '-and-on'.repeat(8)
  const skills = [
    copy(`a${long}`, { description, tier: 'extra' }),
    copy(`b${long}`, { description, tier: 'local' }),
    copy(`c${long}`, { description, tier: 'local' }),
    copy(`d${long}`, { description, tier: 'workspace' }),
    copy(`e${long}`, { description, tier: 'extra' }),
  ]
  const usesOf = ({ name }: Skill): number => ({ c: 2, e: 1 })[name[0] ?? ''] ?? 0
  const at = (budgetChars: number): string =>
    shownIn(renderIndex(catalogOf(skills), { style: 'list', budgetChars, usesOf }))
  const seen = Array.from({ length: 900 }, (_, index) => at(900 - index))
  assert.deepEqual(
    seen.filter((shown, index) => shown !== seen[index - 1]),
    ['sssss', 'nssss', 'nsssn', 'nnssn', 'nnnsn', 'nnnnn', 'onnnn', 'onnno', 'oonno', 'ooono', 'ooooo'],
  )
})

test('each character of budget more shows no less', () => {
  const weight = { full: 1000, shortened: 100, name: 10, omitted: 0 }
  const worth = ({ items }: PromptIndex): number => items.reduce((sum, { shown }) => sum + weight[shown], 0)
  const budgets = Array.from({ length: 280 }, (_, index) => index * 20)
  const worths = budgets.map((budgetChars) => worth(renderIndex(catalogOf(LONG), { budgetChars })))
  assert.deepEqual(
    worths,
    worths.toSorted((a, b) => a - b),
  )
})

test('what the budget cuts is given as numbers, with the budget that would show all', () => {
  const index = renderIndex(catalogOf(LONG), { style: 'list', budgetChars: 500 })
  const { shortened = 0, nameOnly = 0, omitted, neededChars = 0 } = index.overBudget ?? {}
  assert.deepEqual([shortened + nameOnly, omitted], [10, 0])
  assert.equal(renderIndex(catalogOf(LONG), { style: 'list', budgetChars: neededChars }).overBudget, undefined)
  assert.ok(renderIndex(catalogOf(LONG), { style: 'list', budgetChars: neededChars - 1 }).overBudget)
  const warning = aboutBudget(index, '/w/nexus.yaml')
  assert.deepEqual([warning?.code, warning?.subject], ['over-budget', 'skills.prompt.budgetChars'])
  assert.match(warning?.fix ?? '', new RegExp(`^Set skills\\.prompt\\.budgetChars to ${neededChars} in nexus\\.yaml`))
  assert.equal(aboutBudget(renderIndex(CATALOG), '/w/nexus.yaml'), undefined)
})

test('when not all names fit, a visible line says how many are missing and where they are', () => {
  const index = renderIndex(catalogOf(LONG), { style: 'list', budgetChars: 150 })
  const named = index.items.filter(({ shown }) => shown === 'name').length
  assert.ok(named > 0 && named < 10)
  assert.match(index.text, new RegExp(`^${10 - named} more: not listed here$`, 'm'))
  const searched = renderIndex(catalogOf(LONG), { style: 'xml', budgetChars: 300, findTool: 'find_skills' })
  assert.match(searched.text, /^ {2}\d more: call find_skills$/m)
})

test('a budget smaller than the frame gives the bare count, and one smaller than that gives nothing', () => {
  assert.equal(renderIndex(catalogOf(LONG), { budgetChars: 40 }).text, '10 more: not listed here')
  assert.equal(renderIndex(catalogOf(LONG), { budgetChars: 5 }).text, '')
  assert.equal(renderIndex(catalogOf(LONG), { budgetChars: 0 }).characters, 0)
})

test('a budget that is no whole number is refused', () => {
  for (const budgetChars of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(
      () => renderIndex(CATALOG, { budgetChars }),
      (error) => isNexusError(error) && error.code === 'INVALID_ARGUMENT',
    )
  }
})

test('a label of 64 KiB is counted, not shown, and pushes nobody out', () => {
  const index = renderIndex(catalogOf([copy('n'.repeat(65_536)), copy('ok')]))
  assert.match(index.text, /- \*\*ok\*\*: Does ok\./)
  assert.match(index.text, /^1 more: /m)
})

test('each skill carries its own cost in tokens', () => {
  const index = renderIndex(CATALOG)
  for (const { tokens } of index.items) assert.ok(tokens > 15 && tokens < 40, `${tokens}`)
  assert.ok(index.tokens > index.items.reduce((sum, { tokens }) => sum + tokens, 0))
})

test('the rules of the system prompt name the load tool and the $mention', () => {
  const rules = skillRules({ loadTool: 'Skill' })
  assert.match(rules, /\$skill-name/)
  assert.match(rules, /load it with the Skill tool/)
  assert.match(rules, /only when you need it/)
  assert.match(skillRules({ loadTool: false }), /read its SKILL\.md/)
})
