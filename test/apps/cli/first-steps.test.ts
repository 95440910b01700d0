import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { programName } from '../../../src/apps/cli/terminal.ts'
import { ROOT } from '../../source-tree.ts'
import { Place } from './nexus.ts'

const SCRIPT = join(ROOT, 'dist/cli/bin.cjs')
const SKILL = '---\nname: NAME\ndescription: Reads files. Use when there are files.\n---\n\n# Read\n\nRead it.\n'

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

test('the program is called nexus where PATH leads to it, npx nexus in a checkout and a project, else nexus', (t) => {
  const { root, bin, workspace } = new Place(t)
  const start = { script: SCRIPT, cwd: workspace, path: '' }
  assert.equal(programName({ ...start, path: bin }), 'nexus')
  // npm puts this directory on PATH for its scripts only.
  const ofPackage = join(root, 'node_modules/.bin')
  mkdirSync(ofPackage, { recursive: true })
  assert.equal(programName({ ...start, cwd: '/', path: ofPackage }), 'nexus')
  symlinkSync(SCRIPT, join(ofPackage, 'nexus'))
  assert.equal(programName({ ...start, path: ofPackage }), 'npx nexus')
  assert.equal(programName({ ...start, cwd: ROOT }), 'npx nexus')
  assert.equal(programName({ ...start, cwd: '/', path: join(root, 'empty') }), 'nexus')
})

test('a printed command names nexus, and works when it is typed as it is printed', async (t) => {
  const place = new Place(t)
  const { stderr } = await place.run(['skills', 'list'], { env: { PATH: '/usr/bin:/bin' } })
  const [, line = ''] = /^For the reasons: (.*)$/m.exec(stderr) ?? []
  assert.equal(line, 'nexus skills list --all')
  const PATH = `${place.bin}:${dirname(process.execPath)}:/usr/bin:/bin`
  const env = { PATH, HOME: place.root, NEXUS_HOME: place.home }
  const { stdout, status } = spawnSync('/bin/sh', ['-c', line], { cwd: place.workspace, encoding: 'utf8', env })
  assert.equal(status, 0)
  assert.match(stdout, /◌ greet {2}its source is not trusted/)
})

