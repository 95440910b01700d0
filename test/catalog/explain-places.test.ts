import assert from 'node:assert/strict'
import { test } from 'node:test'

import { buildCatalog, type ExplainParts, explainSkill, renderIndex, type StrayFile } from '../../src/catalog/index.ts'
import type { Diagnostic } from '../../src/kernel/index.ts'
import { catalogOf, copy, held } from './copies.ts'

const roots = [
  { source: 'workspace', path: '/ws/skills' },
  { source: 'local', path: '/home/.nexus/skills' },
]

function fixFor(stray: StrayFile, asked = 'pdf'): string {
  const [first] = explainSkill(asked, { catalog: catalogOf([]), roots, strays: [stray] }).findings
  assert.equal(first?.severity, 'problem')
  assert.equal(first?.file, stray.file)
  return first?.fix ?? ''
}

test('each wrong place comes with the command that moves the skill to a right one', () => {
  const cases: readonly (readonly [StrayFile, string])[] = [
    [{ file: '/ws/x/pdf/SKILL.md', why: 'beside-root' }, 'mkdir -p /ws/skills && mv /ws/x/pdf /ws/skills/pdf'],
    [
      { file: '/ws/SKILL.md', why: 'beside-root' },
      'mkdir -p /ws/skills/pdf && mv /ws/SKILL.md /ws/skills/pdf/SKILL.md',
    ],
    [{ file: '/ws/skills/.pdf/SKILL.md', why: 'hidden' }, 'mv /ws/skills/.pdf /ws/skills/pdf'],
    [{ file: '/ws/.codex/skills/pdf/SKILL.md', why: 'hidden' }, 'cp -R /ws/.codex/skills/pdf /ws/skills/pdf'],
    [
      { file: '/home/.claude/skills/pdf/SKILL.md', why: 'elsewhere' },
      'cp -R /home/.claude/skills/pdf /home/.nexus/skills/pdf',
    ],
    [{ file: '/ws/skills/pdf/README.md', why: 'other-file' }, 'mv /ws/skills/pdf/README.md /ws/skills/pdf/SKILL.md'],
    [
      { file: '/ws/skills/pdf.md', why: 'single-file' },
      'mkdir -p /ws/skills/pdf && mv /ws/skills/pdf.md /ws/skills/pdf/SKILL.md',
    ],
    [{ file: '/ws/skills/pdf.zip', why: 'archive' }, 'unzip /ws/skills/pdf.zip -d /ws/skills/pdf'],
    [{ file: '/ws/skills/pdf.tgz', why: 'archive' }, 'tar -xf /ws/skills/pdf.tgz -C /ws/skills/pdf'],
    [
      { file: '/ws/skills/a/pdf/SKILL.md', why: 'below-skill', inside: '/ws/skills/a' },
      'mv /ws/skills/a/pdf /ws/skills/pdf',
    ],
    [
      { file: '/ws/skills/pdf/SKILL.md', why: 'below-skill', inside: '/ws/skills' },
      'mv /ws/skills/SKILL.md /ws/skills/my-skill/',
    ],
  ]
  for (const [stray, command] of cases) assert.ok(fixFor(stray).includes(command), `${fixFor(stray)}\n${command}`)
})

test('what a command names is quoted for the shell', () => {
  const stray: StrayFile = { file: "/ws/my stuff/$(touch x)'s/SKILL.md", why: 'beside-root' }
  assert.ok(fixFor(stray).includes(`mv '/ws/my stuff/$(touch x)'\\''s' /ws/skills/pdf`), fixFor(stray))
  const odd = copy('$(touch x)', { directory: '/local/odd' })
  assert.match(explainSkill('odd', { catalog: catalogOf([odd]) }).findings[0]?.fix ?? '', /show '\$\(touch x\)'$/)
})

test('an address in a source that has no such skill, or does not exist, names the addresses there are', () => {
  const parts: ExplainParts = { catalog: catalogOf([copy('pdf', { source: 'workspace', tier: 'workspace' })]), roots }
  const [here] = explainSkill('local/pdf', parts).findings
  assert.match(here?.text ?? '', /^Source 'local' has no skill named 'pdf'/)
  assert.match(here?.fix ?? '', /Run: nexus skills why workspace\/pdf$/)
  const [unknown] = explainSkill('claude/pdf', parts).findings
  assert.match(unknown?.text ?? '', /^There is no source 'claude'\. Sources: workspace, local\.$/)
})

test('a place of that very name which could not be looked into is the answer', () => {
  const broken: Diagnostic = {
    code: 'link-broken',
    severity: 'warning',
    message: 'the link cannot be followed',
    path: '/ws/skills/pdf',
    fix: 'remove the link',
  }
  const catalog = buildCatalog({ gated: { ready: [], held: [] }, diagnostics: [broken] })
  const { findings } = explainSkill('pdf', { catalog, roots })
  assert.deepEqual(
    findings.map(({ code, severity, file }) => [code, severity, file]),
    [['link-broken', 'problem', '/ws/skills/pdf']],
  )
})

test('a name that nobody can give to a new skill is not proposed for one', () => {
  const fix = (name: string): string => explainSkill(name, { catalog: catalogOf([]), roots }).findings[0]?.fix ?? ''
  assert.match(fix('../../etc/passwd'), /^See all names with: nexus skills list --all$/)
  assert.match(fix('new-skill'), /^Make it with: nexus skills init new-skill/)
})

test('a copy in the same source is told apart from one in a lower tier', () => {
  const catalog = catalogOf([
    copy('pdf', { directory: '/local/a', bytes: '1' }),
    copy('pdf', { directory: '/local/b', bytes: '2' }),
  ])
  const shadow = explainSkill('pdf', { catalog }).findings.find(({ code }) => code === 'shadowed')
  assert.match(shadow?.text ?? '', /one source has the name twice/)
  assert.match(shadow?.fix ?? '', /its address local\/pdf~2,/)
})

test('advice about a reason gives its place and the nearer thing to do', () => {
  const catalog = catalogOf([], [held(copy('pdf'), 'bin')])
  const advise: ExplainParts['advise'] = (_skill, { code }) => ({
    file: '/local/pdf/SKILL.md',
    line: 7,
    fix: `mend ${code}`,
  })
  const [first] = explainSkill('pdf', { catalog, advise }).findings
  assert.deepEqual([first?.line, first?.fix], [7, 'mend bin'])
})

test('a skill that nobody may start, or only the model, is said to be so', () => {
  const nobody = { ...copy('pdf'), invocation: { model: false, user: false } }
  assert.equal(explainSkill('pdf', { catalog: catalogOf([nobody]) }).findings[0]?.code, 'nobody')
  const model = { ...copy('pdf'), invocation: { model: true, user: false } }
  const catalog = catalogOf([model])
  const [first] = explainSkill('pdf', { catalog, index: renderIndex(catalog, { budgetChars: 12_000 }) }).findings
  assert.match(first?.text ?? '', /Only the model may start it/)
})
