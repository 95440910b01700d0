import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { judge, openSource } from '../../../src/skills/install/index.ts'
import { skillText } from './git-server.ts'
import { Ground } from './rig.ts'

const ALLOWS = `#!/bin/sh\ncat > "$0.seen"\necho '{"protocolVersion":1,"decision":"allow"}'\n`

async function judged(here: Ground, program: string) {
  await using source = await openSource({ type: 'directory', path: join(here.root, 'from') }, here.access())
  const packages = await source.read(source.candidates)
  const wanted = packages.map((each) => ({ package: each, source: source.lockedAs(each) }))
  const [one] = await judge(here.scope, wanted, { program, workspace: here.scope.root, kind: 'install' })
  return `${one?.decision}: ${one?.reason}`
}

test('a policy program that a command or another user could change blocks, wherever skills are placed', async (t) => {
  const here = new Ground(t)
  here.write('from/a/SKILL.md', skillText('a'))
  const good = here.write('tools/policy.sh', ALLOWS, 0o755)
  assert.equal(await judged(here, good), 'allow: ')
  const request = JSON.parse(readFileSync(`${good}.seen`, 'utf8')) as { sourcePath: string; targetName: string }
  assert.equal(request.targetName, 'a')
  assert.deepEqual(readdirSync(join(here.nexusHome, 'cache/judged')), [], 'the files are there while it runs only')
  const user = { ...here.scope, kind: 'user' as const, root: here.nexusHome }
  const inside = here.write('workspace/policy.sh', ALLOWS, 0o755)
  symlinkSync(inside, join(here.root, 'tools/linked.sh'))
  symlinkSync(good, join(here.scope.root, 'outward.sh'))
  for (const program of [inside, join(here.root, 'tools/linked.sh'), join(here.scope.root, 'outward.sh')])
    assert.match(await judged(Object.assign(here, { scope: { ...here.scope, kind: user.kind } }), program), /block: .*in the workspace/, program) // oxfmt-ignore
  mkdirSync(join(here.root, 'open'))
  const below = here.write('open/own/policy.sh', ALLOWS, 0o755)
  chmodSync(join(here.root, 'open'), 0o777)
  assert.match(await judged(here, below), /block: .*can be changed by other users: .*\/open$/)
  chmodSync(good, 0o1775)
  assert.match(await judged(here, good), /block: .*can be changed by other users/)
})
