import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import {
  type Client,
  CLIENTS,
  findClient,
  planInstall,
  planUninstall,
  readEntry,
  type Scope,
  type Where,
  writeChange,
} from '../../../src/apps/clients/index.ts'
import { isNexusError } from '../../../src/kernel/index.ts'

const SERVER = { command: ['/opt/node', '/opt/nexus.cjs', 'mcp'], environment: {} }

function place(t: TestContext, variables: Readonly<Record<string, string>> = {}): Where {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-clients-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [home, project] = [join(root, 'home'), join(root, 'project')]
  for (const each of [home, project]) mkdirSync(each)
  return { home, project, nexusHome: join(root, 'nexus'), get: (name) => variables[name] }
}

function client(id: string): Client {
  const found = findClient(id)
  assert.ok('id' in found)
  return found
}

function target(id: string, where: Where, scope: Scope = 'user') {
  return { client: client(id), scope, where, name: 'nexus' }
}

function put(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

/** The file of a client with a text, and what installing makes of it. */
async function install(
  t: TestContext,
  id: string,
  text: string,
): Promise<{ before: string; after: string; again: string }> {
  const where = place(t)
  const path = put(client(id).files.user(where)[0] ?? '', text)
  await writeChange(planInstall(target(id, where), SERVER))
  const after = readFileSync(path, 'utf8')
  assert.deepEqual(planInstall(target(id, where), SERVER).after, after, 'installing twice changes nothing')
  await writeChange(planUninstall(target(id, where)))
  return { before: text, after, again: readFileSync(path, 'utf8') }
}

test('every client gets an entry in a new file that it alone may read, and loses it again', async (t) => {
  for (const { id, files } of CLIENTS)
    for (const scope of ['user', 'project'] as const) {
      if (files[scope] === undefined) continue
      const where = place(t)
      const change = planInstall(target(id, where, scope), SERVER)
      assert.ok(!existsSync(change.path), 'a plan writes nothing')
      await writeChange(change)
      assert.equal(statSync(change.path).mode & 0o777, 0o600)
      const { path, entry } = readEntry(target(id, where, scope))
      assert.equal(path, change.path)
      assert.deepEqual(client(id).server(entry ?? {}).command, SERVER.command, id)
      await writeChange(planUninstall(target(id, where, scope)))
      assert.equal(readEntry(target(id, where, scope)).entry, undefined)
    }
})

test('comments, order, tabs and other entries of JSON stay', async (t) => {
  const text =
    '// mine\n{\n\t"theme": "One", // nice\n\t/* servers */\n\t"context_servers": {\n\t\t"b": {"command": "x"},\n\t},\n}\n'
  const { after, again } = await install(t, 'zed', text)
  for (const line of ['// mine', '\t"theme": "One", // nice', '\t/* servers */', '"command": "x"'])
    assert.ok(after.includes(line) && again.includes(line), line)
  assert.match(after, /\n\t\t"nexus": \{\n\t\t\t"source": "custom",\n/)
})

test('comments, order and other tables of TOML stay, byte for byte after removal', async (t) => {
  const text = '# mine\nmodel = "x" # the best\n\n[mcp_servers.gh]\ncommand = "npx" # keep\n\n[tui]\nat = 2026-01-02\n'
  const { after, again } = await install(t, 'codex', text)
  for (const line of text.split('\n')) assert.ok(after.includes(line), line)
  assert.equal(again, text)
})

test('what a user added to the entry stays when it is installed again', (t) => {
  const where = place(t)
  put(
    join(where.home, '.cursor/mcp.json'),
    '{"mcpServers": {"nexus": {"command": "nexus", "args": ["mcp"], "env": {"A": "b"}, "disabled": true}}}',
  )
  const { after } = planInstall(target('cursor', where), SERVER)
  assert.deepEqual(JSON.parse(after), {
    mcpServers: { nexus: { command: '/opt/node', args: ['/opt/nexus.cjs', 'mcp'], env: { A: 'b' }, disabled: true } },
  })
})

test('an entry of the user is replaced whole, kept, and restored, unless ours was edited since', async (t) => {
  const where = place(t)
  const theirs = '{"mcpServers": {"nexus": {"command": "/bin/their-nexus-proxy", "env": {"KEY": "secret"}}}}'
  const path = put(join(where.home, '.cursor/mcp.json'), theirs)
  const change = planInstall(target('cursor', where), SERVER)
  assert.equal(change.foreign?.['command'], '/bin/their-nexus-proxy')
  assert.doesNotMatch(change.after, /KEY/)
  const copy = (await writeChange(change)) ?? ''
  assert.equal(readFileSync(copy, 'utf8'), theirs)
  assert.equal(statSync(copy).mode & 0o777, 0o600)
  // A newer Nexus changes its own entry: what was replaced is still known.
  await writeChange(
    planInstall(target('cursor', where), { ...SERVER, command: ['/new/node', '/opt/nexus.cjs', 'mcp'] }),
  )
  await writeChange(planUninstall(target('cursor', where)))
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), JSON.parse(theirs))
  assert.equal(planUninstall(target('cursor', where)).foreign?.['command'], '/bin/their-nexus-proxy')

  await writeChange(planInstall(target('cursor', where), SERVER))
  put(path, readFileSync(path, 'utf8').replace('"mcp"', '"mcp", "--trust"'))
  await writeChange(planUninstall(target('cursor', where)))
  assert.equal(readEntry(target('cursor', where)).entry, undefined)
})

