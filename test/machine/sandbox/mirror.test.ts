import assert from 'node:assert/strict'
import {
  chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs' // oxfmt-ignore
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { staysInside } from '../../../src/machine/changes/index.ts'
import { partName } from '../../../src/machine/files/index.ts'
import { openDirectory } from './local-rig.ts'
import { openMirror, picture } from './mirror-rig.ts'

test('a pull makes the copy equal, with modes, times and links', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  mkdirSync(join(host, 'a/b'), { recursive: true })
  writeFileSync(join(host, 'a/b/run.sh'), '#!/bin/sh\n', { mode: 0o755 })
  symlinkSync('a/b', join(host, 'link'))
  await mirror.pull()
  assert.deepEqual(picture(inside), picture(host))
  const [was, is] = [lstatSync(join(host, 'a/b/run.sh')), lstatSync(join(inside, 'a/b/run.sh'))]
  assert.deepEqual([is.mode, Math.floor(is.mtimeMs)], [was.mode, Math.floor(was.mtimeMs)])
})

test('a push carries changed, new and removed entries over, and only those', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  for (const name of ['keep', 'change', 'remove']) writeFileSync(join(host, name), name)
  mkdirSync(join(host, 'old/deep'), { recursive: true })
  writeFileSync(join(host, 'old/deep/file'), 'x')
  await mirror.pull()
  const kept = lstatSync(join(host, 'keep'), { bigint: true })
  writeFileSync(join(inside, 'change'), 'changed')
  rmSync(join(inside, 'remove'))
  rmSync(join(inside, 'old'), { recursive: true })
  mkdirSync(join(inside, 'new/deep'), { recursive: true })
  writeFileSync(join(inside, 'new/deep/file'), 'new', { mode: 0o755 })
  symlinkSync('deep/file', join(inside, 'new/link'))
  assert.deepEqual(await mirror.push(), [])
  assert.deepEqual(picture(host), {
    keep: 'keep',
    change: 'changed',
    new: '/',
    'new/deep': '/',
    'new/deep/file': 'new',
    'new/link': '-> deep/file',
  })
  assert.deepEqual(lstatSync(join(host, 'keep'), { bigint: true }), kept)
  assert.equal(lstatSync(join(host, 'new/deep/file')).mode & 0o777, 0o755)
})

test('a file that became a directory, and the reverse, come over', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  writeFileSync(join(host, 'file'), 'x')
  mkdirSync(join(host, 'directory/in'), { recursive: true })
  await mirror.pull()
  rmSync(join(inside, 'file'))
  mkdirSync(join(inside, 'file/in'), { recursive: true })
  rmSync(join(inside, 'directory'), { recursive: true })
  writeFileSync(join(inside, 'directory'), 'y')
  assert.deepEqual(await mirror.push(), [])
  assert.deepEqual(picture(host), { file: '/', 'file/in': '/', directory: 'y' })
})

test('a change of the mode alone comes over, without setuid', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  writeFileSync(join(host, 'script'), 'x')
  await mirror.pull()
  chmodSync(join(inside, 'script'), 0o4755)
  assert.deepEqual(await mirror.push(), [])
  assert.equal(lstatSync(join(host, 'script')).mode & 0o7777, 0o755)
})

test('content that changed while size and time stayed the same comes over', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  writeFileSync(join(host, 'file'), 'aaa')
  await mirror.pull()
  execFileSync('bash', ['-c', 'touch -r file keep; printf bbb > file; touch -r keep file; rm keep'], { cwd: inside })
  assert.deepEqual(await mirror.push(), [])
  assert.equal(readFileSync(join(host, 'file'), 'utf8'), 'bbb')
  execFileSync('bash', ['-c', 'printf ccc > other; touch -r file other; mv -f other file'], { cwd: host })
  assert.equal(await mirror.pull().then(() => readFileSync(join(inside, 'file'), 'utf8')), 'ccc')
})

