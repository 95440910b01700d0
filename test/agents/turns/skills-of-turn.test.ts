import assert from 'node:assert/strict'
import { test } from 'node:test'

import { skillsOfTurn } from '../../../src/agents/turns/skills-of-turn.ts'
import { catalogOf, copy } from '../../skills/catalog/copies.ts'

test('skills that a message names are told by what loads them', () => {
  const catalog = catalogOf([copy('pdf'), copy('pdf', { tier: 'bundled' }), copy('bundled/pdf', { tier: 'workspace' })])
  const about = { catalog, before: undefined, now: {} }
  const named = skillsOfTurn('Use $pdf and $bundled/pdf and $workspace/bundled/pdf.', about)
  assert.equal(
    named.instructions,
    'The user named these skills; load them first: pdf, bundled/pdf, workspace/bundled/pdf.',
  )
})

test('an agent that cannot load skills is not told to', () => {
  const about = { catalog: catalogOf([copy('pdf')]), before: undefined, now: {}, canLoad: false }
  assert.equal(skillsOfTurn('Use $pdf.', about).instructions, 'The user named these skills: pdf.')
})
