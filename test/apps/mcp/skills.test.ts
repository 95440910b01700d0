import assert from 'node:assert/strict'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { Place } from '../cli/nexus.ts'
import { connect, type Era, ERAS, ledgerOf, until } from './client.ts'

/** Writes the files of a skill of the workspace. */
function write(place: Place, name: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(place.workspace, 'skills', name, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
}

const head = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}. Use in tests.\n${more}---\n\nRead $ARGUMENTS and {baseDir}.\n`

for (const era of Object.keys(ERAS) as Era[])
  test(`a client of ${era} lists, verifies and reads skills with their files and directories`, async (t) => {
    const place = new Place(t)
    write(place, 'nested', {
      'SKILL.md': head('nested', 'metadata:\n  emoji: "x"\n  requires:\n    bins: [node]\n'),
      'references/guide & more.md': '# Guide\n',
      'assets/dot.png': Buffer.from('89504e470d0a1a0aff', 'hex'),
      '.hidden/secret.txt': 'hidden',
    })
    symlinkSync('/etc/passwd', join(place.workspace, 'skills/nested/passwd'))
    const { client } = await connect(t, place, { era, args: ['--trust'] })
    const skills = new SkillsClient(client)
    assert.equal(skills.supported && skills.directoryRead, true)
    const { skills: listed } = await skills.list()
    const nested = listed.find(({ uri }) => uri === 'skill://workspace/nested/SKILL.md')
    assert.ok(nested, JSON.stringify(listed.map(({ uri }) => uri)))
    assert.ok(listed.some(({ uri }) => uri === 'skill://bundled/skill-author/SKILL.md'))
    const metadata = nested.frontmatter['metadata'] as Record<string, unknown>
    assert.deepEqual([...new Set(Object.values(metadata).map((value) => typeof value))], ['string'])
    assert.deepEqual((await skills.get(nested.uri)).skill, nested)
    assert.match((await skills.read(nested)).text ?? '', /Read \$ARGUMENTS and \{baseDir\}\./)
    assert.equal((await skills.read(nested, 'references/guide & more.md')).text, '# Guide\n')
    assert.equal((await skills.read(nested, 'assets/dot.png')).verified, true)
    assert.equal((nested.resources as readonly unknown[]).length, 3)
    const { resources } = await skills.readDirectory('skill://workspace/nested')
    assert.deepEqual(
      resources.map(({ name, mimeType }) => `${name} ${mimeType}`),
      ['SKILL.md text/markdown', 'assets inode/directory', 'references inode/directory'],
    )
    const { resources: inside } = await skills.readDirectory('skill://workspace/nested/assets')
    assert.deepEqual(
      inside.map(({ name, size }) => [name, size]),
      [['dot.png', 9]],
    )
    for (const path of ['passwd', '.hidden/secret.txt', '..%2Fgreet%2FSKILL.md', 'none', '%00'])
      await assert.rejects(client.readResource({ uri: `skill://workspace/nested/${path}` }), `${path} was read`)
  })

test('a skill that breaks the rules of the extension stays in load_skill, and is reported once with its reason', async (t) => {
  const place = new Place(t)
  write(place, 'Odd_Name', { 'SKILL.md': head('Odd_Name') })
  const { client, log } = await connect(t, place, { args: ['--trust'] })
  const skills = new SkillsClient(client)
  for (let round = 0; round < 2; round++) {
    const { skills: listed } = await skills.list()
    assert.equal(
      listed.some(({ uri }) => uri.includes('Odd_Name')),
      false,
    )
  }
  const loaded = await client.callTool({ name: 'load_skill', arguments: { skill_name: 'Odd_Name' } })
  assert.notEqual(loaded.isError, true)
  assert.equal(log().match(/Odd_Name.* is not served as a skill of MCP/g)?.length, 1, log())
})

