import assert from 'node:assert/strict'
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { JsonObject, Outcome, Services } from '../../src/kernel/index.ts'
import { createScriptedSandbox } from '../../src/testing/index.ts'
import {
  createRegistry,
  createServices,
  executeTool,
  LOADER,
  registerBuiltins,
  SANDBOX,
  toModelText,
} from '../../src/tools/index.ts'
import { contextOf, loaderOver, messageOf, SKILLS } from './rig.ts'

let services: Services
before(async () => {
  services = createServices()
  services.register(LOADER, await loaderOver())
})

async function call(name: string, args: JsonObject, given = services): Promise<Outcome> {
  const registry = createRegistry(given)
  registerBuiltins(registry)
  const tool = registry.get(name)
  assert.ok(tool, name)
  return executeTool(tool, args, contextOf({ services: given }))
}

const codeOf = (outcome: Outcome): string => (outcome.type === 'failed' ? outcome.code : outcome.type)

describe('load_skill', () => {
  it('gives the instructions and every file with a hint how to read it', async () => {
    const outcome = await call('load_skill', { skill_name: 'report' })
    const directory = join(SKILLS, 'report')
    assert.equal(
      messageOf(outcome),
      [
        '# Skill: report',
        `Base directory for this skill: ${directory}`,
        '',
        '# Report',
        '',
        `Run \`node ${directory}/scripts/make.mjs\` and read references/guide.md first.`,
        '',
        '## Available References',
        '- references/empty.md (0 bytes)',
        '- references/guide.md (26 bytes)',
        '- references/long.md (18893 bytes)',
        '',
        '## Available Scripts',
        '- scripts/make.mjs (20 bytes)',
        '',
        '## Available Assets',
        '- assets/dot.png (11 bytes)',
        '',
        '## Other Files',
        '- NOTES.txt (14 bytes)',
        '',
        'Use read_skill_file with skill_name "report" and one of these paths as file_path to read a file.',
      ].join('\n'),
    )
    assert.equal(outcome.path, join(directory, 'SKILL.md'))
    assert.match(String(outcome.stats?.tree_digest), /^sha256:[0-9a-f]{64}$/)
  })

  it('tells the model nothing twice', async () => {
    const outcome = await call('load_skill', { skill_name: 'report' })
    assert.equal(toModelText(outcome), messageOf(outcome))
  })

  it('speaks of no files where there are none', async () => {
    assert.doesNotMatch(messageOf(await call('load_skill', { skill_name: 'greet' })), /##|read_skill_file/)
  })

  it('names the skills there are when a name is unknown', async () => {
    const outcome = await call('load_skill', { skill_name: 'reprot' })
    assert.equal(codeOf(outcome), 'NOT_FOUND')
    assert.match(messageOf(outcome), /^Skill 'reprot' not found\. Available skills: greet, long, report/)
    assert.match(outcome.type === 'failed' ? (outcome.fix ?? '') : '', /'report'/)
  })

  it('wants a name', async () => {
    for (const args of [
      {},
      { skill_name: ' ' },
      { skill_name: null },
      { skill_name: 5 },
      { skill_name: ['report'] },
    ] as JsonObject[]) {
      const outcome = await call('load_skill', args)
      assert.equal(codeOf(outcome), 'INVALID_PARAM')
      assert.equal(messageOf(outcome), `Parameter 'skill_name' is required and must be a non-empty string.`)
    }
  })

  it('cuts instructions that are too long and says where to read on, which works', async () => {
    const outcome = await call('load_skill', { skill_name: 'long' })
    assert.equal(codeOf(outcome), 'partial')
    const [, offset] = /cut after line 1700 of 2300.*offset (\d+)/.exec(messageOf(outcome)) ?? []
    assert.match(messageOf(outcome), /Step 1700: do it well\.\n\n\[The instructions are cut/)
    const rest = await call('read_skill_file', { skill_name: 'long', file_path: 'SKILL.md', offset: Number(offset) })
    assert.match(messageOf(rest), /Step 1701: [\s\S]*Step 2300: do it well\./)
  })
})

describe('read_skill_file', () => {
  const read = (filePath: string, more: JsonObject = {}): Promise<Outcome> =>
    call('read_skill_file', { skill_name: 'report', file_path: filePath, ...more })

  it('gives the text of a file, by path or by bare name, exactly', async () => {
    for (const path of ['references/guide.md', 'guide.md', './references/guide.md']) {
      const outcome = await read(path)
      assert.equal(messageOf(outcome), '# Guide\n\nUse short words.\n')
      assert.equal(toModelText(outcome), messageOf(outcome))
      assert.equal(outcome.path, 'references/guide.md')
    }
  })

  it('says that an empty file is empty', async () => {
    assert.equal(messageOf(await read('references/empty.md')), 'The file references/empty.md is empty.')
  })

  it('gives a small binary file in base64', async () => {
    const outcome = await read('dot.png')
    assert.match(messageOf(outcome), /binary file \(image\/png, 11 bytes\), in base64:\niVBORw0KGgoAAQI=$/)
    assert.equal((outcome.data as JsonObject).encoding, 'base64')
  })

  it('reads long files in parts that join without a gap', async () => {
    let text = ''
    let offset: number | undefined = 1
    while (offset !== undefined) {
      const outcome: Outcome = await read('long.md', { offset })
      text += `${String((outcome.data as JsonObject).content).trimEnd()}\n`
      const [, next] = /Read on with offset (\d+)/.exec(messageOf(outcome)) ?? []
      assert.equal(outcome.type, next === undefined ? 'success' : 'partial')
      offset = next === undefined ? undefined : Number(next)
    }
    assert.equal(text, Array.from({ length: 2000 }, (_, index) => `line ${index + 1}\n`).join(''))
  })

  it('gives the lines that are asked for and says what else there is', async () => {
    assert.equal(
      messageOf(await read('long.md', { offset: 3, limit: 2 })),
      'line 3\nline 4\n\n[Cut: only lines 3 to 4 of 2000. Read on with offset 5.]',
    )
    assert.match(messageOf(await read('guide.md', { offset: 4 })), /has no line 4/)
    assert.equal(messageOf(await read('guide.md', { offset: 3 })), 'Use short words.\n')
  })

  it('lists the files when one is missing, and stays inside the skill', async () => {
    const missing = await read('references/gide.md')
    assert.equal(codeOf(missing), 'NOT_FOUND')
    assert.match(messageOf(missing), /not found.*Available files: \[.*references\/guide\.md/)
    assert.equal(codeOf(await read('../greet/SKILL.md')), 'ACCESS_DENIED')
    assert.notEqual((await read('/etc/passwd')).type, 'success')
  })

  it('says that a directory is none of them, and lists the files below it', async () => {
    const directory = await read('references/')
    assert.equal(codeOf(directory), 'INVALID_PARAM')
    assert.equal(
      messageOf(directory),
      "'references' of skill 'report' is a directory; file_path names one file. Available files: [references/empty.md, references/guide.md, references/long.md]",
    )
    for (const path of ['.', './', join(SKILLS, 'report')])
      assert.match(
        messageOf(await read(path)),
        /^'\.' of skill .* is a directory; .*Available files: \[NOTES\.txt, SKILL\.md/,
      )
  })

  it('refuses a large binary file and says what to do', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'nexus-tools-'))
    after(() => rm(directory, { recursive: true, force: true }))
    await mkdir(join(directory, 'big'))
    await writeFile(join(directory, 'big/SKILL.md'), '---\nname: big\ndescription: Has a big file.\n---\nSee it.\n')
    await writeFile(join(directory, 'big/data.bin'), new Uint8Array(60_000))
    await writeFile(join(directory, 'big/one-line.txt'), 'x'.repeat(90_000))
    const own = createServices()
    own.register(LOADER, await loaderOver(directory))
    const outcome = await call('read_skill_file', { skill_name: 'big', file_path: 'data.bin' }, own)
    assert.equal(codeOf(outcome), 'BINARY_FILE')
    const line = await call('read_skill_file', { skill_name: 'big', file_path: 'one-line.txt' }, own)
    assert.match(messageOf(line), /Line 1 is too long to be shown whole/)
  })
})

describe('Skill', () => {
  it('gives base directory and expanded instructions under the data names of the envelope', async () => {
    const outcome = await call('Skill', { name: 'greet', args: '$& Ada $1' })
    const directory = join(SKILLS, 'greet')
    const content = `Base directory for this skill: ${directory}\n\nGreet $& Ada $1 politely.`
    assert.deepEqual(outcome.data, { name: 'greet', base_dir: directory, content })
    assert.equal(toModelText(outcome), `Loaded skill 'greet'.\n\n${content}`)
    assert.equal(outcome.path, join(directory, 'SKILL.md'))
  })

  it('works without arguments', async () => {
    assert.match(messageOf(await call('Skill', { name: 'greet' })), /Greet {2}politely\.$/)
  })

  it('answers in the words of the contract', async () => {
    for (const args of [{}, { name: '' }, { name: null }, { name: 7 }, { name: {} }, { args: 'x' }] as JsonObject[]) {
      const outcome = await call('Skill', args)
      assert.deepEqual(
        [codeOf(outcome), messageOf(outcome)],
        ['INVALID_PARAM', `Parameter 'name' is required and must be a non-empty string.`],
      )
    }
    assert.match(
      messageOf(await call('Skill', { name: 'greet', args: 5 })),
      /^Invalid arguments for Skill: args must be/,
    )
    const unknown = await call('Skill', { name: 'nothing' })
    assert.equal(codeOf(unknown), 'NOT_FOUND')
    assert.match(messageOf(unknown), /^Skill 'nothing' not found\./)
  })
})

describe('registerBuiltins', () => {
  const namesOf = (given: Services): readonly string[] => {
    const registry = createRegistry(given)
    registerBuiltins(registry)
    return registry.names
  }

  it('adds the skill tools only with a loader, and run_command only with a sandbox', async () => {
    const own = createServices()
    assert.deepEqual(namesOf(own), ['sleep'])
    own.register(SANDBOX, createScriptedSandbox())
    assert.deepEqual(namesOf(own), ['run_command', 'sleep'])
    assert.deepEqual(namesOf(services), ['load_skill', 'read_skill_file', 'Skill', 'sleep'])
  })

  it('keeps a tool that is registered under the name already', () => {
    const registry = createRegistry(services)
    registry.register('load_skill', () => ({
      name: 'load_skill',
      description: 'Mine.',
      parameters: { type: 'object' },
      execute: async () => ({ type: 'success', text: 'mine', data: {} }),
    }))
    registerBuiltins(registry)
    assert.equal(registry.get('load_skill')?.description, 'Mine.')
  })
})
