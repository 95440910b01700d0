import assert from 'node:assert/strict'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../../../../src/kernel/index.ts'
import { git, skillText, startGitServer } from '../../../../skills/install/git-server.ts'
import { Place, type Ran } from '../../nexus.ts'

/** A workspace that is an empty git repository. */
function emptyRepository(place: Place, name: string): string {
  const directory = join(place.root, name)
  mkdirSync(directory)
  git(directory, 'init', '-q', '-b', 'main')
  return directory
}

function dataOf({ stdout, stderr }: Ran): JsonObject {
  assert.notEqual(stdout, '', stderr)
  return (JSON.parse(stdout) as { data: JsonObject }).data
}

test('the whole way: install, commit the lock, restore in a clone, update, local edits, roll back, tampering, offline', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('tools')
  for (let index = 0; index < 10; index++)
    upstream
      .write(`skills/s${index}/SKILL.md`, skillText(`s${index}`))
      .write(`skills/s${index}/data.txt`, `one ${index}`)
  upstream.publish()
  const place = new Place(t)
  const first = emptyRepository(place, 'first')
  const inFirst = (...args: string[]) => place.run(['skills', ...args], { cwd: first })

  const installed = await inFirst('install', server.url('tools'), '--skill', 's1,s2', '--yes')
  assert.equal(installed.code, 0, installed.stderr)
  assert.match(installed.stderr, /\+ s1 .*2 files/)
  assert.match(installed.stderr, /not trusted: what is placed here is listed, and runs nothing/)
  const listed = await place.run(['skills', 'list', '--all', '--json'], { cwd: first })
  assert.match(listed.stdout, /"s1"/)
  git(first, 'add', '-A')
  git(first, 'commit', '-q', '-m', 'skills')

  const second = join(place.root, 'second')
  git(place.root, 'clone', '-q', first, second)
  for (const name of readdirSync(join(second, 'skills'))) rmSync(join(second, 'skills', name), { recursive: true })
  const inSecond = (...args: string[]) =>
    place.run(['skills', ...args], { cwd: second, env: { NEXUS_HOME: join(place.root, 'home2') } })
  const silent = await inSecond('ci')
  assert.equal(silent.code, 2)
  assert.match(silent.stderr, /127\.0\.0\.1/)
  assert.match(silent.stderr, /nexus skills ci --yes/)
  const restored = await inSecond('ci', '--yes')
  assert.equal(restored.code, 0, restored.stderr)
  assert.equal(readFileSync(join(second, 'skills/s2/data.txt'), 'utf8'), 'one 2')
  assert.equal(git(second, 'status', '--porcelain'), '')

  upstream.write('skills/s1/data.txt', 'two').write('skills/s1/scripts/go.sh', '#!/bin/sh\n', 0o755).publish()
  const outdated = await inFirst('outdated')
  assert.equal(outdated.code, 1)
  assert.match(outdated.stdout, /^s1 .* → main /m)
  const unanswered = await inFirst('update', 's1')
  assert.equal(unanswered.code, 2)
  assert.match(unanswered.stderr, /changed data\.txt/)
  assert.match(unanswered.stderr, /new: asks for scripts: scripts\/go\.sh/)
  assert.equal(readFileSync(join(first, 'skills/s1/data.txt'), 'utf8'), 'one 1')

  writeFileSync(join(first, 'skills/s1/data.txt'), 'mine')
  const refused = await inFirst('update', 's1', '--yes')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /local edits: data\.txt \(changed\)/)
  assert.equal(readFileSync(join(first, 'skills/s1/data.txt'), 'utf8'), 'mine')
  mkdirSync(join(first, 'skills/s1/.git'))
  const withGit = await inFirst('update', 's1', '--yes', '--overwrite', 's1')
  assert.equal(withGit.code, 1)
  assert.match(withGit.stderr, /contains what no skill contains: \.git/)
  rmSync(join(first, 'skills/s1/.git'), { recursive: true })
  const updated = await inFirst('update', 's1', '--yes', '--overwrite', 's1', '--json')
  assert.equal(updated.code, 0, updated.stderr)
  const keptIn = String((dataOf(updated)['kept'] as JsonObject)['s1'])
  assert.equal(readFileSync(join(keptIn, 'data.txt'), 'utf8'), 'mine')
  assert.equal(readFileSync(join(first, 'skills/s1/data.txt'), 'utf8'), 'two')

  const back = await inFirst('rollback', 's1')
  assert.equal(back.code, 0, back.stderr)
  assert.equal(readFileSync(join(first, 'skills/s1/data.txt'), 'utf8'), 'one 1')
  assert.ok(!existsSync(join(first, 'skills/s1/scripts')))
  assert.equal(git(first, 'diff', '--stat', 'HEAD', '--', 'nexus-skills.lock'), '')

  writeFileSync(join(first, 'skills/s2/data.txt'), 'evil')
  for (const command of ['verify', 'ci']) {
    const found = await inFirst(command, ...(command === 'ci' ? ['--yes'] : []))
    assert.equal(found.code, 1, found.stderr)
    assert.match(found.stdout + found.stderr, /changed skills\/s2\/data\.txt/)
  }

  await server.stop()
  const repaired = await inFirst('ci', '--yes', '--overwrite', 's2')
  assert.equal(repaired.code, 0, repaired.stderr)
  assert.equal(readFileSync(join(first, 'skills/s2/data.txt'), 'utf8'), 'one 2')
  const offline = await inFirst('outdated')
  assert.deepEqual([offline.code, offline.stdout.match(/^s\d  not known: /gm)?.length], [3, 2], offline.stdout)
  const stillListed = await place.run(['skills', 'list', '--all'], { cwd: first })
  assert.equal(stillListed.code, 0)
})

