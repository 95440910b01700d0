import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

import { fromSnapshot } from '../../src/skills/catalog/index.ts'
import { diagnose, type Diagnosis } from '../../src/skills/diagnose/index.ts'
import { parsePolicy } from '../../src/public/index.ts'
import { findStrays } from '../../src/skills/load/index.ts'
import { NO_GATE_RULES } from '../../src/skills/gate/index.ts'
import { workshop } from './rig.ts'

/** What may be wrong with a skill, as its author would have it, and how each finding begins. */
const BROKEN: readonly (readonly [name: string, path: string, text: string, answer: RegExp])[] = [
  ['no-text', 'no-text/SKILL.md', '---\nname: no-text\n---\nbody\n', /^missing-description .*no-text\/SKILL\.md/],
  ['no-head', 'no-head/SKILL.md', 'Just text.\n', /^frontmatter-missing .*no-head\/SKILL\.md:1/],
  ['open-head', 'open-head/SKILL.md', '---\nname: open-head\n', /^frontmatter-unterminated .*SKILL\.md:1/],
  ['a-list', 'a-list/SKILL.md', '---\n- a\n---\n', /^frontmatter-not-mapping .*SKILL\.md:2/],
  ['small', 'small/skill.md', '---\nname: small\ndescription: d\n---\n', /^skill-file-name .*small\/skill\.md/],
  ['inner', 'good/inner/SKILL.md', '---\nname: inner\ndescription: d\n---\n', /^wrong-place .*good\/inner\/SKILL\.md/],
  ['flat', 'flat.md', '---\nname: flat\ndescription: d\n---\n', /^skill-single-file .*flat\.md/],
  [
    'needs',
    'needs/SKILL.md',
    '---\nname: needs\ndescription: d\nmetadata: {"openclaw": {"requires": {"bins": ["moon"], "env": ["KEY"]}}}\n---\n',
    /^bin .*needs\/SKILL\.md[^\n]*\nenv /,
  ],
  ['off', 'off/SKILL.md', '---\nname: off\ndescription: d\n---\n', /^disabled .*off\/SKILL\.md/],
]

function written({ findings }: Diagnosis): string {
  return findings
    .map(({ code, path, line, fix }) => `${code} ${path ?? ''}${line === undefined ? '' : `:${line}`} fix: ${fix}`)
    .join('\n')
}

test('every broken skill is explained with its code, its file, the line where there is one, and a fix', async (t) => {
  const shop = workshop(t)
  shop.write('good')
  for (const [, path, text] of BROKEN) {
    mkdirSync(dirname(join(shop.root, path)), { recursive: true })
    writeFileSync(join(shop.root, path), text)
  }
  const runtime = await shop.open({ gateRules: { ...NO_GATE_RULES, disabledSkills: ['off'] } })
  const catalog = runtime.openAgent().catalog()
  const roots = [{ source: 'mine', path: shop.root }]
  for (const [name, , , answer] of BROKEN) {
    const strays = await findStrays(name, { roots: [shop.root] })
    const explanation = diagnose(name, { catalog, index: runtime.openAgent().index(), roots, strays })
    assert.match(written(explanation), answer, name)
    assert.ok(explanation.findings.every(({ fix }) => fix !== ''))
  }
})

test('the answer speaks of one agent and one session', async (t) => {
  const shop = workshop(t)
  shop.write('one')
  const { rules: policy } = parsePolicy({ profile: 'full' })
  const agents = [
    { id: 'main', policy },
    { id: 'bob', policy, skills: [] },
  ]
  const runtime = await shop.open({ agents })
  const snapshot = fromSnapshot(runtime.openAgent({ id: 'main' }).snapshot())
  assert.ok(snapshot)
  const forBob = diagnose('one', {
    catalog: runtime.openAgent({ id: 'bob' }).catalog(),
    index: runtime.openAgent({ id: 'bob' }).index(),
    agentId: 'bob',
  })
  assert.match(forBob.findings[0]?.message ?? '', /not allowed for agent 'bob'/)
  shop.write('two')
  await runtime.refresh()
  const parts = {
    catalog: runtime.openAgent({ id: 'main' }).catalog(),
    index: runtime.openAgent({ id: 'main' }).index(),
    snapshot,
  }
  assert.match(written(diagnose('two', parts)), /^in-prompt .*\nstale-session /)
  assert.match(written(diagnose('one', parts)), /^in-prompt [^\n]*$/)
})
