import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  buildCatalog,
  type Catalog,
  fromSnapshot,
  renderIndex,
  shownName,
  toSnapshot,
} from '../../../src/skills/catalog/index.ts'
import { diagnose, type Facts } from '../../../src/skills/diagnose/index.ts'
import type { Diagnostic, HeldReason, InvalidSkill, Skill } from '../../../src/kernel/index.ts'
import { catalogOf, copy, held } from '../catalog/copies.ts'

const codes = (name: string, parts: Facts): readonly string[] => diagnose(name, parts).findings.map(({ code }) => code)

function told(catalog: Catalog, budgetChars = 12_000): Facts {
  return { catalog, index: renderIndex(catalog, { budgetChars }) }
}

function snapshotOf(skills: readonly Skill[]): NonNullable<Facts['snapshot']> {
  const snapshot = fromSnapshot(toSnapshot(catalogOf(skills)))
  assert.ok(snapshot)
  return snapshot
}

function invalidAs(name: string, diagnostics: readonly Diagnostic[]): InvalidSkill {
  const { origin, file } = copy(name)
  return { name, file, origin, diagnostics }
}

test('a skill in the prompt is said to be there, with its cost and its file', () => {
  const { verdict, findings } = diagnose('pdf', told(catalogOf([copy('pdf')])))
  assert.equal(verdict, 'ready')
  const [first] = findings
  assert.equal(findings.length, 1)
  assert.match(first?.message ?? '', /^It is in the prompt with its whole description \(about \d+ tokens\)\.$/)
  assert.deepEqual([first?.severity, first?.path], ['info', '/local/pdf/SKILL.md'])
})

test('a skill over the budget is shortened, named only, or left out, and each is said', () => {
  const catalog = catalogOf(
    Array.from({ length: 40 }, (_, index) => copy(`s${index}`, { description: 'word '.repeat(60) })),
  )
  const last = catalog.skills.at(-1)?.name ?? ''
  assert.deepEqual(codes('s0', told(catalog, 8000)), ['over-budget-shortened'])
  assert.deepEqual(codes(last, told(catalog, 1000)), ['over-budget-name'])
  assert.deepEqual(codes(last, told(catalog, 300)), ['over-budget-omitted'])
  assert.match(diagnose(last, told(catalog, 300)).findings[0]?.fix ?? '', /SKILLS_PROMPT_CHAR_BUDGET/)
})

test('a skill that only a person may start is ready and not in the prompt', () => {
  const catalog = catalogOf([copy('secret', { model: false })])
  assert.deepEqual(codes('$secret', told(catalog)), ['person-only'])
})

test('every reason of a held skill is a finding with the fix of the gate', () => {
  const reasons: HeldReason[] = [
    { code: 'missing-description', missing: [], text: 'missing description', fix: 'Add a description: line.' },
    {
      code: 'disabled',
      missing: [],
      text: 'disabled in config',
      fix: 'Set skills.entries.x.enabled to true, or remove it.',
    },
    { code: 'not-allowed', missing: [], text: 'not allowed for this agent', fix: "Add x to the agent's skills: list." },
    {
      code: 'untrusted',
      missing: [],
      text: 'its source is not trusted',
      fix: 'Inspect the skill, then run: nexus trust',
    },
    { code: 'bin', missing: [], text: 'missing binary: jq', fix: 'Install jq.' },
    { code: 'env', missing: [], text: 'missing env: KEY', fix: 'Set it.' },
    { code: 'os', missing: [], text: 'requires OS [darwin], have linux', fix: 'Run it on darwin.' },
  ]
  const skill: Skill = {
    ...copy('x'),
    diagnostics: [
      {
        code: 'description-missing',
        severity: 'warning',
        message: 'the description is empty; the skill is held',
        path: '/local/x/SKILL.md',
        line: 2,
        fix: 'write: description: "…"',
      },
    ],
  }
  const { verdict, findings } = diagnose('x', { catalog: catalogOf([], [{ skill, reasons }]), agentId: 'bob' })
  assert.equal(verdict, 'held')
  assert.deepEqual(
    findings.map(({ code }) => code),
    reasons.map(({ code }) => code),
  )
  assert.deepEqual(
    [findings[0]?.line, findings[0]?.message, findings[0]?.fix],
    [2, 'Held: missing description: the description is empty; the skill is held.', 'write: description: "…"'],
  )
  assert.equal(findings[2]?.message, "Held: it is not allowed for agent 'bob'.")
  assert.ok(findings.every(({ fix, path }) => fix !== '' && path === '/local/x/SKILL.md'))
})

