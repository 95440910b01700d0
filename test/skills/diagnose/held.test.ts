import assert from 'node:assert/strict'
import { test } from 'node:test'

import { diagnose, type Host } from '../../../src/skills/diagnose/index.ts'
import type { HeldReason } from '../../../src/kernel/index.ts'
import { catalogOf, copy } from '../catalog/copies.ts'

test('what is known of the machine gives a reason its line and the nearer thing to do', () => {
  const skill = copy('pdf')
  const missing = (code: HeldReason['code'], name: string, more: Partial<HeldReason> = {}): HeldReason => ({
    ...{ code, missing: [name], text: `missing ${name}`, fix: 'as the gate says' },
    ...more,
  })
  const reasons = [
    missing('bin', 'jq'),
    missing('bin', 'other'),
    missing('env', 'KEY', { setting: ['skills', 'entries', 'a.b', 'env', 'KEY'] }),
    missing('env', 'LOST', { setting: ['skills', 'entries', 'pdf', 'env', 'LOST'], broken: true }),
    missing('config', 'tools.pdf.on', { setting: ['tools', 'pdf', 'on'] }),
    missing('config', 'skills.entries.pdf.apiKey', { broken: true }),
    missing('disabled', '', { missing: [], setting: ['skills', 'disabled_skills', 0] }),
  ]
  const host: Host = {
    target: 'a sandbox',
    workspace: '/ws',
    homeIsWorkspace: false,
    settingsFile: '/home/.nexus/nexus.yaml',
    knowsSetting: () => true,
    placeOf: (keys) => ({ path: '/ws/nexus.yaml', line: keys.length }),
    agentIndex: 0,
    isRoot: false,
    isSet: (name) => name === 'KEY',
    mounted: ['gh'],
    programs: new Map([['jq', { path: '/home/bin/jq', real: '/opt/jq' }]]),
    heads: new Map([[skill, ['---', 'name: pdf', 'description: jq', 'metadata:', '  requires: {bins: [jq, other]}']]]),
  }
  const catalog = catalogOf([], [{ skill, reasons }])
  const { findings } = diagnose('pdf', { catalog, host })
  assert.deepEqual(
    findings.map(({ path, line }) => [path, line]),
    [
      ['/local/pdf/SKILL.md', 5],
      ['/local/pdf/SKILL.md', 5],
      ['/local/pdf/SKILL.md', 4],
      ['/local/pdf/SKILL.md', 4],
      ['/local/pdf/SKILL.md', 4],
      // Only nexus.yaml has that setting, so no line of the skill names it.
      ['/local/pdf/SKILL.md', undefined],
      ['/ws/nexus.yaml', 3],
    ],
  )
  const [program, other, variable, broken, config] = findings.map(({ fix }) => fix)
  assert.match(program ?? '', /^You have \/home\/bin\/jq \(a link to \/opt\/jq\).*sudo install -m 755 \/opt\/jq/)
  const [asRoot] = diagnose('pdf', { catalog, host: { ...host, isRoot: true } }).findings
  assert.match(asRoot?.fix ?? '', /for example: install -m 755 \/opt\/jq/)
  assert.deepEqual([other, broken], ['as the gate says', 'as the gate says'])
  assert.match(variable ?? '', /KEY is set in your environment.*\{ "a\.b": \{ env: \{ KEY: "\$\{KEY\}" \} \} \}/)
  assert.match(config ?? '', /^Set it in \/home\/\.nexus\/nexus\.yaml, for example: tools: \{ pdf: \{ on: true \} \}$/)
  assert.ok(findings.every(({ reason }, index) => reason === reasons[index]?.text))
})