/** True when the second text is the first one with something put in at one place. */
function isInsertion(before: string, after: string): boolean {
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  return after.endsWith(before.slice(same))
}

test('entries beside ours keep their layout', async (t) => {
  for (const text of [
    '{ "mcpServers": { "b": {"command":   "x"} }, "z": [1,2,  3] }\n',
    '{\n  "mcpServers": {\n    "b": {"command":   "x", "args": [ "1" ] } // keep\n  },\n   "odd":   true\n}\n',
    '{\n\t"a": [\n\t1,\n\t\t2],\n\t"mcpServers": {"x": {"command": "a"},},\n}\n',
    '{\n  "mcpServers": {},\n  "a": {"b":1}\n}\n',
  ]) {
    const { after, again } = await install(t, 'cursor', text)
    assert.ok(isInsertion(text, after), after)
    assert.equal(again, text)
  }
})

test('a byte order mark and line ends of CRLF stay', async (t) => {
  const { after } = await install(t, 'cursor', '\ufeff{\r\n  "a": 1\r\n}\r\n')
  assert.ok(after.startsWith('\ufeff{\r\n  "a": 1,\r\n  "mcpServers": {\r\n'))
  assert.ok(!/[^\r]\n/.test(after))
})

test('opencode: version 2 keeps servers below mcp.servers, version 1 directly below mcp', async (t) => {
  const two = await install(t, 'opencode', '{"mcp": {"servers": {}}}')
  assert.deepEqual(Object.keys((JSON.parse(two.after) as { mcp: { servers: object } }).mcp.servers), ['nexus'])
  const named = await install(t, 'opencode', '{"mcp": {"servers": {"type": "local", "command": ["x"]}}}')
  assert.deepEqual(Object.keys((JSON.parse(named.after) as { mcp: object }).mcp), ['servers', 'nexus'])
})

test('the first file that exists is used: .github/mcp.json, the old directory of Windsurf, a moved home', (t) => {
  const where = place(t, {
    CODEX_HOME: '/moved',
    COPILOT_HOME: '/cop',
    CLAUDE_CONFIG_DIR: '/cc',
    XDG_CONFIG_HOME: '/xdg',
  })
  put(join(where.project, '.github/mcp.json'), '{}')
  put(join(where.home, '.codeium/windsurf/mcp_config.json'), '{}')
  const pathOf = (id: string, scope?: Scope): string => planInstall(target(id, where, scope), SERVER).path
  assert.equal(pathOf('copilot', 'project'), join(where.project, '.github/mcp.json'))
  assert.equal(pathOf('windsurf'), join(where.home, '.codeium/windsurf/mcp_config.json'))
  assert.equal(pathOf('codex'), '/moved/config.toml')
  assert.equal(pathOf('copilot'), '/cop/mcp-config.json')
  assert.equal(pathOf('claude-code'), '/cc/.claude.json')
  assert.equal(pathOf('zed'), '/xdg/zed/settings.json')
})