test('a file that cannot be read gives its diagnostics with line and fix', () => {
  const { file } = copy('bad')
  const broken = invalidAs('bad', [
    {
      code: 'yaml-invalid',
      severity: 'error',
      message: 'a quote is not closed',
      path: file,
      line: 3,
      fix: 'Close it.',
    },
  ])
  const { verdict, findings } = diagnose('bad', { catalog: catalogOf([], [], [broken]) })
  assert.equal(verdict, 'invalid')
  assert.deepEqual(findings, [
    {
      code: 'yaml-invalid',
      severity: 'error',
      message: 'a quote is not closed',
      path: file,
      line: 3,
      fix: 'Close it.',
    },
  ])
})

test('a shadowed copy names the file above it, and one with the same files is a duplicate', () => {
  const winner = copy('pdf', { source: 'workspace', tier: 'workspace', bytes: 'a' })
  const catalog = catalogOf([
    winner,
    copy('pdf', { bytes: 'b' }),
    copy('pdf', { source: 'bundled', tier: 'bundled', bytes: 'a' }),
  ])
  const { verdict, findings } = diagnose('pdf', told(catalog))
  assert.equal(verdict, 'ready')
  assert.deepEqual(
    findings.map(({ code }) => code),
    ['in-prompt', 'shadowed', 'duplicate'],
  )
  assert.ok(!findings.some(({ severity }) => severity === 'error'))
  assert.match(findings[1]?.message ?? '', /shadowed by \/workspace\/pdf\/SKILL\.md/)
  assert.deepEqual(
    [diagnose('local/pdf', told(catalog)).verdict, codes('/local/pdf/SKILL.md', told(catalog))],
    ['shadowed', ['shadowed']],
  )
  assert.equal(diagnose('local/pdf', told(catalog)).findings[0]?.severity, 'error')
})

test('a held copy above the one that is used is a note, with the reason for the choice', () => {
  const workspace = held(copy('pdf', { source: 'workspace', tier: 'workspace' }))
  const { verdict, findings } = diagnose('pdf', told(catalogOf([copy('pdf')], [workspace])))
  assert.equal(verdict, 'ready')
  assert.deepEqual(
    findings.map(({ code, severity }) => [code, severity]),
    [
      ['in-prompt', 'info'],
      ['bin', 'info'],
      ['lower-copy-used', 'info'],
    ],
  )
  assert.match(
    findings[2]?.message ?? '',
    /^Nexus uses the copy of 'pdf' from source 'local', because that of source 'workspace' is held: bin\.$/,
  )
})

test('an untrusted copy beside a trusted one is worth a note', () => {
  const untrusted = held(copy('pdf', { source: 'workspace', tier: 'workspace', trusted: false }), 'untrusted')
  assert.deepEqual(
    diagnose('pdf', told(catalogOf([copy('pdf')], [untrusted]))).findings.map(({ code, severity }) => [code, severity]),
    [
      ['in-prompt', 'info'],
      ['untrusted', 'info'],
    ],
  )
})

test('of a name that no skill has, the searched directories, the nearest name and what was not searched are given', () => {
  const diagnostics: Diagnostic[] = [
    { code: 'root-missing', severity: 'info', message: 'm', path: '/home/skills' },
    { code: 'skill-limit', severity: 'error', message: 'more than 20000 skills', path: '/big', fix: 'split it' },
    { code: 'root-unreadable', severity: 'error', message: 'permission denied', path: '/closed' },
  ]
  const catalog = buildCatalog({ gated: { ready: [copy('report')], held: [] }, diagnostics })
  const roots = ['/home/skills', '/big', '/closed'].map((path) => ({ source: path, path }))
  const { verdict, findings } = diagnose('reprot', { ...told(catalog), roots })
  assert.equal(verdict, 'missing')
  assert.deepEqual(
    findings.map(({ code }) => code),
    ['not-found', 'limit', 'root-unreadable'],
  )
  assert.deepEqual(findings[0]?.places, [
    { path: '/home/skills', problem: 'does not exist' },
    { path: '/big' },
    { path: '/closed', problem: 'root-unreadable' },
  ])
  assert.deepEqual(
    [findings[0]?.fix, findings[0]?.command],
    ["Did you mean 'report'? Run:", ['skills', 'why', 'report']],
  )
  assert.match(
    diagnose('zzz', { catalog, roots }).findings[0]?.fix ?? '',
    /^Some directories could not be searched\. Fix the problem below first\.$/,
  )
  assert.match(
    diagnose('zzz', { catalog: catalogOf([]), roots }).findings[0]?.fix ?? '',
    /^Put it at \/home\/skills\/zzz\/SKILL\.md, or create it:$/,
  )
})

