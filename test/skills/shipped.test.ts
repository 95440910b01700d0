import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { nameBreaches, parseSkill } from '../../src/skills/format/index.ts'
import { ROOT } from '../source-tree.ts'

const SKILLS = join(ROOT, 'skills')
const names = readdirSync(SKILLS)

test('the skills of the demo and of design 001 are shipped', () => {
  assert.deepEqual(names.sort(), ['csv-report', 'github', 'image-gen', 'skill-author'])
})

for (const name of names) {
  test(`${name} loads without a finding, under its own name`, () => {
    const path = join(SKILLS, name, 'SKILL.md')
    const { document, diagnostics } = parseSkill(readFileSync(path), { path, directoryName: name })
    assert.deepEqual(diagnostics, [])
    assert.equal(document?.name, name)
    assert.deepEqual(nameBreaches(name), [])
    assert.match(document?.description ?? '', /\buse\b/i, 'the description says when to use it')
  })

  test(`${name} speaks only of files that it has`, () => {
    const text = readFileSync(join(SKILLS, name, 'SKILL.md'), 'utf8')
    const mentioned = [...text.matchAll(/\{baseDir\}\/([\w./-]*\w)|\b((?:scripts|references|assets)\/[\w.-]*\w)/g)]
      .map(([, based, relative]) => based ?? relative ?? '')
      .filter((path) => /^(?:scripts|references|assets)\/[^<]*$/.test(path))
    assert.deepEqual(
      mentioned.filter((path) => !existsSync(join(SKILLS, name, path))),
      [],
    )
  })
}

test('the script of csv-report turns its sample into a summary and a chart', () => {
  const room = mkdtempSync(join(tmpdir(), 'nexus-csv-report-'))
  try {
    const skill = join(SKILLS, 'csv-report')
    const script = join(skill, 'scripts/report.mjs')
    const answer = spawnSync(process.execPath, [script, join(skill, 'assets/sales.csv')], {
      cwd: room,
      encoding: 'utf8',
    })
    assert.equal(answer.status, 0, answer.stderr)
    const { summary, chart } = JSON.parse(answer.stdout) as { summary: string; chart: string }
    assert.match(readFileSync(join(room, summary), 'utf8'), /North/)
    assert.match(readFileSync(join(room, chart), 'utf8'), /^<svg|<\?xml/)
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
})