test('a file that both sides changed keeps the host version; the set holds the version of the command', async (context) => {
  const { host, inside, mirror, records } = openMirror(context)
  writeFileSync(join(host, 'both'), 'old')
  writeFileSync(join(host, 'removed'), 'old')
  await mirror.pull()
  writeFileSync(join(host, 'both'), 'host')
  writeFileSync(join(host, 'removed'), 'host')
  writeFileSync(join(host, 'made'), 'host')
  writeFileSync(join(inside, 'both'), 'command')
  rmSync(join(inside, 'removed'))
  writeFileSync(join(inside, 'made'), 'command')
  const notes = await mirror.push()
  assert.deepEqual(picture(host), {
    both: 'host',
    made: 'host',
    removed: 'host',
  })
  assert.match(notes.join(), /^Nexus did not change both, made, removed: another program changed it meanwhile/)
  const [set] = records.list()
  assert.ok(set)
  const held = records
    .entries(set.id)
    .map(({ path, verdict, after }) => [
      path,
      verdict,
      after && Buffer.from(records.bytes(set.id, after) ?? []).toString(),
    ])
  assert.deepEqual(held, [
    ['both', 'conflict', 'command'],
    ['made', 'conflict', 'command'],
    ['removed', 'conflict', undefined],
  ])
  await mirror.pull()
  assert.deepEqual(picture(inside), picture(host), 'the next command sees the workspace as it is')
})

test('what the host changed alone arrives with the next pull', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  writeFileSync(join(host, 'a'), '1')
  mkdirSync(join(host, 'd'))
  await mirror.pull()
  assert.deepEqual(await mirror.push(), [])
  writeFileSync(join(host, 'a'), '22')
  rmSync(join(host, 'd'), { recursive: true })
  symlinkSync('a', join(host, 'd'))
  await mirror.pull()
  assert.deepEqual(picture(inside), { a: '22', d: '-> a' })
})

test('links that leave the workspace are held, and special files are not taken back', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  await mirror.pull()
  symlinkSync('/etc/passwd', join(inside, 'absolute'))
  symlinkSync('../../etc', join(inside, 'climbs'))
  execFileSync('mkfifo', [join(inside, 'pipe')])
  writeFileSync(join(inside, 'good'), 'x')
  const notes = await mirror.push()
  assert.deepEqual(picture(host), { good: 'x' })
  assert.match(notes.join('\n'), /^Nexus did not keep pipe: /)
  assert.match(notes.join('\n'), /Nexus holds absolute \(the link leads out of the workspace\), climbs/)
})

test('a directory swapped for a link never lets a write out', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  const outside = openDirectory()
  context.after(() => rmSync(outside, { recursive: true }))
  mkdirSync(join(host, 'data'))
  writeFileSync(join(host, 'data/file'), 'x')
  await mirror.pull()
  // The host's own directory becomes a link meanwhile; the command's change below it must not follow it.
  renameSync(join(host, 'data'), join(host, 'moved'))
  symlinkSync(outside, join(host, 'data'))
  writeFileSync(join(inside, 'data/file'), 'changed')
  writeFileSync(join(inside, 'data/new'), 'new')
  const notes = await mirror.push()
  assert.deepEqual(readdirSync(outside), [])
  assert.match(notes.join(), /data\/new \(writing it failed: EEXIST\).*Nexus did not change data\/file/)
})

test('a link of the host that leads outside is neither followed nor changed', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  const outside = openDirectory()
  context.after(() => rmSync(outside, { recursive: true }))
  writeFileSync(join(outside, 'secret'), 'TOP-SECRET')
  symlinkSync(join(outside, 'secret'), join(host, 'link'))
  await mirror.pull()
  assert.deepEqual(picture(inside), { link: `-> ${join(outside, 'secret')}` })
  rmSync(join(inside, 'link'))
  writeFileSync(join(inside, 'link'), 'replaced')
  await mirror.push()
  assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'TOP-SECRET')
  assert.equal(readFileSync(join(host, 'link'), 'utf8'), 'replaced')
})

test('protected places are not changed, made or removed; a repository that was none is held whole', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  mkdirSync(join(host, '.git/hooks'), { recursive: true })
  writeFileSync(join(host, '.git/config'), 'own')
  writeFileSync(join(host, 'nexus.yaml'), 'own')
  await mirror.pull()
  writeFileSync(join(inside, '.git/hooks/pre-commit'), 'evil')
  writeFileSync(join(inside, '.git/config'), 'evil')
  writeFileSync(join(inside, '.git/HEAD'), 'ref: refs/heads/main')
  rmSync(join(inside, 'nexus.yaml'))
  mkdirSync(join(inside, 'deep/.claude'), { recursive: true })
  writeFileSync(join(inside, 'deep/.claude/settings.json'), 'evil')
  writeFileSync(join(inside, '.mcp.json'), 'evil')
  const notes = await mirror.push()
  assert.deepEqual(picture(host), {
    '.git': '/', '.git/hooks': '/', '.git/config': 'own', 'nexus.yaml': 'own', deep: '/',
  }) // oxfmt-ignore
  assert.match(notes.join('\n'), /Nexus holds \.git \(it is a new repository\), .*\.mcp\.json/)
  assert.match(notes.join('\n'), /Nexus did not keep the change of nexus\.yaml/)
  await mirror.pull()
  assert.equal(picture(inside)['nexus.yaml'], 'own')
  assert.deepEqual(await mirror.push(), [], 'what is held already is not said again')
})