test('a file in the wrong place is the answer, with where to move it', () => {
  const strays = [{ file: '/ws/skills/a/inner/SKILL.md', why: 'below-skill' }] as const
  const parts = { catalog: catalogOf([]), roots: [{ source: 'workspace', path: '/ws/skills' }], strays }
  const { findings } = diagnose('inner', parts)
  assert.deepEqual([findings[0]?.code, findings[0]?.path], ['wrong-place', strays[0].file])
  assert.match(
    findings[0]?.fix ?? '',
    /^Move it: mkdir -p \/ws\/skills && mv \/ws\/skills\/a\/inner \/ws\/skills\/inner$/,
  )
})

test('a session that was told of other skills is stale', () => {
  const catalog = catalogOf([copy('old', { bytes: '2' }), copy('new')], [held(copy('lost'))])
  const snapshot = snapshotOf([copy('old', { bytes: '1' }), copy('lost'), copy('gone')])
  for (const name of ['old', 'new', 'lost', 'gone'])
    assert.ok(codes(name, { catalog, snapshot }).includes('stale-session'), name)
  assert.deepEqual(codes('new', { catalog, snapshot: snapshotOf([copy('new')]) }), ['ready'])
})

test('a session that loaded the skill knows it, unless its files changed since', () => {
  const catalog = catalogOf([copy('pdf')])
  const address = catalog.addressOf(copy('pdf'))
  for (const snapshot of [snapshotOf([]), snapshotOf([copy('pdf')])]) {
    assert.deepEqual(codes('pdf', { catalog, snapshot, loaded: new Map([[address, 'same']]) }), ['ready'])
    const [, stale] = diagnose('pdf', { catalog, snapshot, loaded: new Map([[address, 'changed']]) }).findings
    assert.equal(stale?.message, 'Its files changed after the session loaded it.')
  }
})

test('an agent without a tool that loads skills is told so', () => {
  assert.deepEqual(codes('pdf', { ...told(catalogOf([copy('pdf')])), canLoad: false }), ['no-loader', 'in-prompt'])
})

test('a directory whose frontmatter gives another name is found by its directory', () => {
  const catalog = catalogOf([copy('pretty-name', { directory: '/local/plain-dir' })])
  assert.deepEqual(codes('plain-dir', told(catalog)), ['in-prompt', 'other-name'])
})

test('whatever is asked there is an answer, each finding is one visible line with a fix, and the verdict fits the catalog', () => {
  const name = fc.oneof(fc.constantFrom('a', 'b', 'c', 'local/a', '$a', '/local/a', ''), fc.string())
  const skills = fc.uniqueArray(fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.string({ minLength: 1 })), { maxLength: 6 })
  fc.assert(
    fc.property(name, skills, fc.nat(600), (asked, names, budgetChars) => {
      const [ready, rest] = [names.slice(0, 3), names.slice(3)]
      const at = (label: string, index: number): Skill =>
        copy(label, { directory: `/local/d${index}`, description: label })
      const catalog = catalogOf(
        ready.map(at),
        rest.map((label, index) => held(at(label, index + 3))),
      )
      const parts = { ...told(catalog, budgetChars), snapshot: snapshotOf([]), roots: [{ source: 'x', path: '/x' }] }
      const { verdict, findings } = diagnose(asked, parts)
      assert.ok(findings.length > 0)
      for (const { message, fix } of findings)
        assert.ok(message !== '' && fix !== '' && !/[\n\u001b\u202e]/.test(message + fix))
      assert.equal(verdict === 'ready', verdict === 'ready' && catalog.skills.length > 0)
      for (const skill of catalog.skills) {
        if (asked === shownName(skill)) assert.equal(verdict, 'ready')
      }
    }),
  )
})

test('a skill that was examined and cannot be loaded is not offered, and what is left out is a note', () => {
  const skill = copy('pdf')
  const problem = {
    code: 'cannot-load',
    message: 'it has more than 2000 files',
    path: '/x/pdf/data',
    fix: 'remove some',
  }
  const parts = told(catalogOf([skill]))
  const broken = diagnose('pdf', { ...parts, examined: new Map([[skill, { problem, leftOut: [] }]]) })
  assert.equal(broken.verdict, 'unloadable')
  assert.deepEqual(broken.findings[0], {
    ...problem,
    severity: 'error',
    message: 'Nexus cannot load it: it has more than 2000 files.',
  })
  const leftOut = Array.from({ length: 7 }, (_, index) => ({ path: `l${index}`, kind: 'a link' }))
  const partly = diagnose('pdf', { ...parts, examined: new Map([[skill, { leftOut }]]) })
  assert.equal(partly.verdict, 'ready')
  const note = partly.findings.find(({ code }) => code === 'left-out')
  assert.equal(note?.severity, 'info')
  assert.match(note.message, /l0 \(a link\), .*l4 \(a link\) and 2 more/)
})