test('a link is followed, so that the file it leads to is changed and the link stays', async (t) => {
  const where = place(t)
  const real = put(join(where.home, 'dotfiles/mcp.json'), '{}')
  mkdirSync(join(where.home, '.cursor'))
  symlinkSync(real, join(where.home, '.cursor/mcp.json'))
  const change = planInstall(target('cursor', where), SERVER)
  assert.equal(change.path, real)
  await writeChange(change)
  assert.match(readFileSync(real, 'utf8'), /nexus/)
})

test('a file that cannot be read as configuration is left alone, with its line', (t) => {
  const where = place(t)
  const json = join(where.home, '.cursor/mcp.json')
  const toml = join(where.home, '.codex/config.toml')
  for (const [id, path, text, says] of [
    ['cursor', json, '{\n  "a": 1,\n  "b" 2\n}', /mcp\.json:3: it is not JSON/],
    ['cursor', json, '[]', /not a mapping of keys/],
    ['cursor', json, '{"mcpServers": []}', /its key mcpServers is not a mapping/],
    ['codex', toml, 'a = 1\nb = = 2\n', /config\.toml.*it is not TOML/],
  ] as const) {
    put(path, text)
    assert.throws(
      () => planInstall(target(id, where), SERVER),
      (error) => isNexusError(error) && error.code === 'CONFIG_INVALID' && says.test(error.message),
      text,
    )
    assert.equal(readFileSync(path, 'utf8'), text)
  }
})

test('a file that another program changed after it was shown is not overwritten', async (t) => {
  const where = place(t)
  const path = put(join(where.home, '.cursor/mcp.json'), '{}')
  const change = planInstall(target('cursor', where), SERVER)
  put(path, '{"theirs": 1}')
  await assert.rejects(writeChange(change), (error) => isNexusError(error) && error.code === 'CONFLICT')
  assert.equal(readFileSync(path, 'utf8'), '{"theirs": 1}')
})

test('law: whatever else a file says, it says the same after installing and after removing', (t) => {
  const where = place(t)
  const path = join(where.home, '.cursor/mcp.json')
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (others, isTight) => {
      const document = { ...others, mcpServers: { other: { command: 'x' } } }
      const text = JSON.stringify(document, undefined, isTight ? undefined : 3)
      put(path, text)
      const { after } = planInstall(target('cursor', where), SERVER)
      put(path, after)
      assert.equal(planUninstall(target('cursor', where)).after, text, 'byte for byte after removal')
      assert.ok(isInsertion(text, after), after)
      const { mcpServers, ...rest } = JSON.parse(after) as typeof document
      const { mcpServers: _, ...before } = JSON.parse(JSON.stringify(document)) as typeof document
      assert.deepEqual(rest, before)
      assert.deepEqual(Object.keys(mcpServers), ['other', 'nexus'])
      assert.deepEqual(JSON.parse(planUninstall(target('cursor', where)).after), JSON.parse(JSON.stringify(document)))
    }),
    { numRuns: 100 },
  )
})

test('programs with windows keep their files where each system has them', () => {
  const variables: Readonly<Record<string, string>> = { APPDATA: '/data' }
  const paths = (platform: NodeJS.Platform): readonly (string | undefined)[] =>
    ['claude-desktop', 'vscode', 'zed'].map(
      (id) =>
        client(id).files.user({
          home: '/home',
          project: '/work',
          nexusHome: '/nexus',
          get: (name) => variables[name],
          platform,
        })[0],
    )
  const [claude, code] = ['Claude/claude_desktop_config.json', 'Code/User/mcp.json']
  const mac = '/home/Library/Application Support'
  assert.deepEqual(paths('linux'), [
    `/home/.config/${claude}`,
    `/home/.config/${code}`,
    '/home/.config/zed/settings.json',
  ])
  assert.deepEqual(paths('darwin'), [`${mac}/${claude}`, `${mac}/${code}`, '/home/.config/zed/settings.json'])
  assert.deepEqual(paths('win32'), [`/data/${claude}`, `/data/${code}`, '/data/Zed/settings.json'])
})
