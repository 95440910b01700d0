import assert from 'node:assert/strict'
import { longestStretch } from './local-rig.ts'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Tree } from '../../../src/machine/files/index.ts'
import { asNobody, noDescriptors } from '../files/rig.ts'
import { openMirror, picture } from './mirror-rig.ts'

const skip = noDescriptors

/** What a command may leave behind: directories in each other, deeper than a path may be long. */
function nest(directory: string, levels: number): void {
  const tree = new Tree(directory)
  let path = 'd'
  for (let level = 0; level < levels; level++, path += '/d') tree.makeDirectory(path, { mode: 0o755 })
  tree.close()
}

test(
  'directories in each other come over as far as paths can name them; deeper ones are named and removed',
  { skip },
  async (context) => {
    const { host, inside, mirror } = openMirror(context, { maxFiles: 5_000 })
    await mirror.pull()
    nest(inside, 5_000)
    writeFileSync(join(inside, 'file'), 'kept')
    const begun = performance.now()
    const notes = await mirror.push()
    context.diagnostic(`5,000 levels taken back in ${Math.round(performance.now() - begun)} ms`)
    assert.equal(notes.length, 1)
    assert.match(notes[0] ?? '', /^Nexus did not keep (?:d\/)+…: its path is longer than programs can open/)
    assert.equal(readFileSync(join(host, 'file'), 'utf8'), 'kept')
    let levels = 0
    const tree = new Tree(host)
    await tree.walk({ visit: () => void levels++ })
    tree.close()
    assert.equal(levels, 2_048 + 1)
    assert.deepEqual([await mirror.pull(), await mirror.push()], [undefined, []], 'both sides are equal')
  },
)

test('names that are not UTF-8 go in and come back', { skip }, async (context) => {
  const { host, inside, mirror } = openMirror(context)
  const raw = (directory: string, name: string): Buffer =>
    Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name, 'latin1')])
  mkdirSync(raw(host, 'd\xff'))
  writeFileSync(raw(host, 'd\xff/in'), 'in')
  await mirror.pull()
  assert.equal(readFileSync(raw(inside, 'd\xff/in'), 'utf8'), 'in')
  writeFileSync(raw(inside, 'd\xff/out\xfe'), 'out')
  writeFileSync(raw(inside, 'd\xff/in'), 'changed')
  assert.deepEqual(await mirror.push(), [])
  assert.deepEqual(
    ['d\xff/in', 'd\xff/out\xfe'].map((name) => readFileSync(raw(host, name), 'utf8')),
    ['changed', 'out'],
  )
})

test('protected names are refused below a name that is not UTF-8', { skip }, async (context) => {
  const { host, inside, mirror } = openMirror(context)
  await mirror.pull()
  execFileSync('bash', ['-c', String.raw`mkdir -p $'\xff/.vscode'; echo x > $'\xff/.vscode/tasks.json'`], {
    cwd: inside,
  })
  const notes = await mirror.push()
  assert.ok(notes.length > 0 && notes.every((note) => note.includes('.vscode')), notes.join('\n'))
  assert.deepEqual(execFileSync('find', ['.', '-name', '.vscode'], { cwd: host, encoding: 'utf8' }), '')
})

test('a directory that a command closed costs nothing but its mode', { skip }, async (context) => {
  const { host, inside, mirror } = openMirror(context)
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', '65534:65534', join(host, '..')])
  await asNobody(async () => {
    await mirror.pull()
    mkdirSync(join(inside, 'closed/deeper'), { recursive: true })
    writeFileSync(join(inside, 'closed/deeper/file'), 'kept')
    writeFileSync(join(inside, 'other'), 'kept')
    chmodSync(join(inside, 'closed/deeper'), 0)
    chmodSync(join(inside, 'closed'), 0)
    assert.deepEqual(await mirror.push(), [])
  })
  assert.deepEqual(picture(host), {
    closed: '/',
    'closed/deeper': '/',
    'closed/deeper/file': 'kept',
    other: 'kept',
  })
  assert.equal(statSync(join(host, 'closed')).mode & 0o777, 0o700)
})

test('a sparse file stays sparse on both ways', { skip }, async (context) => {
  const { host, inside, mirror } = openMirror(context, { maxBytes: 2 ** 28 })
  writeFileSync(join(host, 'in'), 'x')
  truncateSync(join(host, 'in'), 2 ** 26)
  await mirror.pull()
  writeFileSync(join(inside, 'out'), 'x')
  truncateSync(join(inside, 'out'), 2 ** 26)
  assert.deepEqual(await mirror.push(), [])
  for (const path of [join(inside, 'in'), join(host, 'out')]) {
    const { size, blocks } = statSync(path)
    assert.equal(size, 2 ** 26)
    assert.ok(blocks * 512 < 2 ** 20, `${path}: ${blocks} blocks`)
  }
})

test('many changes too many are refused without holding up the event loop', { skip }, async (context) => {
  const { host, inside, mirror } = openMirror(context)
  await mirror.pull()
  mkdirSync(join(inside, 'many'))
  for (let index = 0; index < 5_000; index++) writeFileSync(join(inside, 'many', String(index)), '')
  const stretches = longestStretch()
  const notes = await mirror.push()
  const longest = stretches.stop()
  assert.match(notes[0] ?? '', /kept no change/)
  assert.ok(longest < 20, `${longest} ms without a turn of the event loop`)
  assert.deepEqual([readdirSync(host), mirror.isUsable], [[], false], 'the copy is not used again')
})
