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
  assert.match(asked.stdout, /^path: allow by path: .*workspace$/m)
  const unnamed = await place.run(['policy', 'explain', 'main', 'read_file'])
  assert.match(unnamed.stdout, /^The tool compares its path with these limits\. .*--args/m)
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

/** No question may keep a test waiting. */
const LIMITED = { timeout: 120_000 }

test(
  'policy test ends with 2 for a file that cannot be right, and names file, line, key and the fix',
  LIMITED,
  async (t) => {
    const place = placeWith(t)
    for (const [text, says] of [
      ['tests: []', /bad\.yaml:1:1: tests: Invalid length.*\n {2}fix: Write it as: tests:/],
      ['- x', /must be a map/],
      ['tests: [', /bad\.yaml:1/],
      [
        'test:\n  - { tool: sleep, expect: allow }\n',
        /bad\.yaml:1:1: test: Invalid key.*\n {2}fix: Write it as: tests:/,
      ],
      ['tests:\n  - foo\n', /bad\.yaml:2:5: tests\.0: Invalid type: Expected Object/],
      [
        'tests:\n  - tool: sleep\n    expct: deny\n',
        /bad\.yaml:3:5: tests\.0\.expct: Invalid key.*\n {2}fix: Write it as: tests:/,
      ],
      [
        'tests: [{ tool: sleep, expect: alow }]',
        /bad\.yaml:1:24: tests\.0\.expect: .*"allow" \| "ask" \| "deny".*"alow"/,
      ],
      ['tests: [{ tool: sleep }]', /bad\.yaml:1:9: tests\.0\.expect: Invalid key.*\n {2}fix: Write it as: tests:/],
      [
        'tests: [{ tool: 7, expect: deny }]',
        /bad\.yaml:1:11: tests\.0\.tool: Invalid type: Expected string but received 7/,
      ],
      ['tests: [{ tool: sleep, args: x, expect: deny }]', /tests\.0\.args: Invalid type: Expected Object/],
      [
        'tests: [{ agent: readr, tool: sleep, expect: deny }]',
        /No agent is called 'readr'.*\n {2}fix: Did you mean reader/,
      ],
      [
        'tests:\n  - tool: nosuch\n    expect: deny\n',
        /bad\.yaml:2:5: main has no tool 'nosuch', so no rule decides.*\n {2}fix: Name one of: load_skill/,
      ],
      ['tests: [{ tool: exec, expect: ask }]', /main has no tool 'exec'.*\n {2}fix: Did you mean run_command/],
      ['tests: [{ tool: send_message, expect: deny }]', /main has no tool 'send_message'/],
      ['tests: [{ tool: "mcp:", expect: deny }]', /main has no tool 'mcp:'/],
      [
        'tests: [{ tool: read_file, args: { pth: x }, expect: deny }]',
        /args has an unknown argument 'pth' of read_file \(did you mean 'path'/,
      ],
      ['{ "tests": [{ "tool": "sleep", "expect": "deny", "x": 1 }] }', /bad\.yaml:1:50: tests\.0\.x: Invalid key/],
    ] as const) {
      writeFileSync(join(place.workspace, 'bad.yaml'), text)
      const ran = await place.run(['policy', 'test', 'bad.yaml'])
      assert.deepEqual([ran.code, ran.stdout], [2, ''], text)
      assert.match(ran.stderr, says, text)
    }
    const missing = await place.run(['policy', 'test', 'absent.yaml'])
    assert.deepEqual(
      [missing.code, /absent\.yaml does not exist, so nothing was tested/.test(missing.stderr)],
      [2, true],
    )
  },
)

/** An agent of one directory, with rules about a server of MCP. */
function placeOfSite(t: TestContext): Place {
  const place = new Place(t)
  mkdirSync(join(place.workspace, 'site'))
  writeFileSync(
    join(place.workspace, 'nexus.yaml'),
    `agents:
  - id: main
  - id: limited
    permissions: { disableTools: [sleep] }
  - id: site
    preset: yolo
    permissions: { allowedPaths: [./site], addBlockedPaths: [./site/no] }
    tools: { ask: ['mcp:github'], deny: ['mcp:github.delete_repo'] }
`,
  )
  return place
}

test('policy explain and test decide about paths as the tool does: allowed, blocked, protected', LIMITED, async (t) => {
  const place = placeOfSite(t)
  const explain = async (agent: string, tool: string, args: object): Promise<string> => {
    const ran = await place.run(['policy', 'explain', agent, tool, '--trust', '--args', JSON.stringify(args)])
    assert.equal(ran.code, 0, ran.stderr)
    return ran.stdout
  }
  const outside = await explain('site', 'read_file', { path: '../x' })
  assert.match(
    outside,
    /^path: deny by path: .*'\.\.\/x': it is outside the directories that this agent may read: \S*\/site\. Use/m,
  )
  assert.match(outside, /\ndeny by path\n$/)
  const inside = await explain('site', 'read_file', { path: 'site/a.txt' })
  assert.match(inside, /^path: allow by path: \S*\/workspace\/site\/a\.txt$/m)
  assert.match(inside, /\nallow by profile full\n$/)
  assert.match(
    await explain('site', 'read_file', { path: 'site/no/b' }),
    /it is blocked for this agent.*addBlockedPaths|blocked/,
  )
  const hook = { path: '.git/hooks/pre-commit', content: 'x' }
  assert.match(await explain('main', 'write_file', hook), /ask by path: .*would hold the change of '\.git/)
  assert.match(
    await explain('site', 'run_command', { command: 'ls', cwd: '..' }),
    /outside the workspace[^]*\ndeny by path\n$/,
  )
  const misspelt = await place.run(['policy', 'explain', 'site', 'read_file', '--trust', '--args', '{"pth":"x"}'])
  assert.deepEqual([misspelt.code, /unknown argument 'pth'.*'path'/.test(misspelt.stderr)], [2, true], misspelt.stderr)
  const tests = [
    '{ agent: site, tool: read_file, args: { path: ../x }, expect: deny }',
    '{ agent: site, tool: read_file, args: { path: site/a.txt }, expect: allow }',
    '{ agent: site, tool: read_file, args: { path: site/no/b }, expect: allow }',
  ]
  writeFileSync(join(place.workspace, 't.yaml'), `tests:\n${tests.map((line) => `  - ${line}\n`).join('')}`)
  const tested = await place.run(['policy', 'test', 't.yaml', '--trust'])
  assert.equal(tested.code, 1, tested.stderr)
  const [first, second, third, why] = tested.stdout.split('\n')
  assert.equal(first, '✓ site read_file {"path":"../x"}: deny (path)')
  assert.match(second ?? '', /^✓ site read_file \{"path":"site\/a\.txt"\}: allow/)
  assert.match(third ?? '', /^✗ .*: deny, not allow \(path\)$/)
  assert.match(why ?? '', /^ {2}Path security violation for 'site\/no\/b'/)
})

test(
  'policy explain and test give the rules for tools of MCP servers, and say that the server is missing',
  LIMITED,
  async (t) => {
    const place = placeOfSite(t)
    for (const [tool, decision] of [
      ['mcp:github', 'ask by ask mcp:github'],
      ['mcp:github.create_issue', 'ask by ask mcp:github'],
      ['mcp:github.delete_repo', 'deny by deny mcp:github.delete_repo'],
      ['mcp:gitlab.list', 'allow by profile full'],
    ] as const) {
      const ran = await place.run(['policy', 'explain', 'site', tool, '--trust'])
      assert.ok(ran.stdout.endsWith(`\n${decision}\n`), ran.stdout)
      assert.match(
        ran.stderr,
        new RegExp(`No MCP server with ${tool} is connected, so a call of it fails as an unknown tool`),
      )
    }
    const unknown = await place.run(['policy', 'explain', 'site', 'read_fil', '--trust'])
    assert.match(unknown.stdout, /Unknown tool: 'read_fil'\. Did you mean 'read_file'\?\ndeny by unknown tool\n$/)
    writeFileSync(join(place.workspace, 't.yaml'), 'tests: [{ agent: site, tool: "mcp:github", expect: deny }]\n')
    const tested = await place.run(['policy', 'test', 't.yaml', '--trust'])
    assert.deepEqual([tested.code, /✗ site mcp:github: ask, not deny/.test(tested.stdout)], [1, true], tested.stdout)
  },
)

test('policy explain says where an agent is not asked over MCP', LIMITED, async (t) => {
  const place = placeOfSite(t)
  const explain = async (agent: string, ...more: string[]): Promise<string> =>
    (await place.run(['policy', 'explain', agent, 'run_command', '--trust', ...more])).stdout
  assert.match(await explain('main'), /^Over MCP Nexus does not ask about this call: .*\nask by preset trusted\n$/m)
  assert.doesNotMatch(await explain('limited'), /Over MCP/)
  const { data } = JSON.parse(await explain('main', '--json')) as { data: { decision: string; overMcp: string } }
  assert.deepEqual([data.decision, data.overMcp], ['ask', 'allow'])
})