test('fixes of every room name the program as it is started here, and JSON names it nexus', async (t) => {
  const place = new Place(t)
  const args = ['run', 'Say hello']
  const typed = await place.run(args, { env: { PATH: '/usr/bin:/bin' } })
  assert.match(typed.stderr, /then run: nexus trust \/\S+workspace$/m)
  const { stdout } = await place.run([...args, '--json'], { env: { PATH: '/usr/bin:/bin' } })
  const { error } = JSON.parse(stdout) as { error: { fix: string; command: string[] } }
  assert.match(error.fix, /then run: nexus trust \//)
  assert.deepEqual(error.command, ['nexus', 'trust', place.workspace])
})

test('run - reads the task from standard input, and an empty one is wrong use', (t) => {
  const place = new Place(t)
  const { env } = place.options()
  const line = place.line([
    'run',
    '-',
    '--trust',
    '--model',
    'openai-compatible/x',
    '--base-url',
    'http://127.0.0.1:9/v1',
  ])
  const [program = '', ...rest] = line
  const run = (input: string) => spawnSync(program, rest, { cwd: place.workspace, env, input, encoding: 'utf8' })
  const empty = run(' \n')
  assert.equal(empty.status, 2)
  assert.match(empty.stderr, /reads the task from standard input, which was empty/)
  assert.equal(run('Count the words.\n').status, 3)
  const listed = execFileSync(program, [...place.line(['sessions', 'list', '--json']).slice(1)], {
    cwd: place.workspace,
    env,
    encoding: 'utf8',
  })
  const { data } = JSON.parse(listed) as { data: { sessions: { title: string }[] } }
  assert.deepEqual(
    data.sessions.map(({ title }) => title),
    ['Count the words.'],
  )
})

test('list names ready skills that have warnings, and the command that shows them', async (t) => {
  const place = new Place(t)
  put(
    join(place.workspace, 'skills/odd/SKILL.md'),
    SKILL.replace('NAME', 'odd').replace('---\n', '---\ndisable-model-invocaton: true\n'),
  )
  for (const more of [[], ['--all']]) {
    const { stderr } = await place.run(['skills', 'list', '--trust', ...more])
    assert.match(stderr, /^2 ready with warnings: hostile, odd\. To see them: nexus skills check --trust$/m)
  }
})

test('a command without -- before it is proposed with it', async (t) => {
  const { code, stderr } = await new Place(t).run(['skills', 'run', 'greet', 'ls', 'a b'])
  assert.equal(code, 2)
  assert.match(
    stderr,
    /Nothing was run: 'ls'.*\n {2}fix: Put -- before the command: nexus skills run greet -- ls 'a b'/,
  )
})

test('a run in an untrusted workspace speaks of a nexus.yaml only where there is one', async (t) => {
  const place = new Place(t)
  const run = async () => (await place.run(['skills', 'run', 'greet', '--', 'true'])).stderr
  assert.doesNotMatch(await run(), /nexus\.yaml changes/)
  put(join(place.workspace, 'nexus.yaml'), 'execution: { timeoutMs: 9000 }\n')
  assert.match(await run(), /Its nexus\.yaml changes settings/)
})

test('list in a directory below the skills names the folder that is not searched, and where to go', async (t) => {
  const place = new Place(t)
  const project = join(place.root, 'project')
  put(join(project, 'skills/greet/SKILL.md'), SKILL.replace('NAME', 'greet'))
  const below = join(project, 'src/deep')
  mkdirSync(below, { recursive: true })
  const { stderr } = await place.run(['skills', 'list'], { cwd: below })
  assert.match(
    stderr,
    /^Not searched: ~\/project\/skills contains skills, but it is above your workspace\. To use them: cd \//m,
  )
  for (const command of [['why'], ['run'], ['show'], ['check']]) {
    const ran = await place.run(['skills', ...command, 'greet', ...(command[0] === 'run' ? ['--', 'true'] : [])], {
      cwd: below,
    })
    assert.equal(ran.code, 4, ran.stderr)
    assert.match(ran.stdout + ran.stderr, /it is above your workspace.*[^]*fix: Work there: cd \/.*\/project\n/)
    assert.doesNotMatch(ran.stdout + ran.stderr, /skills init/)
  }
  const inSkills = await place.run(['skills', 'why', 'greet'], { cwd: join(project, 'skills') })
  assert.match(inSkills.stdout, /fix: Work there: cd \S*\/project\n/)
  put(join(project, 'nexus.yaml'), '')
  assert.doesNotMatch((await place.run(['skills', 'list'], { cwd: below })).stderr, /Not searched/)
})

test('list names what is not offered, and folders of other programs that are not searched', async (t) => {
  const place = new Place(t)
  const folder = join(place.root, '.claude/skills')
  put(join(folder, 'reader/SKILL.md'), SKILL.replace('NAME', 'reader'))
  mkdirSync(join(place.root, '.codex/skills'), { recursive: true })
  const { stderr } = await place.run(['skills', 'list'])
  assert.match(stderr, /^\d untrusted: .*greet/m)
  assert.match(
    stderr,
    /^Not searched: ~\/\.claude\/skills .*skills\.load\.extraDirs.*nexus skills list --skills-dir \//m,
  )
  assert.doesNotMatch(stderr, /\.codex/)
  const read = await place.run(['skills', 'list', '--skills-dir', folder])
  assert.match(read.stdout, /✓ reader/)
  assert.doesNotMatch(read.stderr, /Not searched/)
})

test('doctor says that commands are refused in the home directory, and where to work', async (t) => {
  const place = new Place(t)
  const { code, stdout } = await place.run(['doctor'], { cwd: place.root, env: { NEXUS_HOME: join(place.root, 'n') } })
  assert.equal(code, 1)
  assert.match(
    stdout,
    /✗ directory .*\n.*workspace-refused.*\n.*home directory.*\n\s+fix: Work in the directory of one project/,
  )
  assert.match(
    (await place.run(['doctor'])).stdout,
    /✓ directory +\.: commands run (?:in a copy of it, because root|over it)/,
  )
})

test('migrate writes into the folder of another program only with consent', async (t) => {
  const place = new Place(t)
  const file = join(place.workspace, '.claude/skills/claw/SKILL.md')
  const text =
    '---\nname: claw\ndescription: Claws. Use to claw.\nmetadata: {"openclaw": {"requires": {"bins": ["sh"]}}}\n---\n\nBody.\n'
  put(file, text)
  const { code, stderr } = await place.run(['skills', 'migrate', '.claude/skills'])
  assert.equal(code, 1)
  assert.match(stderr, /Nothing was changed: \.\/\.claude\/skills is a folder of Claude Code/)
  assert.equal(readFileSync(file, 'utf8'), text)
  assert.equal((await place.run(['skills', 'migrate', '.claude/skills', '--dry-run'])).code, 0)
  assert.equal((await place.run(['skills', 'migrate', '.claude/skills', '--yes'])).code, 0)
  assert.notEqual(readFileSync(file, 'utf8'), text)
})

test('skills run explains a file of the skill that the command looked for in the workspace', async (t) => {
  const place = new Place(t)
  if (!existsSync('/usr/bin/bwrap')) return t.skip('no sandbox here')
  put(join(place.workspace, 'skills/reader/SKILL.md'), SKILL.replace('NAME', 'reader'))
  put(join(place.workspace, 'skills/reader/scripts/read.sh'), 'echo read\n')
  const { stderr } = await place.run(['skills', 'run', 'reader', '--trust', '--', 'cat', 'scripts/read.sh'])
  assert.match(stderr, /note: .*scripts\/read\.sh/)
})

test('completion offers the skills, agents and sessions of this workspace', async (t) => {
  const place = new Place(t)
  const offers = async (...words: string[]) =>
    (await place.run(['completion', 'bash', '--', ...words])).stdout.split('\n')
  assert.ok((await offers('skills', 'show', '')).includes('greet'))
  assert.ok((await offers('prompt', '--agent', '')).includes('main'))
  assert.deepEqual(await offers('run', '--session', ''), ['none', ''])
  const { stdout: script } = await place.run(['completion', 'bash'])
  const typed = 'COMP_WORDS=(nexus skills show gre) COMP_CWORD=3; _nexus; printf "%s\\n" "${COMPREPLY[@]}"'
  const env = { ...place.options().env, PATH: [place.bin, process.env['PATH']].join(delimiter) }
  const offered = spawnSync('bash', ['-c', `${script}\n${typed}`], { cwd: place.workspace, env, encoding: 'utf8' })
  assert.equal(offered.stdout.trim(), 'greet', offered.stderr)
})

test('a new skill is held until its description is written, and validate gives the line', async (t) => {
  const place = new Place(t)
  const made = await place.run(['skills', 'init', 'fresh'])
  assert.match(
    made.stderr,
    /^Next: write its description and its instructions, then check it: nexus skills validate skills\/fresh$/m,
  )
  const { code, stdout } = await place.run(['skills', 'validate', 'skills/fresh'])
  assert.equal(code, 1)
  assert.match(stdout, /description-missing .*skills\/fresh\/SKILL\.md:3/)
})

test('an answer about a skill gives paths from the working directory, and its command works as typed there', async (t) => {
  const place = new Place(t)
  const text = (name: string, description = `Does ${name}.`): string =>
    `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n`
  put(join(place.workspace, 'skills', 'lower/skill.md'), text('lower'))
  put(join(place.workspace, 'skills', 'one/SKILL.md'), text('twice'))
  put(join(place.workspace, 'skills', 'two/SKILL.md'), text('twice', 'Another one.'))
  put(join(place.workspace, 'skills', 'colon/SKILL.md'), text('colon', 'Reports: made.'))
  put(
    join(place.workspace, 'skills', 'needy/SKILL.md'),
    text('needy').replace('\n---\n\n', '\nmetadata: {requires: {env: [NEEDY_KEY]}}\n---\n\n'),
  )
  mkdirSync(join(place.workspace, 'skills/empty'))
  writeFileSync(join(place.root, 'SKILL.md'), text('linked'))
  mkdirSync(join(place.workspace, 'skills/linked'))
  symlinkSync('../../../SKILL.md', join(place.workspace, 'skills/linked/SKILL.md'))
  await place.run(['trust', '--yes'])
  for (const name of ['lower', 'twice', 'colon', 'needy', 'empty', 'linked']) {
    const { stdout } = await place.run(['skills', 'why', name])
    assert.ok(!stdout.includes(place.root), stdout)
  }
  const command = /fix: Rename it to SKILL\.md: (mv .*)$/m.exec(
    (await place.run(['skills', 'why', 'lower'])).stdout,
  )?.[1]
  spawnSync('sh', ['-c', command ?? 'false'], { cwd: place.workspace })
  assert.equal((await place.run(['skills', 'why', 'lower'])).code, 0)
  const fixed = /; or run: (nexus .*)$/m.exec((await place.run(['skills', 'why', 'colon'])).stdout)?.[1]
  assert.equal(fixed, 'nexus skills validate --fix ./skills/colon/SKILL.md')
})

test('list says how to trust a workspace whose skills are untrusted, and names them apart', async (t) => {
  const place = new Place(t)
  put(join(place.workspace, 'skills/mine/SKILL.md'), SKILL.replace('NAME', 'mine'))
  for (const args of [[], ['--all']]) {
    const { stderr } = await place.run(['skills', 'list', ...args])
    assert.match(stderr, /^No command runs in this workspace until you trust it\..* then run: nexus trust$/m)
    if (args.length === 0) assert.match(stderr, /^\d+ untrusted: .*mine/m)
  }
  await place.run(['trust', '--yes'])
  assert.doesNotMatch((await place.run(['skills', 'list'])).stderr, /untrusted/)
})

test('list marks the skills that a model does not see, and does not count them', async (t) => {
  const place = new Place(t)
  const lines = ['disable-model-invocation: true\n', 'disable-model-invocation: true\nuser-invocable: false\n']
  for (const [index, line] of lines.entries()) {
    const text = SKILL.replace('NAME', `mine-${index}`).replace('\n---\n', `\n${line}---\n`)
    put(join(place.workspace, `skills/mine-${index}/SKILL.md`), text)
  }
  await place.run(['trust', '--yes'])
  const { stdout } = await place.run(['skills', 'list'])
  assert.match(stdout, /^· mine-0 +workspace +people only /m)
  assert.match(stdout, /^· mine-1 +workspace +nothing starts it /m)
  type Listed = { name: string; tokens: number; invocation: { model: boolean } }
  const { data } = JSON.parse((await place.run(['skills', 'list', '--json'])).stdout) as {
    data: { skills: Listed[]; counts: { ready: number; notForModel: number } }
  }
  const hidden = data.skills.filter(({ tokens, invocation }) => tokens === 0 && !invocation.model)
  assert.deepEqual(
    hidden.map(({ name }) => name),
    ['mine-0', 'mine-1'],
  )
  const ready = data.skills.length - hidden.length
  assert.deepEqual([data.counts.ready, data.counts.notForModel], [ready, 2])
  const { stdout: doctor } = await place.run(['doctor'])
  assert.match(doctor, new RegExp(`skills +${ready} ready \\(and 2 not for the model\\)`))
})

test('a skill that is made below the workspace goes where list finds it', async (t) => {
  const place = new Place(t)
  const below = join(place.workspace, 'docs/deep')
  mkdirSync(below, { recursive: true })
  mkdirSync(join(place.workspace, '.git'))
  const made = await place.run(['skills', 'init', 'made-below', '--description', 'Made below.'], { cwd: below })
  assert.equal(made.code, 0, made.stderr)
  assert.ok(existsSync(join(place.workspace, 'skills/made-below/SKILL.md')))
  const { stderr } = await place.run(['skills', 'list'], { cwd: below })
  assert.match(stderr, /^\d untrusted: .*made-below/m)
})
