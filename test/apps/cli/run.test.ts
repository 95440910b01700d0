import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteStore } from '../../../src/store/index.ts'
import { type ModelScript, startModelServer } from '../../../src/testing/index.ts'
import { ended, Place } from './nexus.ts'

const TOKEN = 'nexus-test-marker'

async function model(t: { after: (fn: () => Promise<void>) => void }, script: ModelScript): Promise<string[]> {
  const server = await startModelServer({ script })
  t.after(() => server.close())
  return ['--model', 'openai-compatible/scripted', '--base-url', server.url]
}

/** Processes whose command line holds the text. */
function processesWith(text: string): string[] {
  const own = String(process.pid)
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || name === own) return false
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text)
    } catch {
      return false // gone meanwhile, or not ours to read
    }
  })
}

async function until(check: () => boolean): Promise<void> {
  for (let round = 0; round < 200 && !check(); round++) await new Promise((resolve) => setTimeout(resolve, 50))
}

test('the demo ends with a chart on disk that a confined script made', async (t) => {
  const place = new Place(t)
  const { code, stdout, stderr } = await place.run(['demo', '--model', 'recorded'])
  assert.equal(code, 0, stderr)
  const [, chart] = /^ {2}(\/\S+chart\.svg)/m.exec(stdout) ?? []
  assert.ok(chart !== undefined && existsSync(chart), stdout)
  assert.match(readFileSync(chart, 'utf8'), /<svg .*North/s)
  assert.match(stdout, /recorded.*: no model is configured/)
  assert.match(stdout, /held +image-gen +missing .*GEMINI_API_KEY/)
  if (process.getuid?.() === 0) assert.match(stdout, /"uid":2\d{5}/)
})

test('a task runs a skill of the workspace, and its ledger is kept', async (t) => {
  const place = new Place(t)
  const flags = await model(t, [
    { type: 'tool-calls', calls: [{ name: 'load_skill', arguments: { skill_name: 'greet' } }] },
    { type: 'tool-calls', calls: [{ name: 'run_command', arguments: { command: 'echo made > made.txt && id -u' } }] },
    { type: 'text', text: 'Done.' },
  ])
  const { code, stdout, stderr } = await place.run(['run', 'Say hello', '--trust', '--yes', ...flags])
  assert.equal(code, 0, stderr)
  assert.equal(stdout, 'Done.\n')
  assert.match(stderr, /load_skill +skill_name=greet +allowed/)
  assert.equal(readFileSync(join(place.workspace, 'made.txt'), 'utf8'), 'made\n')
  const sessions = JSON.parse((await place.run(['sessions', 'list', '--json'])).stdout) as {
    data: { sessions: { state: string }[] }
  }
  assert.deepEqual(
    sessions.data.sessions.map((session) => session.state),
    ['idle'],
  )
})

test('in an untrusted workspace a task is not begun, and the command to type is shown', async (t) => {
  const { code, stderr } = await new Place(t).run([
    'run',
    'Say hello',
    ...(await model(t, [{ type: 'text', text: 'hi' }])),
  ])
  assert.equal(code, 1)
  assert.match(stderr, /nexus trust \//)
})

test('a model that fails ends with exit code 3 and one clear sentence', async (t) => {
  const { code, stderr } = await new Place(t).run([
    'run',
    'Say hello',
    '--trust',
    ...(await model(t, () => ({ type: 'status', status: 401 }))),
  ])
  assert.equal(code, 3)
  assert.match(stderr, /MODEL_FAILED/)
  assert.doesNotMatch(stderr, /\n {4}at /)
})

test('without a model, run says which variables to set and ends with 2', async (t) => {
  const { code, stderr } = await new Place(t).run(['run', 'Say hello', '--trust'])
  assert.equal(code, 2)
  assert.match(stderr, /OPENAI_API_KEY/)
})

test('sandbox none is never silent', async (t) => {
  const { stderr, stdout, code } = await new Place(t).run([
    'skills',
    'run',
    'greet',
    '--trust',
    '--sandbox',
    'none',
    '--',
    'echo loud',
  ])
  assert.equal(code, 0, stderr)
  assert.equal(stdout, 'loud\n')
  assert.match(stderr, /WARNING: sandbox none/)
})

test("a skill's command runs confined, and its exit code is returned", async (t) => {
  const place = new Place(t)
  const { stdout, code, stderr } = await place.run([
    'skills',
    'run',
    'greet',
    '--trust',
    '--',
    'bash',
    '{baseDir}/scripts/greet.sh',
    'Ada Lovelace',
  ])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^hello Ada Lovelace from \d+\n$/)
  assert.equal((await place.run(['skills', 'run', 'greet', '--trust', '--', 'exit 7'])).code, 7)
})

