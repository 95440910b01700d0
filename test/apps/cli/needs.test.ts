/** A skill that needs a program of the home, and one that needs a package, run after the lines that `check` wrote. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { whySkipped } from '../../machine/sandbox/required.ts'
import { Place } from './nexus.ts'

const skip = whySkipped() ?? false

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode })
}

/** The line of nexus.yaml that a fix contains. */
function lineIn(text: string, section: string): string {
  const [, line] = new RegExp(`: (${section}: \\{.*\\})`).exec(text.replace(/\n\s+/g, ' ')) ?? []
  assert.ok(line, text)
  return line
}

test('a program of the home: check writes the line, and with it the skill runs', { skip }, async (t) => {
  const place = new Place(t)
  const home = join(place.root, 'person')
  put(join(home, '.local/bin/only-mine'), '#!/bin/sh\necho "from the home: $1"\n', 0o755)
  put(
    join(place.workspace, 'skills/mine/SKILL.md'),
    '---\nname: mine\ndescription: Uses a program.\nmetadata: {requires: {bins: [only-mine]}}\n---\n# Mine\n',
  )
  const env = { PATH: `${process.env['PATH']}:${join(home, '.local/bin')}`, HOME: join(place.root, 'person') }
  const run = (...args: readonly string[]) => place.run([...args], { env })
  const held = await run('skills', 'check', 'mine', '--trust')
  assert.equal(held.code, 1)
  put(join(place.home, 'nexus.yaml'), `${lineIn(held.stdout, 'execution')}\n`)
  const ran = await run('skills', 'run', 'mine', '--trust', '--', 'only-mine', 'abc')
  assert.equal(ran.stdout, 'from the home: abc\n', ran.stderr)
  assert.match(
    (await run('doctor')).stdout,
    /programs .*only-mine \(a program of its own, ~\/\.local\/bin\/only-mine\)/,
  )
})

test(
  'a package: check writes the lines, a setup that fails holds the skill, and one that works lets it run',
  { skip },
  async (t) => {
    const place = new Place(t)
    const skill = join(place.workspace, 'skills/report')
    put(join(skill, 'SKILL.md'), '---\nname: report\ndescription: Uses a package.\n---\n# Report\n')
    put(join(skill, 'requirements.txt'), 'greeting\n')
    put(join(skill, 'greeting.py'), 'def greet(): return "hello from a package"\n')
    put(join(skill, 'scripts/run.py'), 'import greeting\nprint(greeting.greet(), greeting.__file__.split("/")[-2])\n')
    const settings = join(place.home, 'nexus.yaml')
    const env = { HOME: join(place.root, 'person') }
    const run = (...args: readonly string[]) => place.run([...args], { env })
    const proposed = lineIn((await run('skills', 'check', 'report', '--trust')).stdout, 'skills')
    assert.match(
      proposed,
      /pip install -r \{baseDir\}\/requirements\.txt.*network: \[pypi\.org, files\.pythonhosted\.org\]/,
    )
    // No test reaches the registry: pip finds nothing, and says so.
    const offline = proposed.replace('pip install', 'pip install --no-index').replace(/, network: \[.*?\]/, '')
    put(settings, `${offline}\n`)
    const script = ['skills', 'run', 'report', '--trust', '--', 'sh', '-c', 'python3 {baseDir}/scripts/run.py']
    const failed = await run(...script)
    assert.match(failed.stdout + failed.stderr, /setup of the skill 'report' failed/)
    assert.match((await run('skills', 'why', 'report', '--trust')).stdout, /setup failed/)
    const copied = `python3 -m venv --without-pip venv && cp {baseDir}/greeting.py venv/lib/python3*/site-packages/`
    put(settings, `skills: { entries: { report: { setup: '${copied}' } } }\n`)
    const ran = await run(...script)
    assert.equal(ran.stdout, 'hello from a package site-packages\n', ran.stderr)
  },
)
