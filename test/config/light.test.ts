import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { makePlace, type Place } from './place.ts'

/** Prints which packages were loaded by reading the configuration of the directory it runs in. */
const PROBE = `
import { registerHooks } from 'node:module'
const urls = []
registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
const { loadConfig, readEnvironment } = await import(process.argv[1])
await loadConfig({ cwd: process.cwd(), environment: readEnvironment() })
const packages = urls.filter((url) => url.includes('/node_modules/')).map((url) => url.split('/node_modules/')[1].split('/')[0])
console.log(JSON.stringify([...new Set(packages)].sort()))
`

function packagesOf(place: Place): readonly string[] {
  const door = new URL('../../src/config/index.ts', import.meta.url).href
  const answer = spawnSync(process.execPath, ['--input-type=module', '-e', PROBE, door], {
    cwd: place.workspace,
    env: { PATH: process.env['PATH'] ?? '', HOME: place.home },
    encoding: 'utf8',
  })
  assert.equal(answer.status, 0, answer.stderr)
  return JSON.parse(answer.stdout) as string[]
}

describe('reading the configuration', () => {
  it('loads neither YAML nor the schema when there is no file', async () => {
    await using place = await makePlace()
    assert.deepEqual(packagesOf(place), [])
  })

  it('loads the schema when there is one', async () => {
    await using place = await makePlace({ local: 'limits: {maxIterations: 3}' })
    assert.ok(packagesOf(place).includes('valibot'))
  })
})
