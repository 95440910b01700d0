import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { answerOf, openFiles } from './file-rig.ts'

describe('list_directory', () => {
  it('gives names, types and sizes by name, of the workspace by default', async (t) => {
    const { call, workspace } = openFiles(t, { 'b.txt': 'four', 'a/x': '', link: '->b.txt' })
    execFileSync('mkfifo', [join(workspace, 'pipe')])
    const outcome = await call('list_directory', {})
    assert.deepEqual(outcome.data, {
      path: '.',
      items: [
        { name: 'a', type: 'directory', size: null },
        { name: 'b.txt', type: 'file', size: 4 },
        { name: 'link', type: 'link', size: null },
        { name: 'pipe', type: 'other', size: null },
      ],
    })
    assert.equal(answerOf(outcome), 'a/ (directory)\nb.txt (file, size 4)\nlink (link)\npipe (other)')
  })

  it('says what cannot be listed', async (t) => {
    const { call } = openFiles(t, { 'a.txt': '', 'sub/.keep': '', out: '->/etc' })
    mkdirSync(join(openFiles(t).workspace, 'empty'))
    for (const [path, answer] of [
      ['a.txt', 'INVALID_PARAM: Path is a file, not a directory: a.txt'],
      ['none', 'NOT_FOUND: File not found: none'],
    ] as const)
      assert.equal(answerOf(await call('list_directory', { path })), answer)
    for (const path of ['..', '/etc', 'out', '/proc/self/fd'])
      assert.match(answerOf(await call('list_directory', { path })), /^ACCESS_DENIED: Path security violation/, path)
  })

  it('says that a directory is empty', async (t) => {
    assert.equal(answerOf(await openFiles(t).call('list_directory', { path: '.' })), 'The directory . is empty.')
  })

  it('bounds a listing of more than 10,000 entries, says so, and goes on where it is told', async (t) => {
    const { call, workspace } = openFiles(t)
    for (let index = 0; index < 10_050; index++)
      writeFileSync(join(workspace, `f${String(index).padStart(5, '0')}`), '')
    const first = await call('list_directory', {})
    assert.equal(first.type, 'partial')
    const shown = (first.data?.['items'] as unknown[]).length
    assert.ok(shown > 500 && shown <= 1_000, String(shown))
    assert.ok(
      answerOf(first).endsWith(
        `[Cut: entries 1 to ${shown} of more than 10000 in .. Read on with offset ${shown + 1}.]`,
      ),
    )
    assert.doesNotMatch(answerOf(first), /Data:/)
    const last = await call('list_directory', { offset: 9_900 })
    assert.match(answerOf(last), /\[Cut: \. has more than 10000 entries; the others are not listed\./)
    assert.match(answerOf(await call('list_directory', { offset: 10_001 })), /^INVALID_PARAM: .* no entry 10001/)
  })

  it('keeps long names within one answer', async (t) => {
    const { call, workspace } = openFiles(t)
    for (let index = 0; index < 600; index++) writeFileSync(join(workspace, `${'ü'.repeat(120)}${index}`), '')
    const outcome = await call('list_directory', {})
    assert.equal(outcome.type, 'partial')
    assert.ok(Buffer.byteLength(answerOf(outcome)) <= 51_200)
    assert.match(answerOf(outcome), /of 600 in \.\. Read on with offset \d+\.\]$/)
  })
})
