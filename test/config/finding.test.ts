import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { explainConfig, type LoadedConfig } from '../../src/config/index.ts'
import { placeFindings } from '../../src/config/document/finding.ts'
import { readPolicies } from '../../src/local/policies.ts'
import { makePlace } from './place.ts'

/** Findings as `line: setting`. */
function named(loaded: Pick<LoadedConfig, 'diagnostics'>): string[] {
  return loaded.diagnostics.map(({ line, subject, message }) => `${line}: ${subject ?? message.split(/[: ]/)[0]}`)
}

describe('the place of a finding', () => {
  it('is that in the file, though items before it were left out', async () => {
    await using place = await makePlace({
      user: `agents:
  - {id: "bad id"}
  - {id: good, preset: nobody, tools: {deny: ["", raed]}}
  - {id: other, budget: {maxTurns: 0}, instructions: 5}
  - {id: last, extends: nobody}
skills:
  sources:
    - {type: git}
    - {type: local, path: "\${NONE}"}
    - {type: registry, url: "https://r", auth: "\${NEITHER}"}
    - {type: registry, url: "https://s", auth: {env: NEITHER}}
  builtin: ["", other]
`,
    })
    const loaded = await place.load()
    assert.deepEqual(named(loaded).toSorted(), [
      '10: skills.sources[2].auth',
      '11: skills.sources[3].auth',
      '12: skills.builtin[0]',
      '12: skills.builtin[1]',
      '2: agents[0].id',
      '3: agents[1].preset',
      '3: agents[1].tools.deny[0]',
      '4: agents[2].budget.maxTurns',
      '4: agents[2].instructions',
      '5: agents[3].extends',
      '8: skills.sources[0].url',
      '9: skills.sources[1].path',
    ])
    const { diagnostics } = await readPolicies(loaded)
    assert.deepEqual(named({ diagnostics }), ['3: deny[1]'])
  })

  it('is that in the file, though an untrusted file says more than counts', async () => {
    await using place = await makePlace({
      user: 'agents: [{id: a, skills: [x, y]}, {id: b}]\n',
      local: 'agents:\n  - {id: new}\n  - {id: b, tools: {deny: [raed]}}\n  - {id: a, skills: [z, y]}\n',
    })
    const loaded = await place.load()
    assert.deepEqual(named(loaded), ['2: agents[0]', '4: agents[2].skills'])
    const { diagnostics } = await readPolicies(loaded)
    assert.deepEqual(named({ diagnostics }), ['3: deny[0]'])
    const { originOf } = await explainConfig(loaded)
    const { line, column, keys } = originOf(['agents', 0, 'skills', 0]) ?? { path: '' }
    assert.deepEqual([line, column, keys], [4, 25, ['agents', 2, 'skills', 1]])
  })

  it('is shown for every error first, then for warnings, in the order of the lines', async () => {
    const found = Array.from({ length: 60 }, (_, index) => ({
      ...({
        code: 'c',
        file: 'f',
        message: 'm',
        severity: index === 59 ? 'error' : index < 5 ? 'info' : 'warning',
      } as const),
      at: [`k${index}`],
    }))
    const text = found.map(({ at }) => `${at[0]}: 1\n`).join('')
    const placed = await placeFindings(found, () => ({ text }))
    assert.equal(placed.length, 51)
    const lines = placed.slice(0, 50).map(({ line = 0 }) => line)
    assert.deepEqual(lines, [...Array.from({ length: 49 }, (_, index) => index + 6), 60])
    const { code, severity, message } = placed[50] ?? {}
    assert.deepEqual(
      [code, severity, message],
      ['config-more', 'warning', 'This file has 10 more findings, which are not shown.'],
    )
  })

  it('has the number of the file that it is in, not that of all files together', async () => {
    await using place = await makePlace({
      user: 'agents: [{id: a}, {id: b}]',
      local: 'agents: [{id: c, preset: none}]',
    })
    const { diagnostics } = await place.load({ trusted: true })
    assert.deepEqual(new Set(named({ diagnostics })), new Set(['1: agents[0].preset']))
  })
})