test('sessions resume runs a message that was left, in its session', async (t) => {
  const place = new Place(t)
  const flags = await model(t, [
    { type: 'text', text: 'First.' },
    { type: 'text', text: 'Second.' },
  ])
  const run = async (...args: string[]): Promise<{ session: string; text: string }> => {
    const { code, stdout, stderr } = await place.run([...args, '--trust', '--json', ...flags])
    assert.equal(code, 0, stderr)
    return (JSON.parse(stdout) as { data: { session: string; text: string } }).data
  }
  const { session: sessionId } = await run('run', 'One')
  const store = await openSqliteStore({ path: join(place.home, 'state/nexus.db'), projectId: 'default' })
  const acquired = await store.leases.acquire('process:gone', { owner: 'gone', ttlMs: 60_000 })
  assert.ok(acquired.type === 'acquired')
  const { lease } = acquired
  const left = await store.turns.enqueue({ sessionId, message: { role: 'user', content: 'Two' }, lease })
  await store.leases.release(lease)
  await store.close()
  const { session, text } = await run('sessions', 'resume', left.id)
  assert.deepEqual([session, text], [sessionId, 'Second.'])
})

test('sessions resume with an unknown id reports it', async (t) => {
  const place = new Place(t)
  const { code, stderr } = await place.run(['sessions', 'resume', 'none', '--trust', ...(await model(t, []))])
  assert.equal(code, 4)
  assert.match(stderr, /There is no session with the id none\./)
})

test('Ctrl-C cancels the turn and the command that is running, and ends with 130', async (t) => {
  const place = new Place(t)
  const mark = `${TOKEN}-${process.pid}-cancel`
  const flags = await model(t, [
    {
      type: 'tool-calls',
      calls: [{ name: 'run_command', arguments: { command: `exec -a ${mark} sleep 300`, timeout_sec: 200 } }],
    },
  ])
  const child = place.start(['run', 'Wait', '--trust', '--yes', '--yes', ...flags])
  const result = ended(child)
  await until(() => processesWith(mark).length > 0)
  child.kill('SIGINT')
  const { code, stderr } = await result
  assert.equal(code, 130, stderr)
  await until(() => processesWith(mark).length === 0)
  assert.deepEqual(processesWith(mark), [])
})

test('kill -9 in the middle of a turn leaves a readable session and no process', async (t) => {
  const place = new Place(t)
  const mark = `${TOKEN}-${process.pid}-kill`
  const flags = await model(t, [
    {
      type: 'tool-calls',
      calls: [{ name: 'run_command', arguments: { command: `exec -a ${mark} sleep 300`, timeout_sec: 200 } }],
    },
  ])
  const child = place.start(['run', 'Wait', '--trust', '--yes', '--yes', ...flags])
  await until(() => processesWith(mark).length > 0)
  child.kill('SIGKILL')
  await once(child, 'close')
  await until(() => processesWith(mark).length === 0)
  assert.deepEqual(processesWith(mark), [])
  // Right after the kill its end is not known yet, and that is said, with the time when it will be.
  const { stdout: early } = await place.run(['sessions', 'show', '0'])
  assert.match(
    early,
    /running in process \d+ on .+\. If that process was killed, Nexus ends the turn at \d\d:\d\d:\d\d UTC\.|INTERRUPTED/,
  )
  const show = async () => {
    const { data } = JSON.parse((await place.run(['sessions', 'show', '0', '--json'])).stdout) as {
      data: { session: { readonly id: string; readonly state: string; readonly until?: number } }
    }
    return data.session
  }
  // Until the lease of the killed process is over.
  let session = await show()
  for (; session.until !== undefined; session = await show()) await sleep(Math.max(100, session.until - Date.now()))
  assert.equal(session.state, 'idle')
  const { stdout, code } = await place.run(['sessions', 'show', session.id])
  assert.equal(code, 0)
  assert.match(stdout, /user: Wait/)
  assert.match(stdout, /INTERRUPTED|interrupted/)
})

