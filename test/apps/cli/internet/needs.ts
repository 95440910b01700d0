/** Skills that need a program of the home, packages, or too much of the machine: a part of inside.ts. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { has, type LabPlace, place, requests } from './rig.ts'

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode })
}

/** The line of nexus.yaml that a fix contains, exactly as a person copies it. */
function lineIn(text: string, section: string): string {
  const [, line] = new RegExp(`: (${section}: \\{.*\\})$`, 'm').exec(text) ?? []
  assert.ok(line, text)
  return line
}

function skill(at: LabPlace, name: string, files: Readonly<Record<string, string>>, frontmatter = ''): void {
  const root = join(at.workspace, 'skills', name)
  put(join(root, 'SKILL.md'), `---\nname: ${name}\ndescription: Needs something.\n${frontmatter}---\n# ${name}\n`)
  for (const [path, text] of Object.entries(files)) put(join(root, path), text)
}

/** In a user namespace files of root belong to nobody known, and what another account owns is refused. */
const skip = ![0, process.getuid?.()].includes(statSync('/').uid) && 'the owner of / is unknown in this namespace'

test('a program of a closed home: check writes the line, and with it the skill runs', { skip }, async (t) => {
  const at = place(t)
  const home = join(at.root, 'person')
  put(join(home, '.local/bin/only-mine'), '#!/bin/sh\necho "from the home: $1"\n', 0o755)
  chmodSync(home, 0o700)
  skill(at, 'mine', {}, 'metadata: {requires: {bins: [only-mine]}}\n')
  const env = { PATH: `${process.env['PATH']}:${join(home, '.local/bin')}`, HOME: home }
  const run = (...args: readonly string[]) => at.run(args, { env })
  const held = await run('skills', 'check', 'mine', '--trust')
  assert.equal(held.code, 1)
  at.settings(`${lineIn(held.stdout, 'execution')}\n`)
  const ran = await run('skills', 'run', 'mine', '--trust', '--', 'only-mine', 'abc')
  assert.equal(ran.stdout, 'from the home: abc\n', ran.stderr)
  assert.match(
    (await run('doctor')).stdout,
    /programs .*only-mine \(a program of its own, ~\/\.local\/bin\/only-mine\)/,
  )
})

test('packages of Python and of Node: check writes the line; a setup that fails holds the skill, one that works lets it run', async (t) => {
  const at = place(t)
  const check = async (name: string): Promise<string> =>
    lineIn((await at.run(['skills', 'check', name, '--trust'])).stdout, 'skills')
  const run = (name: string, command: string) => at.run(['skills', 'run', name, '--trust', '--', command])
  skill(at, 'report', {
    'requirements.txt': 'greeting==1.0\n',
    'scripts/run.py': 'import greeting\nprint(greeting.greet(), greeting.__file__.split("/")[-2])\n',
  })
  at.settings(`${await check('report')}\n`)
  const ran = await run('report', 'python3 {baseDir}/scripts/run.py')
  assert.equal(ran.stdout, 'hello from a package site-packages\n', ran.stderr)
  assert.match(requests(), /files\.pythonhosted\.org GET files\.pythonhosted\.org \/packages\/greeting/)
  if (!has('npm')) return t.diagnostic('npm is not installed for all users')
  const shouts = (version: string): void =>
    skill(at, 'shouts', {
      'package.json': JSON.stringify({ dependencies: { shout: version } }),
      'run.mjs': "import { shout } from 'shout'\nconsole.log(shout('node'))\n",
    })
  shouts('9.9.9')
  at.settings(`${await check('shouts')}\n`)
  const failed = await run('shouts', 'node {baseDir}/run.mjs')
  assert.match(failed.stdout + failed.stderr, /setup of the skill 'shouts' failed[\s\S]*No matching version found/)
  assert.match((await at.run(['skills', 'why', 'shouts', '--trust'])).stdout, /setup failed/)
  shouts('1.0.0')
  const shouted = await run('shouts', 'node {baseDir}/run.mjs')
  assert.equal(shouted.stdout, 'NODE\n', shouted.stderr)
})

test('a fork bomb and a program that fills memory end with the limit and its setting, and the next command runs', async (t) => {
  const at = place(t)
  skill(at, 'greedy', {})
  const run = (command: string) => at.run(['skills', 'run', 'greedy', '--trust', '--timeout', '60', '--', command])
  at.settings(`execution: { limits: { processes: 64, memoryBytes: ${200 * 1024 * 1024} } }\n`)
  const bomb = await run('exec 2>/dev/null; :(){ :|:& };:; sleep 60')
  assert.equal(bomb.code, 1)
  assert.match(bomb.stderr, /it had more than 64 processes and threads\. .*raise execution\.limits\.processes in/)
  const hog = await run('node -e "const all = []; for (;;) all.push(Buffer.alloc(20e6, 1))"')
  assert.equal(hog.code, 1)
  assert.match(hog.stderr, /together used more than 200 MiB of memory\. .*raise execution\.limits\.memoryBytes in/)
  // One sentence for one cause.
  for (const { stderr } of [bomb, hog]) assert.equal(stderr.match(/execution\.limits/g)?.length, 1, stderr)
  assert.equal((await run('echo alive')).stdout, 'alive\n')
})