test('a workspace beyond the limits is refused before anything runs', async (context) => {
  const { host, mirror } = openMirror(context, { maxFiles: 3 })
  for (let index = 0; index < 4; index++) writeFileSync(join(host, String(index)), 'x')
  await assert.rejects(mirror.pull(), { code: 'LIMIT_EXCEEDED', fix: /execution\.workspace\.maxFiles/ })
})

test('changes beyond the limits are not taken back, all or nothing', async (context) => {
  const { host, inside, mirror } = openMirror(context, { maxBytes: 100 })
  await mirror.pull()
  writeFileSync(join(inside, 'small'), 'x')
  writeFileSync(join(inside, 'big'), 'x'.repeat(200))
  const notes = await mirror.push()
  assert.match(notes.join(), /kept no change/)
  assert.deepEqual(picture(host), {})
})

test('hard links inside the mirror come over as files of their own', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  writeFileSync(join(host, 'a'), 'x')
  await mirror.pull()
  linkSync(join(inside, 'a'), join(inside, 'b'))
  assert.deepEqual(await mirror.push(), [])
  assert.deepEqual([readFileSync(join(host, 'b'), 'utf8'), lstatSync(join(host, 'b')).nlink], ['x', 1])
})

test('an unfinished file of a killed process is removed, one of a living process is left alone', async (context) => {
  const { host, inside, mirror } = openMirror(context)
  const living = partName()
  writeFileSync(join(host, living.replace(`-${process.pid}-`, '-999999999-')), 'the process of that name is gone')
  writeFileSync(join(host, living), 'another command is being carried over')
  await mirror.pull()
  assert.deepEqual(readdirSync(inside), [])
  writeFileSync(join(inside, 'a'), 'x')
  await mirror.push()
  assert.deepEqual(readdirSync(host).sort(), [living, 'a'])
})

test('links stay inside only when no step of theirs can lead out', () => {
  const inside = [
    ['a', 'b'],
    ['a/b', '../c'],
    ['a/b', 'c/d'],
    ['a', '.'],
    ['a/b/c', '../../x/y'],
  ] as const
  const outside = [
    ['a', '..'],
    ['a', '/etc'],
    ['a/b', '../../c'],
    ['a', 'b/..'],
    ['a/b', 'c/../../..'],
    ['a', 'x/../../etc'],
    ['a', ''],
  ] as const
  for (const [path, target] of inside) assert.equal(staysInside(path, target), true, `${path} -> ${target}`)
  for (const [path, target] of outside) assert.equal(staysInside(path, target), false, `${path} -> ${target}`)
})

const name = fc.constantFrom('a', 'b', 'c', 'ä ö', 'x.txt')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
const step = fc.record({
  path,
  kind: fc.constantFrom('write', 'remove', 'directory', 'link', 'chmod'),
  text: fc.string({ maxLength: 5 }),
})

test('after any changes inside, pull and push make both sides equal', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 4 }), async (commands) => {
      const cleanUp: (() => void)[] = []
      const { host, inside, mirror } = openMirror({ after: (work) => void cleanUp.push(work as () => void) })
      try {
        for (const [index, command] of commands.entries()) {
          // The first steps are the host's own, so that there is something to pull.
          for (const one of command) apply(index === 0 ? host : inside, one)
          if (index > 0) assert.deepEqual(await mirror.push(), [])
          await mirror.pull()
          assert.deepEqual(picture(inside), picture(host))
        }
      } finally {
        for (const work of cleanUp) work()
      }
    }),
    { numRuns: 150 },
  )
})

function apply(directory: string, { path: where, kind, text }: { path: string; kind: string; text: string }): void {
  const target = join(directory, where)
  try {
    if (kind === 'write') writeFileSync(target, text)
    else if (kind === 'remove') rmSync(target, { recursive: true })
    else if (kind === 'directory') mkdirSync(target, { recursive: true })
    else if (kind === 'chmod') chmodSync(target, 0o755)
    else symlinkSync('a', target)
  } catch {
    // A step that makes no sense at that place (a file below a file) is a step that does nothing.
  }
}
