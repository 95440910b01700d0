import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { Place } from '../../nexus.ts'

/** A SKILL.md; `more` are further lines of its frontmatter. */
function text(name: string, more = ''): string {
  return `---\nname: ${name}\ndescription: Does it. Use when asked.\n${more}---\nBody of ${name}.\n`
}

const FILES: Readonly<Record<string, string>> = {
  'workspace/skills/pdf/SKILL.md': text('pdf'),
  'workspace/skills/zzz/SKILL.md': text('pdf', 'license: MIT\n'),
  'workspace/skills/halved/SKILL.md': 'no frontmatter',
  'workspace/skills/stuck/SKILL.md': text('stuck', 'metadata: {"nexus":{"requires":{"bins":["no-such-bin"]}}}\n'),
  'home/skills/apart/SKILL.md': text(
    'apart',
    'license: MIT\ncompatibility: Needs « Node »\nallowed-tools: Read, Bash(git:*)\n',
  ),
}

function prepare(t: { after: (fn: () => void) => void }): Place {
  const place = new Place(t)
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(place.root, path)), { recursive: true })
    writeFileSync(join(place.root, path), content)
  }
  return place
}

interface Shown {
  readonly address: string
  readonly sha256: string
  readonly verdict: string
  readonly winner?: string
  readonly findings: readonly { readonly code: string; readonly line?: number; readonly reason?: string }[]
}

test('one skill is shown with its address, its digest and what it says', async (t) => {
  const place = prepare(t)
  const { code, stdout, stderr } = await place.run(['skills', 'show', 'apart', '--trust'])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^apart {2}ready\n\nDoes it\. Use when asked\.\n\naddress +local\/apart\n/)
  assert.match(stdout, /\nlicense +MIT\ncompatibility +Needs « Node »\nallowed tools +Read, Bash\(git:\*\)\n/)
  assert.match(stdout, /\nsha256 +[0-9a-f]{64}\nrevision +sha256:[0-9a-f]{64}\n$/)
})

test('each copy has its verdict, with the reasons in the form that why has', async (t) => {
  const place = prepare(t)
  const show = async (name: string): Promise<Shown> => {
    const { stdout, stderr } = await place.run(['skills', 'show', name, '--trust', '--json'])
    assert.ok(stdout !== '', stderr)
    return (JSON.parse(stdout) as { data: Shown }).data
  }
  assert.equal((await show('apart')).verdict, 'ready')
  const { verdict, findings } = await show('stuck')
  assert.equal(verdict, 'held')
  assert.deepEqual(
    findings.map(({ code, line, reason }) => [code, line, reason]),
    [['bin', 4, 'missing binary: no-such-bin']],
  )
  const shadowed = await show('workspace/pdf~2')
  assert.deepEqual([shadowed.verdict, shadowed.winner], ['shadowed', 'workspace/pdf'])
})

test('a skill that is not there ends with 4, one that cannot be read with 1', async (t) => {
  const place = prepare(t)
  const missing = await place.run(['skills', 'show', 'apar'])
  assert.deepEqual([missing.code, missing.stdout], [4, ''])
  assert.match(missing.stderr, /There is no skill 'apar'.*Ready skills: .*apart/)
  const halved = await place.run(['skills', 'show', 'halved'])
  assert.equal(halved.code, 1)
  assert.match(halved.stderr, /SKILL_INVALID: .*halved\/SKILL\.md/)
})
