import assert from 'node:assert/strict'
import { test } from 'node:test'

import { buildCatalog, renderIndex } from '../../../src/skills/catalog/index.ts'
import { diagnose, type Facts, type Finding, type StrayFile } from '../../../src/skills/diagnose/index.ts'
import type { Diagnostic } from '../../../src/kernel/index.ts'
import { catalogOf, copy } from '../catalog/copies.ts'

const roots = [
  { source: 'workspace', path: '/ws/skills' },
  { source: 'local', path: '/home/.nexus/skills' },
]

function fixFor(stray: StrayFile, asked = 'pdf'): string {
  const [first] = diagnose(asked, { catalog: catalogOf([]), roots, strays: [stray] }).findings
  assert.equal(first?.severity, 'error')
  assert.equal(first?.path, stray.file)
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

test('a skill that is one file or an archive is found by its name, with the fix of the source', () => {
  for (const [code, file] of [
    ['skill-single-file', '/ws/skills/pdf.md'],
    ['skill-archive', '/ws/skills/pdf.tar.gz'],
  ] as const) {
    const found: Diagnostic = { code, severity: 'warning', message: 'm', path: file, fix: 'Unpack it.' }
    const catalog = buildCatalog({ gated: { ready: [], held: [] }, diagnostics: [found] })
    const [first, second] = diagnose('pdf', { catalog, roots }).findings
    assert.deepEqual([first?.code, first?.severity, first?.fix], [code, 'error', 'Unpack it.'])
    assert.equal(second, undefined)
  }
})

test('what a command names is quoted for the shell', () => {
  const stray: StrayFile = { file: "/ws/my stuff/$(touch x)'s/SKILL.md", why: 'beside-root' }
  assert.ok(fixFor(stray).includes(`mv '/ws/my stuff/$(touch x)'\\''s' /ws/skills/pdf`), fixFor(stray))
  const odd = copy('$(touch x)', { directory: '/local/odd' })
  assert.deepEqual(diagnose('odd', { catalog: catalogOf([odd]) }).findings[0]?.command?.at(-1), '$(touch x)')
})

test('an address in a source that has no such skill, or does not exist, names the addresses there are', () => {
  const parts: Facts = { catalog: catalogOf([copy('pdf', { source: 'workspace', tier: 'workspace' })]), roots }
  const [here] = diagnose('local/pdf', parts).findings
  assert.match(here?.message ?? '', /^Source 'local' has no skill named 'pdf'/)
  assert.deepEqual(here?.command, ['skills', 'why', 'workspace/pdf'])
  const [unknown] = diagnose('claude/pdf', parts).findings
  assert.match(unknown?.message ?? '', /^There is no source 'claude'\. Sources: workspace, local\.$/)
})

test('a broken link of another name is no part of the answer, a directory that was not searched is', () => {
  const found = (code: string, path: string): Diagnostic => ({
    code,
    severity: 'warning',
    message: 'm',
    path,
    fix: 'f',
  })
  const diagnostics = [
    found('link-broken', '/ws/skills/other'),
    found('name-encoding', '/ws/skills/x\ufffd'),
    found('duplicate-name', '/ws/skills/two/SKILL.md'),
    found('link-outside', '/ws/skills/team'),
  ]
  const catalog = buildCatalog({ gated: { ready: [], held: [] }, diagnostics })
  assert.deepEqual(
    diagnose('pdf', { catalog, roots }).findings.map(({ code }) => code),
    ['not-found', 'link-outside'],
  )
})

test('an invalid copy beside one that is used is a warning, not the verdict', () => {
  const invalid = {
    ...copy('pdf', { tier: 'workspace' }),
    diagnostics: [{ code: 'yaml-invalid', severity: 'error', message: 'm', path: '/workspace/pdf/SKILL.md', fix: 'f' }],
  } as const
  const { verdict, findings } = diagnose('pdf', { catalog: catalogOf([copy('pdf')], [], [invalid]) })
  assert.equal(verdict, 'ready')
  assert.deepEqual(
    findings.map(({ code, severity }) => [code, severity]),
    [
      ['ready', 'info'],
      ['yaml-invalid', 'warning'],
      ['lower-copy-used', 'warning'],
    ],
  )
})

test('a directory of that very name which could not be searched is the answer', () => {
  const broken: Diagnostic = {
    code: 'link-broken',
    severity: 'warning',
    message: 'the link cannot be followed',
    path: '/ws/skills/pdf',
    fix: 'remove the link',
  }
  const catalog = buildCatalog({ gated: { ready: [], held: [] }, diagnostics: [broken] })
  const { findings } = diagnose('pdf', { catalog, roots })
  assert.deepEqual(
    findings.map(({ code, severity, path }) => [code, severity, path]),
    [['link-broken', 'error', '/ws/skills/pdf']],
  )
})

test('a name that nobody can give to a new skill is not proposed for one', () => {
  const first = (name: string): Finding | undefined => diagnose(name, { catalog: catalogOf([]), roots }).findings[0]
  assert.deepEqual(first('../../etc/passwd')?.command, ['skills', 'list', '--all'])
  assert.deepEqual(first('new-skill')?.command, ['skills', 'init', 'new-skill'])
})

test('a copy in the same source is told apart from one in a lower tier', () => {
  const catalog = catalogOf([
    copy('pdf', { directory: '/local/a', bytes: '1' }),
    copy('pdf', { directory: '/local/b', bytes: '2' }),
  ])
  const shadow = diagnose('pdf', { catalog }).findings.find(({ code }) => code === 'shadowed')
  assert.match(shadow?.message ?? '', /One source has the name twice/)
  assert.match(shadow?.fix ?? '', /its address local\/pdf~2\./)
})

test('a skill that nobody may start, or only the model, is said to be so', () => {
  const nobody = { ...copy('pdf'), invocation: { model: false, user: false } }
  assert.equal(diagnose('pdf', { catalog: catalogOf([nobody]) }).findings[0]?.code, 'not-invocable')
  const model = { ...copy('pdf'), invocation: { model: true, user: false } }
  const catalog = catalogOf([model])
  const [first] = diagnose('pdf', { catalog, index: renderIndex(catalog, { budgetChars: 12_000 }) }).findings
  assert.match(first?.message ?? '', /Only the model can start it/)
})
