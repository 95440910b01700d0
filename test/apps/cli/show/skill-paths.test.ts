import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathsOfSkills, showPathsLive } from '../../../../src/apps/cli/show/skill-paths.ts'
import type { Terminal } from '../../../../src/apps/cli/terminal.ts'
import type { Local } from '../../../../src/local/index.ts'

const COPIES = '/state dir/revisions'
const DIGEST = 'a1'.repeat(32)

function shower(skillsDirectory: string | undefined) {
  const openAgent = () => ({ catalog: () => ({ skills: [{ directory: '/work/skills/greet' }] }) })
  const local = { runtime: { facts: { skillsDirectory }, openAgent } } as unknown as Local
  const terminal = { shortPath: (path: string) => path.replace('/work', '.') } as Terminal
  return pathsOfSkills(local, undefined, terminal)
}

test('a copy of a file is named as the file itself; other paths stay as they are', () => {
  const show = shower(COPIES)
  assert.equal(show(`"${COPIES}/${DIGEST}/greet/a.py", line 3`), '"./skills/greet/a.py", line 3')
  for (const other of [`${COPIES}/${DIGEST}/other/a.py`, `${COPIES}/x/greet`, `/else/${DIGEST}/greet/a.py`, ''])
    assert.equal(show(other), other)
  assert.equal(shower(undefined)(`${COPIES}/${DIGEST}/greet`), `${COPIES}/${DIGEST}/greet`)
})

test('however the text is cut into chunks, it is the same, and nothing is kept at its end', () => {
  const text = `50/100\rat ${COPIES.replace(' ', '-')}/${DIGEST}/greet/a.py:3\n/`
  const show = shower(COPIES.replace(' ', '-'))
  for (let size = 1; size <= text.length; size++) {
    let shown = ''
    const live = showPathsLive(show, (part) => (shown += part))
    for (let at = 0; at < text.length; at += size) live.add(text.slice(at, at + size))
    live.end()
    assert.equal(shown, '50/100\rat ./skills/greet/a.py:3\n/', `chunks of ${size}`)
  }
})
