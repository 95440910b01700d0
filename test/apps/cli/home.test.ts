import assert from 'node:assert/strict'
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { ended, Place } from './nexus.ts'

/** A workspace whose own `.nexus` trusts it and takes the sandbox away. */
function withOwnNexus(t: { after: (fn: () => void) => void }): Place {
  const place = new Place(t)
  const own = join(place.workspace, '.nexus')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'nexus.yaml'), 'execution: {sandbox: none}\n')
  const list = { version: 3, workspaces: [{ directory: place.workspace, files: {} }] }
  writeFileSync(join(own, 'trust.json'), JSON.stringify(list), { mode: 0o600 })
  return place
}

for (const HOME of ['', '.', 'workspace']) {
  test(`no command of a workspace runs because it is the working directory: HOME=${HOME}`, async (t) => {
    const place = withOwnNexus(t)
    const home = HOME === 'workspace' ? place.workspace : HOME
    const args = ['skills', 'run', 'greet', '--', 'sh', '-c', 'echo ran']
    const { code, stdout, stderr } = await place.run(args, {
      env: { HOME: home, NEXUS_HOME: '', NEXUS_STATE_DIR: join(place.root, 'state') },
    })
    assert.equal(code, 1, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, /UNTRUSTED_WORKSPACE/)
    if (HOME === 'workspace') assert.match(stderr, /set NEXUS_HOME to a directory outside the workspace first/)
    assert.doesNotMatch(stderr, /sandbox none/)
  })
}

test('a relative NEXUS_HOME ends every command that needs it, but not help', async (t) => {
  const place = withOwnNexus(t)
  const env = { NEXUS_HOME: '.nexus' }
  const { code, stderr } = await place.run(['skills', 'list'], { env })
  assert.equal(code, 2)
  assert.match(stderr, /CONFIG_INVALID: NEXUS_HOME must be an absolute path; it is "\.nexus"/)
  assert.equal((await place.run(['--help'], { env })).code, 0)
})

test('nexus trust does not write a list into the workspace that it would trust', async (t) => {
  const place = withOwnNexus(t)
  const { code, stderr } = await place.run(['trust'], { env: { HOME: place.workspace, NEXUS_HOME: '' } })
  assert.equal(code, 2, stderr)
  assert.match(stderr, /could trust itself/)
  assert.match(stderr, /Set HOME or NEXUS_HOME/)
})

test("skills of a home in the workspace are not the user's own", async (t) => {
  const place = withOwnNexus(t)
  for (const directory of ['.nexus/skills/evil', '.agents/skills/worse']) {
    mkdirSync(join(place.workspace, directory), { recursive: true })
    const name = directory.split('/').at(-1)
    writeFileSync(join(place.workspace, directory, 'SKILL.md'), `---\nname: ${name}\ndescription: Does it.\n---\n`)
  }
  const env = { HOME: place.workspace, NEXUS_HOME: '' }
  for (const name of ['evil', 'worse']) {
    assert.match((await place.run(['skills', 'check', name], { env })).stdout, /its source is not trusted/)
    assert.equal((await place.run(['skills', 'check', name, '--trust'], { env })).code, 0)
  }
})

test('where the home lies in the workspace, answers say to set a home first, and name no file that is refused', async (t) => {
  const place = withOwnNexus(t)
  const env = { HOME: place.workspace, NEXUS_HOME: '' }
  const why = await place.run(['skills', 'why', 'greet'], { env })
  assert.match(
    why.stdout,
    /fix: Inspect the skill, set HOME, or NEXUS_HOME, to .* outside of the workspace, then run: nexus trust/,
  )
  const untrusted = why.stderr.slice(why.stderr.indexOf('config-untrusted'))
  assert.match(untrusted, /fix: Set HOME or NEXUS_HOME to a directory of yours outside the workspace\. Then: Write it/)
})

const skip = process.getuid?.() === 0 ? false : 'only root can give files to another account'

test('root in a workspace of another account reads both commands, and --as-root goes on', { skip }, async (t) => {
  const place = new Place(t)
  chownSync(place.workspace, 1, 1)
  for (const command of [
    ['skills', 'list'],
    ['config', 'check'],
    ['trust', '--yes'],
    ['sessions', 'list'],
  ]) {
    const { code, stderr } = await place.run(command)
    assert.equal(code, 1, stderr)
    assert.match(stderr, /FOREIGN_OWNER: You are root, and .* belongs to \w+\./)
    assert.match(stderr, new RegExp(`Run it as the owner: su .*nexus ${command.join(' ')}`))
    assert.match(stderr, new RegExp(`run: .*${command.join(' ')} --as-root`))
    assert.equal((await place.run([...command, '--as-root'])).code, 0)
  }
  assert.equal((await place.run(['--help'])).code, 0)
})

test('nexus mcp serves root no workspace of another account without --as-root', { skip }, async (t) => {
  const place = new Place(t)
  chownSync(place.workspace, 1, 1)
  assert.match(await toolsOf(place, ['mcp']), /belongs to .*nexus mcp --as-root/)
  assert.match(await toolsOf(place, ['mcp', '--as-root']), /"load_skill"/)
})

/** What a client gets that asks for the tools. */
async function toolsOf(place: Place, args: readonly string[]): Promise<string> {
  const server = place.start(args, { stdin: 'pipe' })
  const clientInfo = { name: 't', version: '1' }
  const messages = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
  ]
  const done = ended(server)
  server.stdin?.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''))
  server.stdout?.on('data', (text: string) => text.includes('"id":2') && server.stdin?.end())
  return (await done).stdout
}

test('~ that the shell left in quotes is the home directory', async (t) => {
  const place = new Place(t)
  const skill = join(place.root, 'mine', 'tidy')
  mkdirSync(skill, { recursive: true })
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: tidy\ndescription: Tidies. Use when asked.\n---\nTidy.\n')
  const { code, stdout, stderr } = await place.run(['skills', 'list', '--skills-dir', '~/mine'])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /tidy/)
})