test('the lock of one commit is the same bytes on every machine, and git merges two added skills', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('tools')
  for (const name of ['a', 'b', 'c', 'd', 'e']) upstream.write(`${name}/SKILL.md`, skillText(name))
  upstream.publish()
  const place = new Place(t)
  const ours = emptyRepository(place, 'ours')
  const install = (cwd: string, names: string) =>
    place.run(['skills', 'install', server.url('tools'), '--skill', names, '--yes'], { cwd })
  assert.equal((await install(ours, 'a,c,e')).code, 0)
  git(ours, 'add', '-A')
  git(ours, 'commit', '-q', '-m', 'base')
  const theirs = join(place.root, 'theirs')
  cpSync(ours, theirs, { recursive: true })
  assert.equal((await install(ours, 'b')).code, 0)
  assert.equal((await install(theirs, 'd')).code, 0)
  for (const each of [ours, theirs]) {
    git(each, 'add', '-A')
    git(each, 'commit', '-q', '-m', 'more')
  }
  git(ours, 'pull', '-q', '--no-rebase', '--no-edit', theirs, 'main')
  assert.equal((await place.run(['skills', 'verify'], { cwd: ours })).code, 0)
  const both = readFileSync(join(ours, 'nexus-skills.lock'), 'utf8')
  const third = emptyRepository(place, 'third')
  assert.equal((await install(third, 'e,d,c,b,a')).code, 0)
  assert.equal(readFileSync(join(third, 'nexus-skills.lock'), 'utf8'), both)
})

test('--list shows what a source has, a choice is needed among several, and --dry-run changes nothing', async (t) => {
  const server = await startGitServer(t)
  server
    .upstream('tools')
    .write('a/SKILL.md', skillText('a'))
    .write('.claude/skills/b/SKILL.md', skillText('b'))
    .publish()
  const place = new Place(t)
  const cwd = emptyRepository(place, 'ours')
  const listed = await place.run(['skills', 'install', server.url('tools'), '--list'], { cwd })
  assert.equal(listed.code, 0, listed.stderr)
  assert.match(listed.stdout, /a .*Does a/)
  assert.match(listed.stdout, /b .*\.claude\/skills\/b/)
  const unchosen = await place.run(['skills', 'install', server.url('tools'), '--yes'], { cwd })
  assert.equal(unchosen.code, 2)
  assert.match(unchosen.stderr, /has 2 skills/)
  const dry = await place.run(['skills', 'install', server.url('tools'), '--all', '--dry-run', '--json'], { cwd })
  assert.equal(dry.code, 0, dry.stderr)
  assert.equal(dataOf(dry)['applied'], false)
  assert.equal(existsSync(join(cwd, 'skills')), false)
})

