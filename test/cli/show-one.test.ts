import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Place } from './nexus.ts'

test('nexus skills show prints one skill, and the nearest names for one that is not there', async (t) => {
  const place = new Place(t)
  mkdirSync(join(place.home, 'skills/apart'), { recursive: true })
  writeFileSync(
    join(place.home, 'skills/apart/SKILL.md'),
    '---\nname: apart\ndescription: Does it. Use when asked.\n---\nBody.\n',
  )
  const shown = await place.run(['skills', 'show', 'apart', '--json'])
  assert.equal(shown.code, 0, shown.stderr)
  const { data } = JSON.parse(shown.stdout) as { data: { address: string; sha256: string } }
  assert.equal(data.address, 'local/apart')
  assert.match(data.sha256, /^[0-9a-f]{64}$/)
  const missing = await place.run(['skills', 'show', 'apar'])
  assert.deepEqual([missing.code, missing.stdout], [4, ''])
  assert.match(missing.stderr, /There is no skill 'apar'/)
})
