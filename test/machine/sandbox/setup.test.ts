import assert from 'node:assert/strict'
import { mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Skill } from '../../../src/kernel/index.ts'
import type { Sandbox, SetupResult } from '../../../src/machine/sandbox/index.ts'
import { openDirectory, openRig, type Rig } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped() ?? false

/** A skill that needs a package of Python and one of Node, both of which lie in it. */
function makeSkill(): Skill {
  const directory = join(realpathSync(openDirectory('nexus-skill-')), 'tools')
  mkdirSync(join(directory, 'greeting'), { recursive: true })
  mkdirSync(join(directory, 'shout'))
  const put = (name: string, text: string): void => writeFileSync(join(directory, name), text)
  put('SKILL.md', '---\nname: tools\ndescription: x\n---\n')
  put(
    'greeting/pyproject.toml',
    '[project]\nname = "greeting"\nversion = "1.0"\n[tool.setuptools]\npy-modules = ["greeting"]\n',
  )
  put('greeting/greeting.py', 'def greet(): return "hello from a package"\n')
  put('shout/package.json', '{"name":"shout","version":"1.0.0","type":"module","exports":"./index.mjs"}')
  put('shout/index.mjs', 'export const shout = (text) => text.toUpperCase()\n')
  put('run.py', 'import greeting\nprint(greeting.greet())\n')
  put('run.mjs', "import { shout } from 'shout'\nconsole.log(shout('node'))\n")
  const { mtimeMs, size, ino } = statSync(join(directory, 'SKILL.md'))
  return { directory, name: 'tools', stamp: { mtimeMs, size, inode: ino } } as unknown as Skill
}

interface Prepared extends Rig {
  readonly skill: Skill
  readonly baseDir: string
  setUp(command: string): Promise<SetupResult | undefined>
}

async function prepare(context: TestContext): Promise<Prepared> {
  const rig = await openRig(context)
  const skill = makeSkill()
  const placed = await rig.sandbox.place(skill)
  const setUp: NonNullable<Sandbox['setUp']> = (...args) => rig.sandbox.setUp?.(...args) ?? Promise.resolve(undefined)
  return {
    ...rig,
    skill,
    baseDir: placed.baseDir,
    setUp: (command) => setUp({ skill: { ...placed, source: skill }, command }),
  }
}

/** Installed without a network: the module is put where pip would put it. */
const PYTHON =
  'python3 -m venv --without-pip venv && cp {baseDir}/greeting/greeting.py venv/lib/python3*/site-packages/'
const NODE = 'mkdir -p node_modules && cp -r {baseDir}/shout node_modules/'

test('commands of a skill run with what its setup installed, for Python and for Node', { skip }, async (context) => {
  const { setUp, run, baseDir } = await prepare(context)
  const ready = await setUp(`echo once >> log && ${PYTHON} && ${NODE}`)
  assert.equal(ready?.type, 'ready', JSON.stringify(ready))
  if (ready?.type !== 'ready') return
  const ran = await run(`python3 ${baseDir}/run.py; node ${baseDir}/run.mjs; cat ${ready.directory}/log`, {
    path: ready.path,
  })
  assert.deepEqual([ran.stdout, ran.stderr], ['hello from a package\nNODE\nonce\n', ''])
  // It is there now, so it is not run again.
  assert.deepEqual(await setUp(`echo once >> log && ${PYTHON} && ${NODE}`), ready)
  assert.equal((await run(`cat ${ready.directory}/log`)).stdout, 'once\n')
})

test('the result of a setup cannot be changed, and a setup writes nothing outside of it', { skip }, async (context) => {
  const { setUp, run, baseDir, workspace } = await prepare(context)
  const outside = `touch ${baseDir}/x ${baseDir}/../x ${workspace}/x /usr/x 2>/dev/null; ls ${workspace} >&2; echo made > made; ln -s /etc/passwd link`
  const ready = await setUp(outside)
  assert.equal(ready?.type, 'ready')
  if (ready?.type !== 'ready') return
  const after = await run(
    `cat ${ready.directory}/made; echo more >> ${ready.directory}/made; rm ${ready.directory}/made; ls ${baseDir} .`,
  )
  assert.match(after.stdout, /^made\n/)
  assert.doesNotMatch(after.stdout, /^x$/m)
  assert.equal(after.stderr.match(/Read-only file system/g)?.length, 2)
})

test(
  'a setup that fails gives its output, leaves nothing, and is not run again for a while',
  { skip },
  async (context) => {
    const { setUp, run, sandbox, skill, baseDir } = await prepare(context)
    const command = 'echo half > half; echo no such package >&2; exit 3'
    const failed = { type: 'failed', output: 'no such package' }
    assert.deepEqual(await setUp(command), failed)
    const { failedSetup } = await sandbox.facts()
    assert.equal(failedSetup?.(skill, command), 'no such package')
    assert.equal(failedSetup?.(skill, 'another'), undefined)
    assert.deepEqual(await setUp(command), failed)
    assert.equal((await run(`cat ${baseDir}/../setup-*/half 2>/dev/null`)).stdout, '')
    // Another command, or another text of the skill, is another setup.
    assert.equal((await setUp('true'))?.type, 'ready')
  },
)

test(
  'caches last over commands, and none gets the packages that a less trusted one downloaded',
  { skip },
  async (context) => {
    const { run, setUp } = await prepare(context)
    const poison = 'mkdir -p ~/.cache/pip ~/.npm/_cacache && echo poison | tee ~/.cache/pip/x ~/.npm/_cacache/x'
    await run(poison, { cache: 'untrusted' })
    const look = 'cat ~/.cache/pip/x ~/.npm/_cacache/x 2>/dev/null; true'
    assert.equal((await run(look, { cache: 'untrusted' })).stdout, 'poison\npoison\n')
    assert.equal((await run(look, { cache: 'trusted' })).stdout, '')
    await run(poison, { cache: 'trusted', env: { API_KEY: 'a-secret-value' } })
    assert.equal((await run(look, { cache: 'trusted' })).stdout, '')
    await run(poison, { cache: 'trusted' })
    const ready = await setUp(`{ ${look}; } > seen`)
    assert.ok(ready?.type === 'ready')
    assert.equal((await run(`cat ${ready.directory}/seen`)).stdout, '')
  },
)