test('nexus://skills gives ready and held skills with reasons, and untrusted ones as such', async (t) => {
  const place = new Place(t)
  write(place, 'held', { 'SKILL.md': head('held', 'metadata:\n  requires:\n    bins: [no-such-program]\n') })
  const read = async (args: readonly string[]) => {
    const { client } = await connect(t, place, { args })
    const { contents } = await client.readResource({ uri: 'nexus://skills' })
    return JSON.parse((contents[0] as { text: string }).text) as {
      skills: { name: string; uri?: string }[]
      held: { name: string; trusted: boolean; reasons: { text: string; fix: string }[] }[]
      invalid: { name: string; message: string }[]
    }
  }
  const trusted = await read(['--trust'])
  assert.ok(trusted.skills.some(({ name, uri }) => name === 'greet' && uri === 'skill://workspace/greet/SKILL.md'))
  assert.deepEqual(
    trusted.held.find(({ name }) => name === 'held')?.reasons.map(({ text }) => text),
    ['missing binary: no-such-program'],
  )
  assert.ok(trusted.invalid.some(({ name }) => name === 'broken'))
  const untrusted = await read([])
  const greet = untrusted.held.find(({ name }) => name === 'greet')
  assert.equal(greet?.trusted, false)
  assert.match(greet?.reasons.map(({ fix }) => fix).join() ?? '', /nexus trust/)
})

test('reading a skill is a call of the agent: in the ledger, and refused where policy denies it', async (t) => {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), 'agents: [{ id: main, tools: { deny: [read_skill_file] } }]\n')
  const { client } = await connect(t, place, { args: ['--trust'] })
  await client.readResource({ uri: 'skill://workspace/greet/SKILL.md' })
  await assert.rejects(
    client.readResource({ uri: 'skill://workspace/greet/scripts/greet.sh' }),
    /was not read: .*deny read_skill_file|denied by rule/,
  )
  await client.close()
  assert.deepEqual(
    ledgerOf(place).map(({ tool, state }) => `${tool} ${state}`),
    ['load_skill done', 'read_skill_file denied'],
  )
})

test('skills that a person may start are prompts, with their arguments in place', async (t) => {
  const place = new Place(t)
  write(place, 'chart', { 'SKILL.md': head('chart') })
  write(place, 'quiet', { 'SKILL.md': head('quiet', 'user-invocable: false\n') })
  const { client } = await connect(t, place, { args: ['--trust'] })
  const { prompts } = await client.listPrompts()
  assert.ok(prompts.some(({ name }) => name === 'chart'))
  assert.equal(
    prompts.some(({ name }) => name === 'quiet'),
    false,
  )
  const { messages } = await client.getPrompt({ name: 'chart', arguments: { arguments: 'sales.csv' } })
  assert.match((messages[0]?.content as { text: string }).text, /Read sales\.csv and \//)
  await assert.rejects(client.getPrompt({ name: 'quiet' }), /no prompt 'quiet'/)
})

for (const era of Object.keys(ERAS) as Era[])
  test(`a client of ${era} is told when skills are added, edited and removed, and sees it`, async (t) => {
    const place = new Place(t)
    const told = { tools: 0, prompts: 0, resources: 0 }
    const { client } = await connect(t, place, {
      ...{ era, args: ['--trust'] },
      listChanged: {
        tools: { autoRefresh: false, onChanged: () => void told.tools++ },
        prompts: { autoRefresh: false, onChanged: () => void told.prompts++ },
        resources: { autoRefresh: false, onChanged: () => void told.resources++ },
      },
    })
    const names = async (): Promise<string[]> => (await client.listPrompts()).prompts.map(({ name }) => name)
    assert.equal((await names()).includes('late'), false)
    write(place, 'late', { 'SKILL.md': head('late') })
    await until(() => told.tools > 0 && told.prompts > 0 && told.resources > 0)
    assert.equal((await names()).includes('late'), true)
    told.tools = 0
    told.prompts = 0
    write(place, 'late', { 'SKILL.md': head('late').replace('Does late.', 'Does it later.') })
    await until(() => told.tools > 0 && told.prompts > 0)
    assert.match((await client.listTools()).tools[0]?.description ?? '', /- late: Does it later\./)
    told.prompts = 0
    rmSync(join(place.workspace, 'skills/late'), { recursive: true })
    await until(() => told.prompts > 0)
    assert.equal((await names()).includes('late'), false)
  })