test('in a trusted root, --yes alone gives no settings to a new skill: --accept names it', async (t) => {
  const server = await startGitServer(t)
  server.upstream('tools').write('SKILL.md', skillText('github')).publish()
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(
    join(place.home, 'nexus.yaml'),
    'skills: { entries: { github: { env: { GITHUB_TOKEN: abcdefgh } } } }\n',
  )
  const install = (...more: string[]) =>
    place.run(['skills', 'install', server.url('tools'), '--scope', 'user', '--yes', ...more])
  const stopped = await install()
  assert.equal(stopped.code, 2)
  assert.match(stopped.stderr, /would get what skills\.entries\.github has: GITHUB_TOKEN/)
  assert.match(stopped.stderr, /--accept github/)
  assert.ok(!stopped.stderr.includes('abcdefgh'))
  const accepted = await install('--accept', 'github')
  assert.equal(accepted.code, 0, accepted.stderr)
  assert.ok(existsSync(join(place.home, 'skills/github/SKILL.md')))
})

test('an update that reaches settings which the copy did not have needs --accept as well', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('tools').write('SKILL.md', skillText('plain'))
  upstream.publish()
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(
    join(place.home, 'nexus.yaml'),
    'skills: { entries: { plain: { env: { PLAIN: x } }, github: { env: { GITHUB_TOKEN: abcdefgh } } } }\n',
  )
  const run = (...args: string[]) => place.run(['skills', ...args, '--scope', 'user', '--yes'])
  assert.equal((await run('install', server.url('tools'), '--accept', 'plain')).code, 0)
  upstream.write('SKILL.md', skillText('plain', 'metadata: { nexus: { skillKey: github } }\n')).publish()
  const stopped = await run('update', '--all')
  assert.equal(stopped.code, 2, stopped.stderr)
  assert.match(stopped.stderr, /would get what skills\.entries\.github has: GITHUB_TOKEN/)
  const accepted = await run('update', '--all', '--accept', 'plain')
  assert.equal(accepted.code, 0, accepted.stderr)
})

test('a pinned skill is passed over by update until it is unpinned', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('tools').write('a/SKILL.md', skillText('a'))
  upstream.publish()
  const place = new Place(t)
  const cwd = emptyRepository(place, 'ours')
  const run = (...args: string[]) => place.run(['skills', ...args], { cwd })
  assert.equal((await run('install', server.url('tools'), '--yes')).code, 0)
  assert.equal((await run('pin', 'a')).code, 0)
  upstream.write('a/SKILL.md', skillText('a', 'license: MIT\n')).publish()
  const passed = await run('update', '--all', '--yes')
  assert.equal(passed.code, 0, passed.stderr)
  assert.match(passed.stderr, /pinned/)
  assert.doesNotMatch(readFileSync(join(cwd, 'skills/a/SKILL.md'), 'utf8'), /MIT/)
  assert.equal((await run('unpin', 'a')).code, 0)
  assert.equal((await run('update', 'a', '--yes')).code, 0)
  assert.match(readFileSync(join(cwd, 'skills/a/SKILL.md'), 'utf8'), /MIT/)
  const removed = await run('remove', 'a')
  assert.equal(removed.code, 0, removed.stderr)
  assert.ok(!existsSync(join(cwd, 'skills/a')))
})

