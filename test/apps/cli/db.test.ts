import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { startModelServer } from '../../../src/testing/index.ts'
import { PASSWORD, startPostgres, whyNoPostgres } from '../../store/postgres-server.ts'
import { Place } from './nexus.ts'

const skip = whyNoPostgres() ?? false

function placeWith(t: TestContext, store: string): Place {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), `store:\n${store}`, { mode: 0o600 })
  return place
}

test('db status changes nothing, and db migrate brings the file up to date', async (t) => {
  const place = new Place(t)
  const fresh = await place.run(['db', 'status'])
  assert.equal(fresh.code, 0, fresh.stderr)
  assert.match(
    fresh.stdout,
    /state file .*nexus\.db \(SQLite 3\..*\n {2}schema {2}version 0, pending: \d+ the first schema/,
  )
  assert.match(fresh.stderr, /^\d+ steps? .* nexus db migrate/)
  const file = /state file (\S+)/.exec(fresh.stdout)?.[1] ?? ''
  assert.equal(existsSync(file), false)
  const migrated = await place.run(['db', 'migrate'])
  assert.match(
    migrated.stdout,
    /applied \d+: the first schema\n(?:applied .*\n)*✓ state file .*\n {2}schema {2}version \d+, up to date/,
  )
  const again = await place.run(['db', 'migrate'])
  assert.doesNotMatch(again.stdout, /applied/)
  assert.match(again.stdout, /rows {4}sessions 0, session_messages 0/)
})

test('store.path names the file, and memory keeps nothing', async (t) => {
  const place = placeWith(t, '  path: ./elsewhere.db\n')
  const named = await place.run(['db', 'migrate'])
  assert.match(named.stdout, /elsewhere\.db/)
  assert.ok(readdirSync(place.home).includes('elsewhere.db'), readdirSync(place.home).join())
  const memory = placeWith(t, '  type: memory\n')
  assert.match((await memory.run(['db', 'status'])).stderr, /Nothing is kept: store\.type is memory/)
})

test('a workspace cannot choose the store, also when it is trusted', async (t) => {
  const place = new Place(t)
  const file = join(place.workspace, 'nexus.yaml')
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  writeFileSync(file, `${before}\nstore: { type: postgres, url: 'postgres://evil.example/x' }\n`)
  for (const args of [['trust', '--yes'], []]) {
    if (args.length > 0) await place.run(args)
    const { stdout, code, stderr } = await place.run(['db', 'status'])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /state file .*nexus\.db/)
  }
})

test('a url without type: postgres, and postgres without a url, are refused with what to write', async (t) => {
  const unused = await placeWith(t, "  url: 'postgres://h/x'\n").run(['db', 'status'])
  assert.notEqual(unused.code, 0)
  assert.match(unused.stderr, /store\.url is set, and store\.type is sqlite[\s\S]*type: postgres/)
  const missing = await placeWith(t, '  type: postgres\n').run(['sessions', 'list'])
  assert.match(missing.stderr, /store\.type is postgres, and store\.url is not set/)
})

test('two processes keep one session on Postgres, whose server is restarted in between', { skip }, async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres.close())
  const place = placeWith(t, `  type: postgres\n  url: ${JSON.stringify(postgres.url())}\n`)
  await using model = await startModelServer({
    script: [
      { type: 'text', text: 'Hello.' },
      { type: 'text', text: 'Again.' },
    ],
  })
  const outputs: string[] = []
  const run = async (...args: string[]) => {
    const ran = await place.run(args)
    outputs.push(ran.stdout, ran.stderr)
    return ran
  }
  const flags = ['--trust', '--sandbox', 'none', '--model', 'openai-compatible/scripted', '--base-url', model.url]
  const first = await run('run', 'hello', ...flags, '--json')
  assert.equal(first.code, 0, first.stderr)
  const { session } = (JSON.parse(first.stdout) as { data: { session: string } }).data
  await postgres.stop('kill')
  const down = await run('db', 'status')
  assert.match(down.stderr, /Postgres database nexus on 127\.0\.0\.1:\d+ cannot be reached: connect ECONNREFUSED/)
  assert.match(down.stderr, /pg_isready/)
  assert.notEqual(down.code, 0)
  assert.match((await run('doctor')).stdout, /✗ state[\s\S]*cannot be reached/)
  await postgres.start()
  const second = await run('run', 'again', '--session', session, ...flags, '--json')
  assert.equal(second.code, 0, second.stderr)
  const shown = await run('sessions', 'show', session)
  assert.match(shown.stdout, /hello[\s\S]*Hello\.[\s\S]*again[\s\S]*Again\./)
  const status = await run('db', 'status')
  assert.match(
    status.stdout,
    /✓ Postgres database nexus on 127\.0\.0\.1:\d+ \(PostgreSQL \d+[\s\S]*up to date[\s\S]*sessions 1/,
  )
  assert.match((await run('doctor')).stdout, /✓ state +Postgres database nexus/)
  assert.match((await run('config', 'show')).stdout, /postgres/)
  for (const text of outputs)
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)]) assert.ok(!text.includes(secret), text)
  const files = readdirSync(place.root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('nexus.db'),
  )
  assert.deepEqual(files, [], 'a state file was made')
})

test('a misspelt kind of store is an error, not the file of SQLite', async (t) => {
  const place = placeWith(t, '  type: postgress\n')
  for (const command of ['status', 'migrate']) {
    const { code, stdout, stderr } = await place.run(['db', command])
    assert.equal(code, 2, stderr)
    assert.match(stderr, /CONFIG_INVALID/)
    assert.doesNotMatch(stdout, /✓/)
  }
})
