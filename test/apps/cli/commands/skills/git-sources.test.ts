import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../../../../src/kernel/index.ts'
import { skillText, startGitServer } from '../../../../skills/install/git-server.ts'
import { Place, type Ran } from '../../nexus.ts'

function skillsOf({ stdout, stderr }: Ran): readonly JsonObject[] {
  assert.notEqual(stdout, '', stderr)
  return (JSON.parse(stdout) as { data: { skills: JsonObject[] } }).data.skills
}

function configure(place: Place, text: string): void {
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), text)
}

test('a git source: fetched by refresh, what asks for more waits for update, and its copies serve when the server is gone', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('team')
  for (const name of ['a', 'b']) upstream.write(`skills/${name}/SKILL.md`, skillText(name))
  upstream.write('other/c/SKILL.md', skillText('c'))
  const first = upstream.publish()
  const place = new Place(t)
  configure(place, `skills: { sources: [{ type: git, url: '${server.url('team')}', path: skills }] }\n`)
  const run = (...args: string[]) => place.run(['skills', ...args])
  const unfetched = await run('list')
  assert.equal(unfetched.code, 0, unfetched.stderr)
  assert.match(unfetched.stderr, /not fetched yet.*nexus skills refresh/)
  const refreshed = await run('refresh')
  assert.equal(refreshed.code, 0, refreshed.stderr)
  const listed = skillsOf(await run('list', '--json')).filter(({ tier }) => tier === 'source')
  assert.deepEqual(
    listed.map(({ address }) => address),
    ['git:team/a', 'git:team/b'],
  )
  const { source, revision, lastGood, digest } = listed[0]?.['installed'] as JsonObject
  assert.equal((source as JsonObject)['url'], server.url('team'))
  assert.equal(revision, first)
  assert.match(String(digest), /^sha256:/)
  assert.ok(Date.parse(String(lastGood)) > 0)

  upstream.write('skills/a/SKILL.md', skillText('a', 'license: MIT\n'))
  upstream.write('skills/b/scripts/go.sh', '#!/bin/sh\n', 0o755)
  upstream.write('skills/new/SKILL.md', skillText('new', 'allowed-tools: [run_command]\n')).publish()
  const again = await run('refresh', '--json')
  assert.equal(again.code, 0, again.stderr)
  const after = await run('list')
  assert.match(after.stderr, /revision of b asks for more and waits.*nexus skills update b/)
  assert.match(after.stderr, /revision of new asks for more/)
  assert.doesNotMatch(after.stderr, /revision of a /)
  assert.match((await run('show', 'a')).stdout, /MIT/)
  assert.match((await run('why', 'b')).stdout, /waiting: A new revision of b asks for more/)
  const outdated = await run('outdated')
  assert.equal(outdated.code, 1)
  assert.match(outdated.stdout, /revision of b asks for more/)
  const plan = await run('update', 'b')
  assert.equal(plan.code, 2)
  assert.match(plan.stderr, /new: asks for scripts: scripts\/go\.sh/)
  assert.equal((await run('update', 'b', '--yes')).code, 0)
  const names = skillsOf(await run('list', '--json')).filter(({ tier }) => tier === 'source')
  assert.deepEqual(
    names.map(({ name }) => name),
    ['a', 'b'],
  )
  const file = String(names[1]?.['file'])
  assert.ok(existsSync(join(file, '../scripts/go.sh')))

  await server.stop()
  const offline = await run('refresh')
  assert.equal(offline.code, 1)
  assert.match(offline.stderr, /cached since \d{4}-\d\d-\d\dT/)
  const still = await run('list')
  assert.equal(still.code, 0)
  assert.match(still.stderr, /cached since/)
  assert.match(still.stdout, /✓ b/)
  assert.match(readFileSync(file, 'utf8'), /name: b/)
})

test('a source gives no skill the settings of its name unless they are accepted; follow takes the rest, but nothing that the install policy does not allow', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('team').write('plain/SKILL.md', skillText('plain'))
  upstream.write('hub/SKILL.md', skillText('hub')).publish()
  const place = new Place(t)
  const entries = 'entries: { hub: { env: { HUB_TOKEN: abcdefgh } } }'
  configure(place, `skills: { sources: [{ type: git, url: '${server.url('team')}' }], ${entries} }\n`)
  const run = (...args: string[]) => place.run(['skills', ...args])
  await run('refresh')
  const served = async () => skillsOf(await run('list', '--json')).filter(({ tier }) => tier === 'source').map(({ name }) => name) // oxfmt-ignore
  assert.deepEqual(await served(), ['plain'])
  const stopped = await run('update', '--all', '--yes')
  assert.equal(stopped.code, 2)
  assert.match(stopped.stderr, /--accept hub/)
  assert.equal((await run('update', '--all', '--yes', '--accept', 'hub')).code, 0)
  assert.deepEqual(await served(), ['hub', 'plain'])

  configure(place, `skills: { sources: [{ type: git, url: '${server.url('team')}', follow: true }] }\n`)
  upstream.write('plain/scripts/go.sh', '#!/bin/sh\n', 0o755).publish()
  assert.equal((await run('refresh')).code, 0)
  assert.doesNotMatch((await run('list')).stderr, /waits/)

  const program = join(place.root, 'no.sh')
  writeFileSync(program, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const source = `sources: [{ type: git, url: '${server.url('team')}', follow: true }]`
  configure(place, `skills: { ${source}, install: { policy: '${program}' } }\n`)
  upstream.write('plain/SKILL.md', skillText('plain', 'license: MIT\n')).publish()
  assert.equal((await run('refresh')).code, 0)
  assert.match((await run('list')).stderr, /revision of plain .* waits/)
})
