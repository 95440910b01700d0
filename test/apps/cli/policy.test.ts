import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { Place } from './nexus.ts'

const SETTINGS = `agents:
  - id: main
    preset: trusted
    tools:
      deny: [group:web]
      ask: [read_skill_file]
  - id: reader
    preset: quiet
permissions:
  presets:
    quiet: { extends: sandboxed, disableTools: [exec] }
`

function placeWith(t: TestContext): Place {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), SETTINGS)
  return place
}

test('policy explain shows each rule with its file and line, the limits, and the decision', async (t) => {
  const place = placeWith(t)
  const asked = await place.run(['policy', 'explain', 'main', 'run_command', '--trust'])
  assert.equal(asked.code, 0, asked.stderr)
  assert.match(asked.stdout, /^grants: ask by preset trusted$/m)
  assert.match(asked.stdout, /preset: trusted {2}.*nexus\.yaml:3/)
  assert.match(asked.stdout, /^limit: readPaths /m)
  assert.match(asked.stdout, /^Paths in the arguments are not checked here/m)
  const ruled = await place.run(['policy', 'explain', 'main', 'read_skill_file'])
  assert.match(ruled.stdout, /ask: read_skill_file {2}.*nexus\.yaml:6\n/)
  assert.match(ruled.stdout, /\nask by ask read_skill_file\n$/)
  const off = await place.run(['policy', 'explain', 'reader', 'run_command', '--trust', '--json'])
  const { data } = JSON.parse(off.stdout) as { data: { decision: string; lines: { rule: string }[] } }
  assert.equal(data.decision, 'deny')
  const lines = data.lines.map(({ rule }) => rule)
  assert.deepEqual(lines.slice(-3), [
    'preset: quiet',
    'preset quiet, disableTools: exec',
    'preset quiet, extends: sandboxed',
  ])
})

test('policy explain shows each line of permissions that covers the tool, and the presets of a preset, with file and line', async (t) => {
  const place = placeWith(t)
  mkdirSync(join(place.home, 'agents'), { recursive: true })
  writeFileSync(
    join(place.home, 'nexus.yaml'),
    `permissions:
  destructiveTools: [sleep, 'group:runtime']
  presets:
    base:
      extends: sandboxed
      disableTools: [sleep, exec]
      network: true
    site:
      extends: base
      allowedPaths: null
      blockedPaths: [/tmp/no]
      tools:
        run_command: { enabled: true, timeoutMs: 7000 }
        sleep: { enabled: false }
`,
  )
  writeFileSync(
    join(place.home, 'agents/builder.yaml'),
    `preset: site
permissions:
  allowedPaths: [/tmp/yes]
  enableTools: [sleep, run_*]
  toolOverrides:
    'group:fs': { requiresConfirmation: true }
`,
  )
  const shown = await place.run(['policy', 'explain', 'builder', 'run_command', '--trust'])
  assert.equal(shown.code, 0, shown.stderr)
  const lines = shown.stdout.split('\n').filter((line) => /preset|permissions,/.test(line) && line.startsWith('  '))
  const [profile, user] = [join(place.home, 'agents/builder.yaml'), join(place.home, 'nexus.yaml')]
  assert.deepEqual(
    lines.map((line) => line.trim()),
    [
      `preset: site  ${profile}:1`,
      `permissions, toolOverrides.group:fs: requiresConfirmation true  ${profile}:6`,
      `permissions, enableTools: run_*  ${profile}:4`,
      `permissions, allowedPaths: /tmp/yes  ${profile}:3`,
      `preset site, tools.run_command: enabled true, timeoutMs 7000  ${user}:13`,
      `preset site, allowedPaths: every path  ${user}:10`,
      `preset site, blockedPaths: /tmp/no  ${user}:11`,
      `preset site, extends: base  ${user}:9`,
      `preset base, disableTools: exec  ${user}:6`,
      `preset base, network: true  ${user}:7`,
      `preset base, extends: sandboxed  ${user}:5`,
      `permissions, destructiveTools: group:runtime  ${user}:2`,
    ],
  )
})

test('policy explain names the agents there are, and what arguments look like', async (t) => {
  const place = placeWith(t)
  const unknown = await place.run(['policy', 'explain', 'readr', 'run_command'])
  assert.deepEqual([unknown.code, /Did you mean reader\?/.test(unknown.stderr)], [2, true], unknown.stderr)
  const wrong = await place.run(['policy', 'explain', 'main', 'run_command', '--args', 'ls'])
  assert.deepEqual([wrong.code, /--args is not a JSON object/.test(wrong.stderr)], [2, true], wrong.stderr)
})

test('policy test ends with 1 when a decision is not the expected one, and names it', async (t) => {
  const place = placeWith(t)
  const file = join(place.workspace, 'policy-tests.yaml')
  writeFileSync(
    file,
    'tests:\n  - { tool: load_skill, expect: allow }\n  - { agent: reader, tool: run_command, expect: deny }\n',
  )
  const fine = await place.run(['policy', 'test', 'policy-tests.yaml', '--trust'])
  assert.equal(fine.code, 0, fine.stdout + fine.stderr)
  writeFileSync(file, 'tests: [{ agent: reader, tool: run_command, expect: allow }]\n')
  const failed = await place.run(['policy', 'test', 'policy-tests.yaml', '--trust'])
  assert.equal(failed.code, 1)
  assert.match(failed.stdout, /✗ reader run_command: deny, not allow \(preset quiet\)/)
})

test('policy test says what is wrong with a table that cannot be read', async (t) => {
  const place = placeWith(t)
  for (const [text, says] of [
    ['tests: []', /has no list tests:/],
    ['- x', /must be a map/],
    ['tests: [{ tool: x, expect: maybe }]', /item 1 needs tool, expect/],
    ['tests: [', /line 1/],
  ] as const) {
    writeFileSync(join(place.workspace, 'bad.yaml'), text)
    const ran = await place.run(['policy', 'test', 'bad.yaml'])
    assert.equal(ran.code, 2)
    assert.match(ran.stderr, says)
  }
  const missing = await place.run(['policy', 'test', 'absent.yaml'])
  assert.deepEqual([missing.code, /absent\.yaml does not exist, so nothing was tested/.test(missing.stderr)], [2, true])
})
