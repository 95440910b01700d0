/** What a command changed, from its first word to the undo: by hand, and asked by an agent over MCP. The README has a picture of it. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { ROOT } from '../../source-tree.ts'
import { whySkipped } from '../../machine/sandbox/required.ts'
import { pictureOf } from '../mcp/session-picture.ts'
import type { Line } from '../mcp/session.ts'
import { Place, type Ran } from './nexus.ts'

const FILE = join(ROOT, 'docs/pictures/changes.svg')
const TITLE = 'nexus skills run, and what nexus changes holds, shows, keeps and undoes'
const skip = whySkipped() ?? false
const NAMES = ['a.txt', 'b.txt', 'c.txt']

/** Edits three files, adds `.envrc` and an environment, sets a hook and commits. */
const SCRIPT = [
  'for f in a b c; do echo two > $f.txt; done',
  'echo "export X=1" > .envrc',
  'mkdir -p .venv/bin; echo home = /usr > .venv/pyvenv.cfg; printf "#!/bin/sh\\necho it works\\n" > .venv/bin/tool; chmod +x .venv/bin/tool',
  'printf "#!/bin/sh\\ntouch pwned\\n" > .git/hooks/pre-push; chmod +x .git/hooks/pre-push',
  'git -c user.name=u -c user.email=e commit -qam two',
].join('\n')

interface Project {
  readonly place: Place
  readonly directory: string
  read(name: string): string
  git(...args: readonly string[]): string
}

function open(t: TestContext): Project {
  const place = new Place(t)
  const directory = join(place.root, 'project')
  mkdirSync(directory)
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=e', '-C', directory, ...args], { encoding: 'utf8' })
  git('init', '-q', '-b', 'main')
  for (const name of NAMES) writeFileSync(join(directory, name), 'one\n')
  writeFileSync(join(directory, 'prepare.sh'), `${SCRIPT}\n`)
  git('add', '.')
  git('commit', '-qm', 'one')
  return { place, directory, git, read: (name) => readFileSync(join(directory, name), 'utf8') }
}

/** What is in the workspace after the command, and what is not. */
function checkHeld({ directory, git, read }: Project): void {
  assert.equal(git('log', '--format=%s'), 'two\none\n')
  assert.deepEqual(NAMES.map(read), ['two\n', 'two\n', 'two\n'])
  for (const name of ['.envrc', '.venv', '.git/hooks/pre-push']) assert.ok(!existsSync(join(directory, name)), name)
}

