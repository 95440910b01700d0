import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { makePlace } from './place.ts'

/** What is proposed for the findings of a file. */
async function fixesOf(user: string): Promise<string[]> {
  await using place = await makePlace({ user })
  return (await place.load()).diagnostics.flatMap(({ fix }) => (fix === undefined ? [] : [fix]))
}

describe('the fix of a finding', () => {
  const FIXES: readonly (readonly [file: string, fix: string | RegExp])[] = [
    ['agents: [{id: a, name: x}]', /^Use one of: id, /],
    ['agents: [{id: a, skils: []}]', 'Did you mean "skills"?'],
    ['agents: [{id: a, maxIterations: 5}]', /^Did you mean limits\.maxIterations\?/],
    ['provider: openai', /^Did you mean \w+\.provider\?/],
    ['skills: {load: {watch: "on"}}', 'Write it as, for example: watch: true'],
    ['limits: {maxIterations: "5"}', 'Write it as, for example: maxIterations: 50'],
    ['skills: {load: {extraDirs: [~]}}', /^Give it a value.* ~ without quotes is empty: write "~"$/],
  ]
  for (const [file, fix] of FIXES) {
    it(`is what was meant: ${file}`, async () => {
      const fixes = await fixesOf(file)
      const isThere = fixes.some((found) => (typeof fix === 'string' ? found === fix : fix.test(found)))
      assert.ok(isThere, fixes.join('; '))
    })
  }

  it('is an example where a value can be anything', async () => {
    assert.deepEqual(await fixesOf('skills: {load: {watch: perhaps}}'), ['Write it as, for example: watch: true'])
    assert.deepEqual(await fixesOf('limits: {maxIterations: many}'), ['Write it as, for example: maxIterations: 50'])
    assert.deepEqual(await fixesOf('skills: {sources: [./x]}'), [
      'Write it as, for example: { type: local, path: ./directory }',
    ])
    assert.deepEqual(await fixesOf('agents: [{skills: []}]'), ['Add it, such as: id: main'])
  })
})

describe('a setting in the column of the section that it belongs to', () => {
  const FILES: readonly (readonly [file: string, codes: readonly string[]])[] = [
    ['skills:\nentries:\n  pdf: {}', ['config-unknown-key']],
    ['skills:\n  entries:\n    pdf:\n    enabled: true', ['config-wrong-type']],
    ['skills:\n  entries:\n    pdf:\n    env:\n      A: b', ['config-unknown-key']],
    ['skills:\n  load:\n  extraDirs: [a]', ['config-unknown-key']],
  ]
  for (const [file, codes] of FILES) {
    it(`is an error, and never applied elsewhere: ${JSON.stringify(file)}`, async () => {
      await using place = await makePlace({ user: file })
      const found = (await place.load()).diagnostics.filter(({ severity }) => severity === 'error')
      assert.deepEqual(
        found.map(({ code }) => code),
        codes,
      )
    })
  }

  it('has a name above it in the fix where there is none', async () => {
    const fixes = await fixesOf('skills: {entries: {enabled: true}}')
    assert.deepEqual(fixes, ['Write it as, for example: name: { enabled: true }'])
  })
})
