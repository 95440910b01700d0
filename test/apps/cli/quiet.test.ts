import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ROOT } from '../../source-tree.ts'

const home = mkdtempSync(join(tmpdir(), 'nexus-quiet-'))
after(() => rmSync(home, { recursive: true }))
mkdirSync(join(home, 'skills/good'), { recursive: true })
writeFileSync(join(home, 'skills/good/SKILL.md'), '---\nname: good\ndescription: Use it when asked.\n---\nSay hello.\n')
writeFileSync(join(home, 'nexus.yaml'), 'limits: { maxIterations: 7 }\n')

/** Each loads another part of the bundle. */
const COMMANDS = [
  ['--version'],
  ['--help'],
  ['completion', 'bash'],
  ['skills', 'list'],
  ['skills', 'show', 'csv-report'],
  ['skills', 'validate', 'skills/good'],
  ['skills', 'validate', 'skills/good', '--strict', '--format', 'sarif'],
  ['skills', 'migrate', 'skills/good', '--dry-run'],
  ['skills', 'search', 'csv'],
  ['skills', 'why', 'csv-report'],
  ['skills', 'check', 'csv-report'],
  ['prompt'],
  ['config', 'check', '--config', 'nexus.yaml'],
  ['config', 'show'],
  ['config', 'schema'],
  ['sessions', 'list'],
]

for (const args of COMMANDS) {
  test(`nexus ${args.join(' ')} writes no warning of Node on stderr`, () => {
    // Warnings are what is looked for here, so nothing of this process may silence them.
    const { NODE_OPTIONS: _options, NODE_NO_WARNINGS: _silent, ...env } = process.env
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'dist/cli/bin.cjs'), ...args], {
      cwd: home,
      env: { ...env, HOME: home, NEXUS_HOME: join(home, '.nexus') },
      encoding: 'utf8',
    })
    assert.doesNotMatch(stderr, /Warning|\(node:\d+\)|--trace-warnings/)
    assert.equal(status, 0)
  })
}
