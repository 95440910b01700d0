import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { entryValues, readEntries } from '../../src/local/entries.ts'
import { makePlace } from '../config/place.ts'

describe('an address in configuration where none is read', () => {
  it('is a warning with its place and with what to write', async () => {
    await using place = await makePlace({
      user: `skills:
  entries:
    csv-report: {enabled: true}
    bundled/csv-report: {enabled: false}
agents:
  - {id: main, skills: [bundled/csv-report, "extra:t~2/u", "extra:t2/u~2"]}
`,
    })
    const found = await readEntries(await place.load())
    assert.deepEqual(
      found.map(({ code, severity, line, column, fix }) => [code, severity, line, column, fix]),
      [
        ['entry-address', 'warning', 4, 5, 'Write skills.entries.csv-report.'],
        ['skills-twin', 'warning', 6, 60, 'Write extra:t2/u.'],
      ],
    )
  })

  it('prints no address of a service that stands in place of a name', async () => {
    await using place = await makePlace({ user: 'skills: {entries: {"https://u:hunter2@h/x": {enabled: false}}}' })
    const found = await readEntries(await place.load())
    assert.deepEqual(
      found.map(({ code }) => code),
      ['entry-address'],
    )
    assert.doesNotMatch(JSON.stringify(found), /hunter2/)
  })
})

describe('a value of an entry', () => {
  it('that is masked where no host gets it, or where clients sign with it, is a warning', async () => {
    await using place = await makePlace({
      user: 'skills: {entries: {a: {credentials: mask}, b: {credentials: mask, network: [x.org], env: {AWS_SECRET_ACCESS_KEY: abcdef-12}}, c: {credentials: pass}}}',
    })
    const found = await readEntries(await place.load())
    assert.deepEqual(
      found.map(({ code, subject }) => [code, subject]),
      [
        ['mask-no-host', 'skills.entries.a.credentials'],
        ['mask-signing', 'skills.entries.b.credentials'],
      ],
    )
  })

  it('that is masked goes to hosts of the user alone, and never when it is too short', async () => {
    await using place = await makePlace({
      user: 'skills: {entries: {a: {apiKey: abcdef-12, credentials: mask, network: [api.org]}, b: {apiKey: "12345", env: {N: "", R: us}, credentials: mask, network: [b.org]}}}',
      local: 'skills: {entries: {a: {network: [api.org, evil.org]}, b: {credentials: pass}}}',
    })
    const loaded = await place.load({ trusted: true })
    assert.deepEqual(loaded.config.skills.entries.get('a')?.network, ['api.org', 'evil.org'])
    const values = entryValues(loaded.config, { read: async () => undefined })('a')
    assert.deepEqual(values?.maskedFor, [{ host: 'api.org', port: undefined }])
    assert.equal(values?.hosts?.length, 2)
    const found = await readEntries(loaded)
    assert.deepEqual(
      found.map(({ code, subject, line }) => [code, subject, line]),
      [
        ['mask-workspace-host', 'skills.entries.a.network[1]', 1],
        ['mask-short', 'skills.entries.b.env.R', 1],
        ['mask-short', 'skills.entries.b.apiKey', 1],
      ],
    )
    assert.equal(found[0]?.path, join(place.workspace, 'nexus.yaml'))
  })

  it('that is too short to be hidden, or that no command gets, is a warning with its place', async () => {
    await using place = await makePlace({
      user: 'skills: {entries: {a: {apiKey: "12345"}, b: {apiKey: "123456"}, c: {env: {LD_PRELOAD: x}}}}',
    })
    const found = await readEntries(await place.load())
    assert.deepEqual(
      found.map(({ code, subject, fix }) => [code, subject, fix]),
      [
        ['secret-short', 'skills.entries.a.apiKey', 'Use a longer key.'],
        ['variable-refused', 'skills.entries.c.env.LD_PRELOAD', 'Remove the line.'],
      ],
    )
  })
})