test('a command of a skill changes a project, and all of it is named, taken or undone', { skip }, async (t) => {
  const project = open(t)
  const { place, directory, read, git } = project
  const before = git('rev-parse', 'main')
  const lines: Line[] = []
  const nexus = async (...args: string[]): Promise<Ran> => {
    const typed = args.map((word) => (/^[\w./{}-]+$/.test(word) ? word : `'${word}'`)).join(' ')
    lines.push({ kind: 'typed', text: steady(`nexus ${typed}`) })
    const ran = await place.run(args, { cwd: directory })
    const said = `${ran.stdout}${ran.stderr}`.trimEnd().split('\n')
    lines.push(...said.map((text): Line => ({ kind: /^\s*\+/.test(text) ? 'added' : 'said', text: steady(text) })))
    return ran
  }
  const ran = await nexus('skills', 'run', 'csv-report', '--', 'sh prepare.sh')
  assert.equal(ran.code, 0, ran.stderr)
  checkHeld(project)
  assert.match(ran.stderr, /Nexus holds .*\.envrc \(.*\.git\/hooks \(/)
  assert.match(ran.stderr, /\.venv: installed packages stay outside the workspace/)
  assert.match(ran.stderr, /Changed \d+ files?: .*a\.txt, b\.txt, c\.txt/)
  assert.match(ran.stderr, /Held until .*\.envrc/)
  const shown = await nexus('changes', 'show', '--diff')
  assert.match(shown.stdout, /held +added +\.envrc: its name begins with a dot[^]*\+export X=1/)
  assert.match(shown.stdout, /\+touch pwned/)
  const [id = ''] = /^[0-9a-f]{12}/.exec(shown.stdout) ?? []
  assert.equal((await nexus('changes', 'keep', id, '.envrc', '--yes')).code, 0)
  assert.equal(read('.envrc'), 'export X=1\n')
  // A process of its own, which takes the copy over where commands work in one.
  const used = await place.run(['skills', 'run', 'csv-report', '--', '.venv/bin/tool'], { cwd: directory })
  assert.equal(used.stdout, 'it works\n', used.stderr)

  writeFileSync(join(directory, 'b.txt'), 'by hand\n')
  const undone = await nexus('changes', 'undo', id)
  assert.equal(undone.code, 1)
  assert.match(undone.stderr, /b\.txt was left: it changed since/)
  assert.deepEqual(NAMES.map(read), ['one\n', 'by hand\n', 'one\n'])
  assert.equal(git('rev-parse', 'main'), before)
  assert.equal(git('status', '--short', '-uno'), ' M b.txt\n')

  if (process.argv.includes('--update')) writeFileSync(FILE, pictureOf(lines.filter(isShown), TITLE))
  const rows = rowsOf(readFileSync(FILE, 'utf8'))
  for (const line of lines.filter(isShown))
    for (const row of rowsOf(pictureOf([line], TITLE))) assert.ok(rows.includes(row), row)
})

test('the same asked by an agent over MCP: its answer names what changed and what is held', { skip }, async (t) => {
  const project = open(t)
  const { place, directory, git, read } = project
  const before = git('rev-parse', 'main')
  const [command = '', ...args] = place.line(['mcp', '--workspace', directory])
  const { env } = place.options() as { env: Record<string, string> }
  const client = new Client({ name: 'story', version: '1' })
  await client.connect(new StdioClientTransport({ command, args, cwd: directory, env, stderr: 'ignore' }))
  t.after(() => client.close())
  const call = async (line: string): Promise<string> => {
    const { content } = await client.callTool({ name: 'run_command', arguments: { command: line } })
    return (content as readonly { text?: string }[])[0]?.text ?? ''
  }
  const text = await call('sh prepare.sh')
  checkHeld(project)
  assert.match(text, /\nChanged \d+ files?: .*a\.txt, b\.txt, c\.txt/)
  const [, id = ''] =
    /Nexus holds .*\.envrc \(.*The user can take it: nexus changes keep ([0-9a-f]{12})/.exec(text) ?? []
  assert.notEqual(id, '')
  const shown = await place.run(['changes', 'show', id, '--diff'], { cwd: directory })
  assert.match(shown.stdout, /held +added +\.envrc: [^]*\+export X=1[^]*\+touch pwned/)
  assert.equal((await place.run(['changes', 'keep', '.envrc', '--yes'], { cwd: directory })).code, 0)
  assert.match(await call('cat .envrc; .venv/bin/tool'), /export X=1\nit works/)
  writeFileSync(join(directory, 'b.txt'), 'by hand\n')
  const undone = await place.run(['changes', 'undo', id], { cwd: directory })
  assert.equal(undone.code, 1)
  assert.match(undone.stderr, /b\.txt was left: it changed since/)
  assert.deepEqual(NAMES.map(read), ['one\n', 'by hand\n', 'one\n'])
  assert.equal(git('rev-parse', 'main'), before)
})

function isShown({ text }: Line): boolean {
  return text !== ''
}

/** Ids, dates and times of one run, in a form that is the same everywhere. */
function steady(text: string): string {
  return text
    .replace(/\b[0-9a-f]{12}\b/g, '3f2a90b1c4d7')
    .replace(/\b[0-9a-f]{40}\b/g, 'f638b61…')
    .replace(/\d{4}-\d\d-\d\d( \d\d:\d\d)?/g, (_, time) => (time ? '2026-11-24 09:30' : '2026-12-08'))
}

function rowsOf(svg: string): readonly string[] {
  return [...svg.matchAll(/<text[^>]*>(.*)<\/text>/g)].map(([, row = '']) => row)
}
