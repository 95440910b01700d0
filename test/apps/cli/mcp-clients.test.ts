import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { CHOICES } from '../../../src/apps/cli/command.ts'
import { CLIENTS } from '../../../src/apps/clients/index.ts'
import { Place } from './nexus.ts'

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

test('a shell offers every client of the table', () => {
  assert.deepEqual(
    CHOICES.client,
    CLIENTS.map(({ id }) => id),
  )
})

test('install shows the difference and writes it, a second time changes nothing, uninstall takes it out', async (t) => {
  const place = new Place(t)
  const file = join(place.root, '.cursor/mcp.json')
  put(file, '{\n  // mine\n  "mcpServers": {}\n}\n')
  const dry = await place.run(['mcp', 'install', 'cursor', '--dry-run'])
  assert.match(dry.stdout, /^\+ {4}"nexus": \{$/m)
  assert.ok(!readFileSync(file, 'utf8').includes('nexus'))
  const { code, stdout, stderr } = await place.run(['mcp', 'install', 'cursor'])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /~\/\.cursor\/mcp\.json\n[\s\S]*Changed ~\/\.cursor\/mcp\.json/)
  assert.match(stderr, /Next: restart Cursor\. To check the entry: nexus mcp check cursor/)
  const text = readFileSync(file, 'utf8')
  assert.match(text, /\/\/ mine/)
  assert.ok(text.includes(process.execPath))
  assert.match((await place.run(['mcp', 'install', 'cursor'])).stdout, /^Nothing to change/)
  const removed = await place.run(['mcp', 'uninstall', 'cursor', '--json'])
  assert.equal((JSON.parse(removed.stdout) as { data: { written: boolean } }).data.written, true)
  assert.equal(readFileSync(file, 'utf8'), '{\n  // mine\n  "mcpServers": {}\n}\n')
})

test('uninstall takes out the mapping that install made, and nothing beside it', async (t) => {
  const place = new Place(t)
  for (const [client, path, text] of [
    ['cursor', '.cursor/mcp.json', '{\n  "theme": "dark"\n}\n'],
    ['opencode', '.config/opencode/opencode.json', '{ "theme": "dark" }\n'],
    ['codex', '.codex/config.toml', 'model = "m" # mine\n'],
  ] as const) {
    const file = join(place.root, path)
    put(file, text)
    for (const command of ['install', 'uninstall']) {
      const { code, stderr } = await place.run(['mcp', command, client])
      assert.equal(code, 0, stderr)
    }
    assert.equal(readFileSync(file, 'utf8'), text, client)
  }
  // Another entry came meanwhile.
  const file = join(place.root, '.cursor/mcp.json')
  await place.run(['mcp', 'install', 'cursor'])
  await place.run(['mcp', 'install', 'cursor', '--name', 'second'])
  await place.run(['mcp', 'uninstall', 'cursor'])
  assert.match(readFileSync(file, 'utf8'), /"mcpServers": \{\s*"second"/)
})

test('an entry that starts another program stays without --force, and another name adds one beside it', async (t) => {
  const place = new Place(t)
  const file = join(place.root, '.cursor/mcp.json')
  const theirs = '{ "mcpServers": { "nexus": { "command": "/bin/theirs", "args": ["serve"] } } }\n'
  put(file, theirs)
  for (const command of ['install', 'uninstall']) {
    const { code, stderr } = await place.run(['mcp', command, 'cursor'])
    assert.equal(code, 1, stderr)
    assert.match(stderr, /its entry nexus starts another program: \/bin\/theirs serve\.\n {2}fix: .*--name .*--force/)
    assert.equal(readFileSync(file, 'utf8'), theirs)
  }
  const beside = await place.run(['mcp', 'install', 'cursor', '--name', 'nexus-skills'])
  assert.equal(beside.code, 0, beside.stderr)
  assert.match(readFileSync(file, 'utf8'), /"\/bin\/theirs"[\s\S]*"nexus-skills"/)
  assert.match((await place.run(['mcp', 'check', 'cursor', '--name', 'nexus-skills'])).stdout, /✓ Cursor/)
  await place.run(['mcp', 'uninstall', 'cursor', '--name', 'nexus-skills'])
  const forced = await place.run(['mcp', 'install', 'cursor', '--force'])
  assert.match(forced.stderr, /A copy of the old file: ~\/home\/clients\/\w+-old-mcp\.json/)
  assert.doesNotMatch(readFileSync(file, 'utf8'), /theirs/)
  assert.equal((await place.run(['mcp', 'uninstall', 'cursor'])).code, 0)
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), JSON.parse(theirs))
})

test('a client without a project gets one in its entry; its home is refused', async (t) => {
  const place = new Place(t)
  const { stdout } = await place.run(['mcp', 'install', 'claude-desktop', '--dry-run'])
  assert.ok(stdout.includes('"--workspace"') && stdout.includes(place.workspace))
  const refused = await place.run(['mcp', 'install', 'claude-desktop', '--workspace', place.root])
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /is not one\.\n {2}fix: Name the project: --workspace DIR/)
})

test('an unknown client is named with the nearest one, and check without an entry says how to add one', async (t) => {
  const place = new Place(t)
  assert.match((await place.run(['mcp', 'install', 'cursr'])).stderr, /Did you mean cursor\?/)
  const { code, stdout } = await place.run(['mcp', 'check', 'codex'])
  assert.equal(code, 1)
  assert.match(stdout, /mcp-not-installed[\s\S]*nexus mcp install codex/)
})

test('check starts what the entry names, and says why a client gets no answer', async (t) => {
  const place = new Place(t)
  put(
    join(place.root, '.cursor/mcp.json'),
    JSON.stringify({
      mcpServers: { nexus: { command: process.execPath, args: ['-e', 'console.error("no key"); process.exit(3)'] } },
    }),
  )
  const { code, stdout } = await place.run(['mcp', 'check', '--json'])
  assert.equal(code, 1)
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly { code: string; message: string }[] }
  assert.deepEqual(
    diagnostics.map((found) => found.code),
    ['mcp-ended'],
  )
  assert.match(diagnostics[0]?.message ?? '', /exit code 3\. It wrote: no key/)
})