test('--client lets other programs find the same copy, which is listed once, and nothing else is replaced or removed', async (t) => {
  const place = new Place(t)
  const cwd = emptyRepository(place, 'ours')
  for (const name of ['a', 'b']) {
    mkdirSync(join(place.root, 'from', name), { recursive: true })
    writeFileSync(join(place.root, 'from', name, 'SKILL.md'), skillText(name))
  }
  const run = (...args: string[]) => place.run(['skills', ...args], { cwd })
  const install = (name: string, clients: string) =>
    run('install', join(place.root, 'from', name), '--client', clients, '--yes')
  assert.equal((await install('a', 'nonsense')).code, 2)
  const installed = await install('a', 'claude-code,codex')
  assert.equal(installed.code, 0, installed.stderr)
  for (const directory of ['.claude', '.agents'])
    assert.match(readFileSync(join(cwd, directory, 'skills/a/SKILL.md'), 'utf8'), /name: a/)
  assert.match(readFileSync(join(cwd, 'nexus-skills.lock'), 'utf8'), /"claude-code",\s+"codex"/)
  const listed = await run('list', '--all', '--json')
  const { data, diagnostics } = JSON.parse(listed.stdout) as { data: JsonObject; diagnostics: JsonObject[] }
  assert.deepEqual([data['shadowed'], data['invalid']], [[], []])
  assert.ok(!diagnostics.some(({ severity }) => severity === 'error'), listed.stdout)
  mkdirSync(join(cwd, '.claude/skills/b'))
  writeFileSync(join(cwd, '.claude/skills/b/mine.txt'), 'mine')
  const taken = await install('b', 'claude-code')
  assert.equal(taken.code, 1)
  assert.match(taken.stderr, /\.claude\/skills\/b is there already/)
  assert.ok(!existsSync(join(cwd, 'skills/b')))
  assert.equal((await run('remove', 'a')).code, 0)
  assert.deepEqual(readdirSync(join(cwd, '.claude/skills')), ['b'])
  assert.deepEqual(readdirSync(join(cwd, '.agents/skills')), [])
})

test('the install policy of the user sees every skill, blocks, warns, and blocks where it fails', async (t) => {
  const place = new Place(t)
  const cwd = emptyRepository(place, 'ours')
  const program = join(place.root, 'policy.sh')
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), `skills: { install: { policy: '${program}' } }\n`)
  mkdirSync(join(place.root, 'from/a'), { recursive: true })
  writeFileSync(join(place.root, 'from/a/SKILL.md'), skillText('a'))
  const says = (script: string, mode = 0o755) => {
    rmSync(program, { force: true })
    writeFileSync(program, `#!/bin/sh\n${script}\n`)
    chmodSync(program, mode)
  }
  const answer = (decision: string) =>
    `cat > '${place.root}/seen'; cat "$(grep -o '"sourcePath":"[^"]*' '${place.root}/seen' | cut -d'"' -f4)/SKILL.md" > '${place.root}/text'; printf '%s' '{"protocolVersion":1,"decision":"${decision}","reason":"because","findings":[{"ruleId":"r","severity":"warn","message":"odd"}]}'`
  const install = (...more: string[]) => place.run(['skills', 'install', '../from/a', '--yes', ...more], { cwd })
  const blocks: readonly (readonly [string, RegExp])[] = [
    [answer('block'), /blocks 'a': because/],
    ['exit 3', /ended with code 3/],
    ['echo nonsense', /gave no answer/],
    [answer('maybe'), /gave no answer/],
  ]
  for (const [script, expected] of blocks) {
    says(script)
    const { code, stderr } = await install()
    assert.equal(code, 1, stderr)
    assert.match(stderr, expected)
  }
  says(answer('allow'), 0o777)
  assert.match((await install()).stderr, /can be changed by/)
  assert.ok(!existsSync(join(cwd, 'skills/a')))
  says(answer('warn'))
  const warned = await install()
  assert.equal(warned.code, 2)
  assert.match(warned.stderr, /policy, a: warn: odd/)
  assert.match(warned.stderr, /nexus skills install \.\.\/from\/a --accept a/)
  assert.equal((await install('--accept', 'a')).code, 0)
  const seen = JSON.parse(readFileSync(join(place.root, 'seen'), 'utf8')) as JsonObject
  assert.deepEqual([seen['targetName'], seen['sourcePathKind']], ['a', 'directory'])
  assert.equal(readFileSync(join(place.root, 'text'), 'utf8'), skillText('a'))
  writeFileSync(join(place.root, 'from/a/SKILL.md'), skillText('a', 'license: MIT\n'))
  assert.equal((await install('--accept', 'a')).code, 0)
  says(answer('block'))
  const back = await place.run(['skills', 'rollback', 'a'], { cwd })
  assert.equal(back.code, 1)
  assert.match(back.stderr, /blocks 'a'/)
  rmSync(join(cwd, 'skills'), { recursive: true })
  const restored = await place.run(['skills', 'ci', '--yes'], { cwd })
  assert.equal(restored.code, 1)
  assert.match(restored.stderr, /blocks 'a'/)
})
