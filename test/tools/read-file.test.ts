import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { answerOf, openFiles } from './file-rig.ts'

describe('read_file', () => {
  it('gives the text of a file, and path and content as data', async (t) => {
    const { call, workspace } = openFiles(t, { 'docs/a.md': 'one\ntwo\n' })
    const outcome = await call('read_file', { path: 'docs/a.md' })
    assert.deepEqual(outcome, {
      type: 'success',
      text: 'one\ntwo\n',
      data: { path: 'docs/a.md', content: 'one\ntwo\n' },
      path: join(workspace, 'docs/a.md'),
      stats: { bytes: 8 },
    })
    assert.equal(answerOf(outcome), 'one\ntwo\n')
  })

  it('understands relative paths, absolute ones, backslashes, ~ and what .. leads back from', async (t) => {
    const { call, workspace, above } = openFiles(t, { 'docs/a.md': 'text', '~x': 'tilde' }, {})
    const ways = ['docs/a.md', './docs/../docs/a.md', 'docs\\a.md', join(workspace, 'docs/a.md'), 'none/../docs/a.md']
    for (const path of ways) assert.equal(answerOf(await call('read_file', { path })), 'text', path)
    const atHome = openFiles(t, {}, { settings: { home: workspace } })
    const limits = { readPaths: [above] }
    assert.equal(answerOf(await atHome.call('read_file', { path: '~/docs/a.md' }, limits)), 'text')
    assert.equal(answerOf(await call('read_file', { path: './~x' })), 'tilde')
  })

  it('says why there is nothing to read', async (t) => {
    const { call } = openFiles(t, { 'a.txt': '', 'sub/b.txt': 'x' })
    for (const [path, answer] of [
      ['', 'INVALID_PARAM: No path provided'],
      [' ', 'INVALID_PARAM: No path provided'],
      ['none.txt', 'NOT_FOUND: File not found: none.txt'],
      ['sub', 'IS_DIRECTORY: Path is a directory, not a file: sub'],
      ['.', 'IS_DIRECTORY: Path is a directory, not a file: .'],
      ['a.txt/b', 'NOT_FOUND: File not found: a.txt/b (a part of the path is not a directory)'],
      ['a.txt', 'The file a.txt is empty.'],
    ] as const)
      assert.equal(answerOf(await call('read_file', { path })), answer)
    assert.match(answerOf(await call('read_file', { path: 'x'.repeat(300) })), /^INVALID_PARAM: .*too long/)
    assert.match(answerOf(await call('read_file', { path: 'x/'.repeat(3_000) })), /^ACCESS_DENIED: .*longer than 4096/)
  })

  it('refuses what is outside, by whatever text', async (t) => {
    const { call, above } = openFiles(t, { 'a/x': '' }, { settings: { home: '/root' } })
    mkdirSync(join(above, 'work-evil'))
    writeFileSync(join(above, 'work-evil/a'), 'SECRET')
    for (const path of [
      ...['../x', 'a/../../work-evil/a', '/etc/passwd', join(above, 'work-evil/a'), '~/.bashrc', '~/../etc/passwd'],
      ...[
        '~root/x',
        'C:\\Windows\\win.ini',
        'c:/x',
        'file:///etc/passwd',
        '\\\\server\\share',
        'a\0b',
        '/proc/self/environ',
      ],
    ])
      assert.match(answerOf(await call('read_file', { path })), /^ACCESS_DENIED: Path security violation for '/, path)
  })

  it('refuses links, also in the middle of a path, and what is no regular file', async (t) => {
    const { call, workspace } = openFiles(t, {
      ...{ 'in.txt': 'in', 'sub/x': 'in', file: '->in.txt', directory: '->sub', up: '->..', self: '->self' },
      etc: '->/etc',
    })
    execFileSync('mkfifo', [join(workspace, 'fifo')])
    for (const path of ['file', 'directory/x', 'up/work/in.txt', 'self', 'etc/passwd'])
      assert.match(answerOf(await call('read_file', { path })), /^ACCESS_DENIED: .* symbolic link/, path)
    assert.match(answerOf(await call('read_file', { path: 'fifo' })), /^ACCESS_DENIED: .* FIFO/)
  })

  it('refuses files that are binary, not UTF-8, or too large, and names what they are', async (t) => {
    const png = Buffer.from('89504e470d0a1a0a00', 'hex')
    const files = { 'a.png': png, latin: Buffer.from([0xe4, 0x20]), 'utf16.txt': Buffer.from('\uFEFFa', 'utf16le') }
    const { call, workspace } = openFiles(t, files, { settings: { maxReadBytes: 1_000 } })
    writeFileSync(join(workspace, 'big'), '')
    truncateSync(join(workspace, 'big'), 5 * 2 ** 30)
    for (const [path, answer] of [
      ['a.png', 'BINARY_FILE: File is not valid UTF-8 text: a.png (image/png, 9 bytes)'],
      ['latin', 'BINARY_FILE: File is not valid UTF-8 text: latin (application/octet-stream, 2 bytes)'],
      ['utf16.txt', 'BINARY_FILE: File is not valid UTF-8 text: utf16.txt (UTF-16 text, 4 bytes)'],
      ['big', 'EXECUTION_ERROR: File is too large: big has 5368709120 bytes, and at most 1000 are read.'],
    ] as const)
      assert.equal(answerOf(await call('read_file', { path })), answer)
  })

  it('gives a range of lines, and names the next one', async (t) => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index + 1}`)
    const { call } = openFiles(t, { 'long.txt': `${lines.join('\n')}\n` })
    const first = await call('read_file', { path: 'long.txt' })
    assert.equal(first.type, 'partial')
    assert.match(answerOf(first), /line 1900\n\n\[Cut: only lines 1 to 1900 of 5000\. Read on with offset 1901\.\]$/)
    assert.equal(first.data?.['saved_output'], undefined)
    const next = answerOf(await call('read_file', { path: 'long.txt', offset: 1901, limit: 2 }))
    assert.equal(next, 'line 1901\nline 1902\n\n[Cut: only lines 1901 to 1902 of 5000. Read on with offset 1903.]')
    assert.equal(answerOf(await call('read_file', { path: 'long.txt', offset: 5_000 })), 'line 5000\n')
    assert.equal(
      answerOf(await call('read_file', { path: 'long.txt', offset: 5_001 })),
      'INVALID_PARAM: The file long.txt has no line 5001.',
    )
  })

  it('stays within the limits of an answer, so that nothing is cut twice', async (t) => {
    const { call } = openFiles(t, {
      'wide.txt': `${'wörter '.repeat(20)}\n`.repeat(2_000),
      'line.txt': 'x'.repeat(90_000),
    })
    const wide = await call('read_file', { path: 'wide.txt' })
    assert.match(answerOf(wide), /Read on with offset \d+\.\]$/)
    assert.ok(Buffer.byteLength(answerOf(wide)) <= 51_200)
    assert.match(answerOf(await call('read_file', { path: 'line.txt' })), /Line 1 is too long to be shown whole/)
  })

  it('shows no half of a secret where a line is cut', async (t) => {
    const secret = 'sk-0123456789abcdef'
    const { call } = openFiles(t, { 'keys.txt': `${'x'.repeat(49_970)}${secret}${'y'.repeat(500)}` }, { secret })
    const answer = answerOf(await call('read_file', { path: 'keys.txt' }))
    assert.match(answer, /too long to be shown whole/)
    assert.doesNotMatch(answer, /sk-0/)
  })

  it('names characters that a person does not see', async (t) => {
    const { call } = openFiles(t, { 'a.md': 'a\u200Bb' })
    assert.match(answerOf(await call('read_file', { path: 'a.md' })), /characters that a person does not see: U\+200B/)
  })
})

describe('allowed and blocked paths', () => {
  it('absent the workspace, / everything, a list only that, and an empty list nothing', async (t) => {
    const { call, above, workspace } = openFiles(t, { 'a.txt': 'in', 'data/b.txt': 'in' })
    writeFileSync(join(above, 'out.txt'), 'out')
    const read = async (path: string, readPaths?: string[]) =>
      answerOf(await call('read_file', { path }, readPaths && { readPaths }))
    assert.match(await read('../out.txt'), /outside the directories that this agent may read: .*\/work$/)
    assert.equal(await read('../out.txt', ['/']), 'out')
    assert.equal(await read('../out.txt', [above]), 'out')
    assert.equal(await read('data/b.txt', [join(workspace, 'data')]), 'in')
    assert.match(await read('a.txt', [join(workspace, 'data')]), /outside/)
    assert.match(await read('a.txt', [join(above, 'wor')]), /outside/)
    assert.match(await read('a.txt', []), /may read no directory/)
  })

  it('blocked paths win, also by another name of theirs', async (t) => {
    const { call, workspace, above } = openFiles(t, { 'a.txt': 'in', 'data/b.txt': 'in', 'data/c': '' })
    symlinkSync(workspace, join(above, 'alias'))
    const read = async (path: string, ...blockedPaths: string[]) =>
      answerOf(await call('read_file', { path }, { blockedPaths }))
    for (const blocked of [join(workspace, 'data'), join(above, 'alias/data'), above, '/'])
      assert.match(await read('data/b.txt', blocked), /blocked for this agent/, blocked)
    assert.equal(await read('data/b.txt', join(workspace, 'dat')), 'in')
  })

  it('a directory that is allowed through a link works, and so does a workspace', async (t) => {
    const rig = openFiles(t, { 'a.txt': 'in' }, { given: (above) => join(above, 'link') })
    symlinkSync('work', join(rig.above, 'link'))
    for (const path of ['a.txt', join(rig.above, 'link/a.txt'), join(rig.workspace, 'a.txt')])
      assert.equal(answerOf(await rig.call('read_file', { path })), 'in', path)
    const { call, above, workspace } = openFiles(t, { 'a.txt': 'in' })
    symlinkSync('work', join(above, 'link'))
    assert.equal(answerOf(await call('read_file', { path: join(above, 'link/a.txt') })), 'in')
    assert.equal(answerOf(await call('read_file', { path: 'a.txt' }, { readPaths: [join(above, 'link')] })), 'in')
    assert.equal(
      answerOf(await call('read_file', { path: join(workspace, 'a.txt') }, { readPaths: [join(above, 'link')] })),
      'in',
    )
  })

  it('an allowed directory of the workspace that became a link opens nothing', async (t) => {
    const { call, workspace, above } = openFiles(t, { data: '->../out' })
    mkdirSync(join(above, 'out'))
    writeFileSync(join(above, 'out/x'), 'SECRET')
    const limits = { readPaths: [join(workspace, 'data')] }
    assert.match(answerOf(await call('read_file', { path: 'data/x' }, limits)), /^ACCESS_DENIED: /)
    assert.match(answerOf(await call('read_file', { path: join(above, 'out/x') }, limits)), /^ACCESS_DENIED: /)
  })

  it('files of the kernel, the home of Nexus and directories of keys are read by nobody', async (t) => {
    const { call, workspace } = openFiles(
      t,
      { 'home/trust.json': '{}', '.nexus/apikeys/8765.key': 'KEY', '.nexus/agents/a.yaml': 'id: a' },
      { settings: { privatePaths: ['PLACE'] } },
    )
    const rig = openFiles(t, {}, { settings: { privatePaths: [join(workspace, 'home')] } })
    const limits = { readPaths: ['/'] }
    for (const path of [`/proc/${process.pid}/environ`, '/dev/zero', '/sys/kernel/notes'])
      assert.match(answerOf(await call('read_file', { path }, limits)), /files of the kernel and devices/, path)
    assert.match(
      answerOf(await rig.call('read_file', { path: join(workspace, 'home/trust.json') }, limits)),
      /Nexus keeps/,
    )
    assert.match(answerOf(await call('read_file', { path: '.nexus/apikeys/8765.key' })), /Nexus keeps/)
    assert.equal(answerOf(await call('read_file', { path: '.nexus/agents/a.yaml' })), 'id: a')
  })

  it('a file with a second name is read', async (t) => {
    const { call, workspace } = openFiles(t, { 'a.txt': 'in' })
    linkSync(join(workspace, 'a.txt'), join(workspace, 'b.txt'))
    assert.equal(answerOf(await call('read_file', { path: 'b.txt' })), 'in')
  })

  it('only files of allowed types are read where the user says so', async (t) => {
    const { call } = openFiles(
      t,
      { 'a.md': 'md', 'b.TXT': 'txt', 'c.js': 'js', Makefile: 'm' },
      {
        settings: { allowedExtensions: ['.md', 'txt'] },
      },
    )
    assert.equal(answerOf(await call('read_file', { path: 'a.md' })), 'md')
    assert.equal(answerOf(await call('read_file', { path: 'b.TXT' })), 'txt')
    for (const path of ['c.js', 'Makefile'])
      assert.match(
        answerOf(await call('read_file', { path })),
        /^PERMISSION_DENIED: The type of the file .* \.md, txt\.$/,
      )
    assert.equal((await call('list_directory', {})).type, 'success')
  })
})
