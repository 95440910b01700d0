import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseSettings } from '../../src/config/document/parse.ts'
import { parseYaml } from '../../src/config/document/parse-yaml.ts'

const PIECES = [
  'skills:',
  'agents:',
  '- ',
  '  ',
  'id: a',
  '{',
  '}',
  '[',
  ']',
  ', ',
  ': ',
  '\n',
  '"x"',
  "'y'",
  '1.10',
  '~',
  'no',
  '5',
]
const MORE = ['<<', '&a', '*a', '!!str', '__proto__', '"\\ud800"', '# c', '.inf', '---', '? ', '|', 'true']

describe('the two readers of nexus.yaml', () => {
  it('agree: the fast one accepts nothing that the library refuses or reads as something else', async () => {
    const text = fc.array(fc.constantFrom(...PIECES, ...PIECES, ...MORE), { maxLength: 24 }).map((all) => all.join(''))
    await fc.assert(
      fc.asyncProperty(text, async (yaml) => {
        assert.deepEqual(await parseSettings(yaml, 'x'), parseYaml(yaml, 'x'))
      }),
      { numRuns: 3_000 },
    )
  })

  it('agree on real settings, whichever way they are written', async () => {
    for (const yaml of [
      'limits:\n  maxIterations: 7\nskills:\n  disabled_skills: [a, b]\n  load:\n    watch: true\n',
      'agents:\n  - id: main\n    tools: {deny: [run_command, "group:web"]}\n  - id: b\n    instructions: |\n      Be\n      brief.\n',
      'tools: {x: 1.10, y: null, z: "1"}\nmodel: openai/gpt-5 # mine\n',
    ])
      assert.deepEqual(await parseSettings(yaml, 'x'), parseYaml(yaml, 'x'))
  })
})
