import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'

import { createSkillSearch, shownName } from '../../../src/skills/catalog/index.ts'
import type { JsonObject, Skill } from '../../../src/kernel/index.ts'
import { copy } from './copies.ts'

const withTags = (skill: Skill, frontmatter: JsonObject): Skill => ({ ...skill, frontmatter })

const SKILLS: readonly Skill[] = [
  copy('pdf-forms', { description: 'Fill in forms and sign them.' }),
  copy('report-writer', { description: 'Write a report about sales figures, with charts.' }),
  withTags(copy('ledger', { description: 'Keeps books.' }), { tags: 'accounting, invoices' }),
  withTags(copy('voyage', { description: 'Plans a journey.' }), { metadata: { keywords: ['train', 'hotel', 7] } }),
  copy('resume', { description: 'Schreibt einen Lebenslauf für Übersetzer; résumé.' }),
  copy('数据分析', { description: '对销售数据进行分析并生成图表。' }),
  copy('kubernetes-deploy', { description: 'Deploys to a cluster.' }),
]

async function namesFor(query: string, skills = SKILLS, limit = 10): Promise<readonly string[]> {
  return (await createSkillSearch(skills).find(query, { limit })).skills.map(shownName)
}

test('a skill is found by words of its name, its tags and its description', async () => {
  assert.equal((await namesFor('pdf'))[0], 'pdf-forms')
  assert.equal((await namesFor('charts'))[0], 'report-writer')
  assert.equal((await namesFor('invoices'))[0], 'ledger')
  assert.equal((await namesFor('a hotel near the train'))[0], 'voyage')
})

test('words are completed, plurals and accents do not matter, and a slip is forgiven', async () => {
  assert.equal((await namesFor('kube'))[0], 'kubernetes-deploy')
  assert.equal((await namesFor('reports'))[0], 'report-writer')
  assert.equal((await namesFor('ubersetzer'))[0], 'resume')
  assert.equal((await namesFor('kuberentes'))[0], 'kubernetes-deploy')
  assert.equal((await namesFor('chrats'))[0], 'report-writer')
})

test('text without blanks between words is searched too', async () => {
  assert.equal((await namesFor('销售数据'))[0], '数据分析')
  assert.equal((await namesFor('图表'))[0], '数据分析')
})

test('a name outranks the same word in a description, and an exact name comes first', async () => {
  const skills = [
    copy('charts-and-more', { description: 'Charts, charts, charts of charts.' }),
    copy('other', { description: 'chart chart chart chart' }),
    copy('chart', { description: 'Draws.' }),
  ]
  assert.deepEqual(await namesFor('chart', skills), ['chart', 'charts-and-more', 'other'])
  assert.equal((await namesFor('$chart', skills))[0], 'chart')
  assert.equal((await namesFor('local/other', skills))[0], 'other')
})

test('words that every question has do not count, unless there are no others', async () => {
  assert.deepEqual(await namesFor('how can I use the'), [])
  assert.equal((await namesFor('the', [copy('the')]))[0], 'the')
})

test('nothing to find is an empty answer', async () => {
  for (const query of ['', '   ', '!!!', 'zzzzqqqqzzzz', '\u0000\u202e']) {
    assert.deepEqual(await createSkillSearch(SKILLS).find(query), { skills: [], total: 0 })
  }
  assert.deepEqual(await createSkillSearch([]).find('pdf'), { skills: [], total: 0 })
})

test('the limit cuts the list and not the count', async () => {
  const skills = Array.from({ length: 30 }, (_, index) => copy(`csv-${index}`))
  const { skills: found, total } = await createSkillSearch(skills).find('csv', { limit: 4 })
  assert.deepEqual([found.length, total], [4, 30])
})

test('frontmatter of any shape does not disturb the search', async () => {
  const odd: JsonObject[] = [
    { tags: 7 },
    { tags: { a: 1 } },
    { metadata: 'text' },
    { metadata: ['a'] },
    { tags: [null] },
  ]
  const skills = odd.map((frontmatter, index) => withTags(copy(`odd-${index}`), frontmatter))
  assert.equal((await namesFor('odd', skills)).length, odd.length)
})

test('a huge description and a huge question are cut to a bounded size', async () => {
  const skills = [copy('big', { description: `needle ${'x'.repeat(3_000_000)} lost` })]
  assert.deepEqual(await namesFor('needle', skills), ['big'])
  assert.deepEqual(await namesFor('lost', skills), [])
  assert.deepEqual(await namesFor(`${'word '.repeat(100_000)} needle`, skills), [])
})

const WORDS = ['report', 'chart', 'sales', 'pdf', 'form', 'table', 'book', 'train']
const skillList = fc
  .uniqueArray(fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom(...'abcde') }), { maxLength: 12 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc
          .array(fc.constantFrom(...WORDS), { maxLength: 6 })
          .map((words) => copy(name, { description: words.join(' ') })),
      ),
    ),
  )

test('the answer does not depend on the order of the list, and holds every skill whose description has the word', async () => {
  await fc.assert(
    fc.asyncProperty(
      skillList,
      fc.constantFrom(...WORDS),
      fc.infiniteStream(fc.double({ noNaN: true })),
      async (skills, word, keys) => {
        const shuffled = skills
          .map((skill) => ({ skill, key: keys.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ skill }) => skill)
        const first = await createSkillSearch(skills).find(word, { limit: 50 })
        const second = await createSkillSearch(shuffled).find(word, { limit: 50 })
        assert.deepEqual(first.skills.map(shownName), second.skills.map(shownName))
        for (const skill of skills) {
          if (skill.description.split(' ').includes(word)) assert.ok(first.skills.includes(skill), skill.name)
        }
      },
    ),
    { numRuns: 60 },
  )
})