test('a session is shown with what tools answered as lines, shortened', async (t) => {
  const place = new Place(t)
  const flags = await model(t, [
    { type: 'tool-calls', calls: [{ name: 'run_command', arguments: { command: 'seq 1 300' } }] },
    { type: 'text', text: 'Done.' },
  ])
  await place.run(['run', 'count', '--trust', '--yes', '--sandbox', 'none', ...flags])
  const { code, stdout } = await place.run(['sessions', 'show', '0'])
  assert.equal(code, 0)
  assert.match(stdout, /\[tool-call run_command\] \{"command":"seq 1 300"\}/)
  assert.match(stdout, /\[tool-result run_command\]\n {4}Exit code: 0\n[^…]*\n {4}2\n {4}3\n[\d\s]*…\n/)
  assert.doesNotMatch(stdout, /\\n/)
})

test('what a model says is shown without secrets, as text and with --json', async (t) => {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), 'skills: { entries: { greet: { apiKey: hunter2-hunter2 } } }\n')
  for (const more of [[], ['--json']]) {
    const flags = await model(t, [{ type: 'text', text: ['The key is hunt', 'er2-hun', 'ter2.'] }])
    const { code, stdout, stderr } = await place.run(['run', 'go', '--trust', ...more, ...flags])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /The key is \[redacted\]\./)
    assert.doesNotMatch(stdout + stderr, /hunt|ter2/)
  }
})

test('a directory of --keep that cannot be made or used is told with what to do', async (t) => {
  const place = new Place(t)
  const file = join(place.workspace, 'skills', 'greet', 'SKILL.md')
  for (const keep of ['/proc/none/here', file, join(file, 'below')]) {
    const { code, stderr } = await place.run(['demo', '--keep', keep])
    assert.notEqual(code, 0)
    assert.doesNotMatch(stderr, /INTERNAL/)
    assert.match(stderr, /fix: Name an empty or a new directory/)
  }
})

test('the sessions of another workspace are listed with --all only', async (t) => {
  const place = new Place(t)
  const flags = await model(t, [
    { type: 'text', text: 'One.' },
    { type: 'text', text: 'Two.' },
  ])
  const other = join(place.root, 'other')
  mkdirSync(join(other, '.nexus'), { recursive: true })
  const listIn = (cwd: string, ...rest: readonly string[]) => place.run(['sessions', 'list', ...rest], { cwd })
  assert.equal((await place.run(['run', 'First task', '--trust', '--yes', ...flags])).code, 0)
  const none = await listIn(other)
  assert.equal(none.stdout, '')
  assert.match(none.stderr, /This workspace has no session\./)
  assert.match(none.stderr, /To list the sessions of all workspaces: nexus sessions list --all/)
  assert.equal((await place.run(['run', 'Second task', '--trust', ...flags], { cwd: other })).code, 0)
  const here = await listIn(place.workspace)
  assert.match(here.stdout, /idle +2 messages +15 tokens +First task/)
  assert.doesNotMatch(here.stdout, /Second task/)
  const all = await listIn(place.workspace, '--all')
  assert.match(all.stdout, /Second task.*other\n.*First task/)
  assert.equal(all.stderr, '')
})

test('a skill that a message names in vain is reported with a command for this program', async (t) => {
  const place = new Place(t)
  const flags = await model(t, [{ type: 'text', text: 'No.' }])
  const path = join(place.workspace, 'skills/needy')
  mkdirSync(path)
  const needs = 'metadata: {requires: {bins: [no-such-program]}}'
  writeFileSync(join(path, 'SKILL.md'), `---\nname: needy\ndescription: Needs it.\n${needs}\n---\n`)
  const { stderr } = await place.run(['run', 'Use $needy', '--trust', ...flags], { env: { PATH: '/usr/bin:/bin' } })
  assert.match(stderr, /\$needy: this skill is held: missing binary: no-such-program\. Run: nexus skills why needy/)
})
