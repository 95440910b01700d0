import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { answerOf, openFiles } from './file-rig.ts'

const isRoot = process.getuid?.() === 0

describe('write_file', () => {
  it('makes a file with its directories, and says how many bytes it wrote', async (t) => {
    const { call, text, workspace } = openFiles(t)
    const outcome = await call('write_file', { path: 'docs/new/a.md', content: 'wörter\n' })
    assert.deepEqual(outcome, {
      type: 'success',
      text: 'Successfully wrote 8 bytes to docs/new/a.md',
      data: { path: 'docs/new/a.md', bytes_written: 8, applied: true },
      path: join(workspace, 'docs/new/a.md'),
    })
    assert.equal(text('docs/new/a.md'), 'wörter\n')
    assert.deepEqual(readdirSync(join(workspace, 'docs/new')), ['a.md'])
  })

  it('replaces a file whole and keeps its mode', async (t) => {
    const { call, text, workspace } = openFiles(t, { 'run.sh': 'old and long' })
    chmodSync(join(workspace, 'run.sh'), 0o750)
    await call('write_file', { path: 'run.sh', content: 'new' })
    assert.equal(text('run.sh'), 'new')
    assert.equal(statSync(join(workspace, 'run.sh')).mode & 0o777, 0o750)
  })

  it('appends, also to a file that is not there yet', async (t) => {
    const { call, text } = openFiles(t, { 'a.log': 'one\n' })
    for (const path of ['a.log', 'sub/b.log']) {
      const outcome = await call('write_file', { path, content: 'two\n', append: true })
      assert.equal(outcome.type === 'success' && outcome.text, `Successfully wrote 4 bytes to ${path}`)
    }
    assert.equal(text('a.log'), 'one\ntwo\n')
    assert.equal(text('sub/b.log'), 'two\n')
  })

  it('changes nothing outside, by no name, link or second name', async (t) => {
    const { call, workspace, above } = openFiles(t, {
      'a.txt': 'in',
      sub: '->../out',
      dangling: '->../out/new',
      file: '->a.txt',
    })
    mkdirSync(join(above, 'out'))
    writeFileSync(join(above, 'out/secret'), 'SECRET')
    linkSync(join(above, 'out/secret'), join(workspace, 'second'))
    execFileSync('mkfifo', [join(workspace, 'fifo')])
    const paths = ['../out/x', '/etc/x', 'sub/x', 'sub/secret', 'dangling', 'file', 'second', 'fifo', '~root/x', 'a\0b']
    for (const append of [false, true])
      for (const path of paths)
        assert.match(
          answerOf(await call('write_file', { path, content: 'evil', append })),
          /^ACCESS_DENIED: Path security violation/,
          `${path} ${append}`,
        )
    assert.deepEqual(readdirSync(join(above, 'out')), ['secret'])
    assert.equal(readFileSync(join(above, 'out/secret'), 'utf8'), 'SECRET')
    assert.equal(readFileSync(join(workspace, 'a.txt'), 'utf8'), 'in')
  })

  it('says why nothing was written', async (t) => {
    const { call } = openFiles(t, { 'a.txt': '', 'sub/x': '' })
    for (const [path, answer] of [
      ['', 'INVALID_PARAM: No path provided'],
      ['sub', 'IS_DIRECTORY: Path is a directory, not a file: sub'],
      ['.', 'IS_DIRECTORY: Path is a directory, not a file: .'],
      ['a.txt/b', 'NOT_FOUND: File not found: a.txt/b (a part of the path is not a directory)'],
    ] as const)
      assert.equal(answerOf(await call('write_file', { path, content: 'x' })), answer)
    assert.match(
      answerOf(await call('write_file', { path: 'b', content: '\ud83d' })),
      /^INVALID_PARAM: .*half of a character/,
    )
    assert.match(answerOf(await call('write_file', { path: 'b' })), /content is required/)
  })

  it('writes what would be held of a command only when a person agreed, and what the user opened', async (t) => {
    const files = { 'sub/.git/HEAD': '', 'conf/own.yaml': 'own' }
    const { call, text, workspace } = openFiles(t, files)
    const own = { protectedPaths: [join(workspace, 'conf/own.yaml')], writableNames: ['.vscode'] }
    const withOwn = openFiles(t, {}, { settings: own, given: () => workspace })
    for (const path of [
      '.git/hooks/pre-commit',
      '.claude/settings.json',
      'nexus.yaml',
      '.bashrc',
      'skills/a/SKILL.md',
      'sub/.git/config',
    ])
      assert.match(
        answerOf(await call('write_file', { path, content: 'evil' })),
        path === 'nexus.yaml' ? /may not change 'nexus\.yaml'/ : /^ACCESS_DENIED: .* would hold the change of '/,
        path,
      )
    assert.match(
      answerOf(await withOwn.call('write_file', { path: 'conf/own.yaml', content: 'evil' })),
      /may not change/,
    )
    assert.equal(text('conf/own.yaml'), 'own')
    assert.equal((await withOwn.call('write_file', { path: '.vscode/tasks.json', content: '{}' })).type, 'success')
    const agree = (path: string) => call('write_file', { path, content: 'A=1' }, undefined, { mayChangeHeld: true })
    assert.equal((await agree('.env')).type, 'success')
    assert.match(answerOf(await agree('nexus.yaml')), /part of Nexus or its settings/)
  })

  it('holds the same names outside of the workspace, and within it where only a part is allowed', async (t) => {
    const { call, workspace, above } = openFiles(t, { 'skills/mine/a': '' })
    mkdirSync(join(above, 'other'))
    const write = async (path: string, ...paths: string[]) =>
      answerOf(await call('write_file', { path, content: 'x' }, { readPaths: paths, writePaths: paths }))
    assert.match(await write(join(above, 'other/.git/config'), '/'), /would hold/)
    assert.match(await write(join(above, 'other/.bashrc'), join(above, 'other')), /would hold/)
    assert.match(await write('skills/mine/b', join(workspace, 'skills/mine')), /would hold the change of 'skills'/)
    assert.match(await write(join(above, 'other/a.txt'), join(above, 'other')), /^Successfully/)
    assert.match(await write(join(above, 'b.txt'), '/'), /^Successfully/)
  })

  it('keeps to the paths that may be written, of those that may be read', async (t) => {
    const { call, workspace } = openFiles(t, { 'a/x': '', 'b/x': '' })
    const [a, b] = [join(workspace, 'a'), join(workspace, 'b')]
    const write = async (
      path: string,
      limits: { readPaths?: string[]; writePaths?: string[]; blockedPaths?: string[] },
    ) => answerOf(await call('write_file', { path, content: 'x' }, limits))
    assert.match(await write('b/x', { writePaths: [a] }), /may change: .*\/a$/)
    assert.match(await write('a/x', { writePaths: [] }), /may change no directory/)
    assert.match(await write('b/x', { readPaths: [a], writePaths: [a, b] }), /^ACCESS_DENIED/)
    assert.match(await write('a/x', { blockedPaths: [a] }), /blocked for this agent/)
    assert.match(await write('a/x', { writePaths: [a] }), /^Successfully/)
  })

  it('as root, what is new belongs to the owner of its directory', { skip: !isRoot && 'needs root' }, async (t) => {
    const { call, workspace } = openFiles(t)
    chownSync(workspace, 1234, 1234)
    await call('write_file', { path: 'a/b.txt', content: '' })
    for (const path of ['a', 'a/b.txt']) assert.equal(statSync(join(workspace, path)).uid, 1234, path)
  })
})

