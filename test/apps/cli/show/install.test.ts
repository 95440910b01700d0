import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Place } from '../nexus.ts'

const ABSENT = 'nexus-no-such-program'
const DIGEST = 'a'.repeat(64)
const ENTRIES = [
  { id: 'apt', kind: 'apt', package: ABSENT, bins: [ABSENT], os: ['linux'], label: 'Install it (apt)' },
  { id: 'mac', kind: 'brew', formula: ABSENT, bins: [ABSENT], os: ['darwin'] },
  { id: 'evil', kind: 'npm', package: 'x; touch pwned', bins: [ABSENT] },
  { id: 'file', kind: 'download', url: 'https://x.org/t.zip', sha256: DIGEST, bins: [ABSENT] },
  { id: 'other', kind: 'uv', package: 'unrelated', bins: ['something-else'] },
]

interface Installs {
  readonly install?: readonly {
    id: string
    chosen: boolean
    commands: string[][]
    command?: string
    problem?: string
  }[]
}

/** A skill that lacks a program and proposes ways to get it. */
function prepare(t: { after: (fn: () => void) => void }): Place {
  const place = new Place(t)
  const directory = join(place.workspace, 'skills/needy')
  mkdirSync(directory)
  const metadata = JSON.stringify({ nexus: { requires: { bins: [ABSENT] }, install: ENTRIES } })
  writeFileSync(
    join(directory, 'SKILL.md'),
    `---\nname: needy\ndescription: Needs it. Use when asked.\nmetadata: ${metadata}\n---\n`,
  )
  return place
}

const apt = /apt-get install -y nexus-no-such-program/

test('check, show and why show the exact command for the target, and never run it', async (t) => {
  const place = prepare(t)
  const check = await place.run(['skills', 'check', 'needy', '--trust'])
  assert.equal(check.code, 1)
  assert.match(check.stdout, /install: (sudo )?apt-get install -y nexus-no-such-program {2}\(Install it \(apt\)\)/)
  assert.match(check.stdout, /or: mkdir -p .* && echo 'a{64} \*.*t\.zip' \| sha256sum --check - && unzip/)
  assert.match(check.stdout, /not proposed: it is for darwin, and the target is linux/)
  assert.match(check.stdout, /not proposed: package is not a name that npm may be given/)
  assert.doesNotMatch(check.stdout, /unrelated|pwned/)
  assert.match((await place.run(['skills', 'show', 'needy', '--trust'])).stdout, apt)
  const why = await place.run(['skills', 'why', 'needy', '--trust'])
  assert.match(why.stdout, /Nexus does not run it\. \(install\)/)
  assert.match(why.stdout, /fix: (sudo )?apt-get install -y nexus-no-such-program/)
  for (const name of ['pwned', 't.zip']) assert.equal(existsSync(join(place.workspace, name)), false)
})

test('with --json each proposal is a list of words, with what is chosen and what is wrong', async (t) => {
  const place = prepare(t)
  const data = async (
    args: readonly string[],
  ): Promise<Installs & { skills?: Installs[]; findings?: { code: string }[] }> =>
    (JSON.parse((await place.run(['skills', ...args, 'needy', '--trust', '--json'])).stdout) as { data: Installs }).data
  const inCheck = (await data(['check'])).skills?.[0]?.install ?? []
  assert.deepEqual(
    inCheck.map(({ id, chosen, commands }) => [id, chosen, commands.length]),
    [
      ['apt', true, 1],
      ['mac', false, 0],
      ['evil', false, 0],
      ['file', false, 3],
    ],
  )
  assert.deepEqual(inCheck[0]?.commands[0]?.slice(-4), ['apt-get', 'install', '-y', ABSENT])
  assert.match(inCheck[0]?.command ?? '', apt)
  const inShow = (await data(['show'])).install ?? []
  assert.equal(inShow.length, ENTRIES.length)
  assert.ok((await data(['why'])).findings?.some(({ code }) => code === 'install'))
})

test('what an untrusted skill proposes is not made into a command', async (t) => {
  const place = prepare(t)
  for (const command of ['check', 'show', 'why']) {
    const { stdout } = await place.run(['skills', command, 'needy'])
    assert.doesNotMatch(stdout, /apt-get|unzip|curl/, command)
  }
  const { stdout } = await place.run(['skills', 'check', 'needy', '--json'])
  const { data } = JSON.parse(stdout) as { data: { skills: Installs[] } }
  assert.ok(data.skills[0]?.install?.every(({ commands, problem }) => commands.length === 0 && problem !== undefined))
})