describe('edit_file', () => {
  const edit = (path: string, from: string, to: string) => ({ path, old_string: from, new_string: to })
  const all = { replace_all: true }

  it('replaces a text that is there once, and shows the difference', async (t) => {
    const { call, text, workspace } = openFiles(t, { 'a.md': 'one\ntwo\nthree\n' })
    chmodSync(join(workspace, 'a.md'), 0o640)
    const outcome = await call('edit_file', edit('a.md', 'two', 'zwei'))
    const diff = '@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three'
    assert.deepEqual(outcome.data, { path: 'a.md', applied: true, replacements: 1, diff })
    assert.equal(outcome.type === 'success' && outcome.text, `Edited a.md: replaced 1 occurrence.\n\n${diff}`)
    assert.equal(text('a.md'), 'one\nzwei\nthree\n')
    assert.equal(statSync(join(workspace, 'a.md')).mode & 0o777, 0o640)
  })

  it('changes nothing when the text is not there, or there more than once', async (t) => {
    const { call, text } = openFiles(t, { 'a.md': 'a\nb\na\n', b: 'aaa' })
    for (const [args, answer] of [
      [edit('a.md', 'A', 'x'), 'INVALID_PARAM: old_string is not in a.md. Nothing was changed.'],
      [edit('a.md', 'a', 'x'), 'INVALID_PARAM: old_string is in a.md more than once. Nothing was changed.'],
      [edit('b', 'aa', 'x'), 'INVALID_PARAM: old_string is in b more than once. Nothing was changed.'],
      [edit('a.md', '', 'x'), 'INVALID_PARAM: old_string is empty.'],
      [edit('a.md', 'a', 'a'), 'INVALID_PARAM: old_string and new_string are the same, so nothing would change.'],
      [edit('none', 'a', 'b'), 'NOT_FOUND: File not found: none'],
    ] as const)
      assert.equal(answerOf(await call('edit_file', args)), answer)
    assert.equal(text('a.md'), 'a\nb\na\n')
  })

  it('replaces every occurrence where that is asked, $ and all', async (t) => {
    const { call, text } = openFiles(t, { 'a.md': 'a\nb\na\n' })
    assert.match(answerOf(await call('edit_file', { ...edit('a.md', 'a', "$&$'"), ...all })), /replaced 2 occurrences/)
    assert.equal(text('a.md'), "$&$'\nb\n$&$'\n")
  })

  it('keeps line ends, the byte order mark and a missing last line break', async (t) => {
    const { call, text } = openFiles(t, { crlf: '\ufeffone\r\ntwo\r\nthree', mixed: 'one\r\ntwo\nthree' })
    assert.equal((await call('edit_file', edit('crlf', 'one\ntwo\n', 'eins\nzwei\n'))).type, 'success')
    assert.equal(text('crlf'), '\ufeffeins\r\nzwei\r\nthree')
    assert.equal((await call('edit_file', edit('mixed', 'one\r\ntwo\n', 'eins\r\nzwei\n'))).type, 'success')
    assert.equal(text('mixed'), 'eins\r\nzwei\nthree')
  })

  it('refuses what write_file and read_file refuse', async (t) => {
    const { call, workspace } = openFiles(t, { 'a.txt': 'in', link: '->a.txt', 'nexus.yaml': 'a: 1', bin: 'a\0' })
    linkSync(join(workspace, 'a.txt'), join(workspace, 'second'))
    for (const path of ['link', 'nexus.yaml', '../x'])
      assert.match(answerOf(await call('edit_file', edit(path, 'a', 'b'))), /^ACCESS_DENIED|NOT_FOUND/, path)
    assert.match(answerOf(await call('edit_file', edit('second', 'in', 'out'))), /hard link/)
    assert.match(answerOf(await call('edit_file', edit('bin', 'a', 'b'))), /^BINARY_FILE/)
  })

  it('of many edits at the same time none is lost: each is applied or told to read again', async (t) => {
    const names = Array.from({ length: 20 }, (_, index) => `<${index}>`)
    const { call, text } = openFiles(t, { 'a.md': names.join('\n') })
    const outcomes = await Promise.all(
      names.map((name, index) => call('edit_file', edit('a.md', name, `done ${index}`))),
    )
    const applied = outcomes.filter(({ type }) => type === 'success').length
    assert.ok(applied >= 1)
    assert.equal((text('a.md') ?? '').match(/done/g)?.length, applied)
    for (const outcome of outcomes)
      assert.match(answerOf(outcome), /^Edited|^CONFLICT: a\.md was changed by another program meanwhile\./)
  })

  it('shows the beginning of a long difference, and none that is too large', async (t) => {
    const { call } = openFiles(t, { 'a.md': 'x\n'.repeat(700), 'b.md': 'x\n'.repeat(100_000) })
    assert.match(
      answerOf(await call('edit_file', { ...edit('a.md', 'x', 'y'), ...all })),
      /\[Cut: the first 400 of 1401 lines/,
    )
    assert.match(answerOf(await call('edit_file', { ...edit('b.md', 'x', 'y'), ...all })), /difference is too large/)
  })

  it('shows no half of a secret where a long difference is cut', async (t) => {
    const secret = 'sk-0123456789abcdef'
    // The cut at 20,000 bytes is ten characters into the secret of the removed line.
    const before = `${'x'.repeat(20_000 - '@@ -1,1 +1,1 @@\n-'.length - 10)}${secret} old`
    const { call } = openFiles(t, { 'a.md': before }, { secret })
    const answer = answerOf(await call('edit_file', edit('a.md', ' old', ' new')))
    assert.match(answer, /\[Cut: the first/)
    assert.match(answer, /x\[redacted\]/)
    assert.doesNotMatch(answer, /sk-0/)
  })
})

/** Each write makes a change set, with its syncs: 1,000 of them are for `npm run test:long`. */
const WRITES = process.env['TEST_ROUNDS'] === undefined ? 300 : 1_000

describe('two writers', () => {
  it(`leave one of their texts, never a mixture, after ${WRITES} writes`, async (t) => {
    const { call, text, workspace } = openFiles(t)
    const contents = ['a', 'b'].map((letter) => letter.repeat(100_000))
    for (let round = 0; round < WRITES / 2; round++) {
      await Promise.all(contents.map((content) => call('write_file', { path: 'f', content })))
      assert.ok(contents.includes(text('f') ?? ''))
    }
    assert.deepEqual(readdirSync(workspace), ['f'])
  })

  it('do not complete a git directory together', async (t) => {
    const { call, text } = openFiles(t)
    const parts = ['HEAD', 'config', 'objects/x', 'refs/x'].map((name) => `bare/${name}`)
    await Promise.all(parts.map((path) => call('write_file', { path, content: 'x' })))
    assert.equal(parts.filter((path) => text(path) !== undefined).length, 3)
  })
})
