// npm run bench -- install
// Getting skills beside git's own commands, in process, from a git server on this machine whose loop is another thread. What was placed is checked.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { median, pairsOf, printTable, ratios, spread } from './measure.mjs'

const FILES = 20
const FILE_BYTES = 10_240
const SKILLS = 40
const MANY = 100
const SOURCES = 10
const program = promisify(execFile)
const alone = (_, work) => work()
const at = { alone, now: new Date(0) }

if (!isMainThread) await serve()

/** Repositories `tools` (40 skills) and `many` (100), each skill of 200 KB in 20 files, and ten of one skill. */
async function serve() {
  const { skillText, startGitServer } = await import('../test/skills/install/git-server.ts')
  const ends = []
  const server = await startGitServer({ after: (end) => ends.push(end) })
  const fill = (name, count) => {
    const upstream = server.upstream(name)
    for (let skill = 0; skill < count; skill++) {
      upstream.write(`skills/s${skill}/SKILL.md`, skillText(`s${skill}`))
      for (let file = 1; file < FILES; file++) upstream.write(`skills/s${skill}/f${file}.txt`, text(`${name} ${skill} ${file}`)) // oxfmt-ignore
    }
    upstream.publish()
  }
  fill('tools', SKILLS)
  fill('many', MANY)
  const sources = Array.from({ length: SOURCES }, (_, index) => `source${index}`)
  for (const name of sources) fill(name, 1)
  parentPort.once('message', () => void ends.reduce((before, end) => before.then(end), Promise.resolve()))
  parentPort.postMessage({ tools: server.url('tools'), many: server.url('many'), sources: sources.map(server.url) })
}

/** Text that compresses by a quarter, the same for the same seed. */
function text(seed) {
  const parts = Array.from({ length: FILE_BYTES / 64 }, (_, index) => createHash('sha256').update(`${seed} ${index}`).digest('hex')) // oxfmt-ignore
  return parts.map((part) => Buffer.from(part, 'hex').toString('base64').padEnd(63, ' plain words ')).join('\n')
}

export async function install(runs) {
  const nexus = await import('../dist/skills/install/index.js')
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-bench-')))
  const worker = new Worker(import.meta.filename)
  try {
    const [urls] = await once(worker, 'message')
    const bench = { nexus, root, urls, runs, fresh: makeFresh(root) }
    const rows = [...(await fetched(bench)), ...(await refreshed(bench)), ...(await restored(bench))]
    const title = `install: skills of ${FILES} files, ${(FILES * FILE_BYTES) / 1024} KB`
    printTable(title, ['what', 'ratio', 'goal', 'Nexus, ms', 'the other, ms'], rows)
  } finally {
    worker.postMessage('end')
    await once(worker, 'exit')
    rmSync(root, { recursive: true, force: true })
  }
}

/** A directory with a workspace and a Nexus home that nothing was fetched into. */
function makeFresh(root) {
  let count = 0
  return () => {
    const directory = join(root, String(count++))
    mkdirSync(join(directory, 'workspace'), { recursive: true })
    return directory
  }
}

/** Milliseconds of the work. `before` and `after` are not in them. */
const timed =
  (work, before = () => undefined, after = () => undefined) =>
  async () => {
    const made = await before()
    const startedAt = performance.now()
    const given = await work(made)
    const ms = performance.now() - startedAt
    await after(made, given)
    return { ms }
  }

const remove = (directory) => rmSync(directory, { recursive: true, force: true })

async function row(what, goal, { runs, base, other }) {
  const found = await pairsOf(runs, base, other)
  const ms = (key) => median(found.map((pair) => pair[key].ms)).toFixed(1)
  return [what, spread(ratios(found, 'ms')), goal, ms('b'), ms('a')]
}

const scopeIn = ({ nexus }, directory) =>
  nexus.scopeOf({
    kind: 'workspace',
    directory: join(directory, 'workspace'),
    nexusHome: join(directory, 'home'),
    stateDirectory: join(directory, 'state'),
  })

async function place(bench, directory, { url, path, name }) {
  const { nexus } = bench
  const scope = scopeIn(bench, directory)
  const locator = { type: 'git', url, ...(path && { path }) }
  const likely = name === undefined ? 'all' : [name]
  await using source = await nexus.openSource(locator, { scope, home: directory, likely })
  const chosen = source.candidates.filter((each) => name === undefined || each.name === name)
  const packages = await source.read(chosen)
  const wanted = packages.map((each) => ({ package: each, source: source.lockedAs(each) }))
  await nexus.applyPlan(scope, await nexus.planOf(scope, wanted, nexus.lockOf(scope)), at)
}

const placed = (directory) => globSync('workspace/skills/*/*', { cwd: directory }).length

async function fetched(bench) {
  const { fresh, runs, urls } = bench
  const url = urls.tools
  const cloned = (args) => async (directory) => program('git', ['clone', '-q', '--depth=1', ...args, url, join(directory, 'clone')]) // oxfmt-ignore
  const sparse = timed(
    async (directory) => {
      await cloned(['--filter=blob:none', '--sparse'])(directory)
      await program('git', ['-C', join(directory, 'clone'), 'sparse-checkout', 'set', 'skills/s7'])
    },
    fresh,
    remove,
  )
  const ours = (what, count) => {
    const check = (directory) => {
      assert.equal(placed(directory), count * FILES)
      remove(directory)
    }
    return timed((directory) => place(bench, directory, { url, ...what }), fresh, check)
  }
  const whole = timed(cloned([]), fresh, remove)
  return [
    await row('one of 40 by its path, × sparse blobless clone', '≤ 1.5', { runs, base: sparse, other: ours({ path: 'skills/s7' }, 1) }), // oxfmt-ignore
    await row('one of 40 by its name, × the same', '–', { runs, base: sparse, other: ours({ name: 's7' }, 1) }),
    await row('all 40, × `clone --depth 1`', '≤ 1.3', { runs, base: whole, other: ours({}, SKILLS) }),
  ]
}

async function refreshed({ nexus, fresh, runs, urls }) {
  const directory = fresh()
  const [nexusHome, stateDirectory] = [join(directory, 'home'), join(directory, 'state')]
  const sources = urls.sources.map((url) => ({ url, refreshMs: 0, follow: false }))
  const refresh = async (source) => {
    const scope = nexus.keptScope(source, { nexusHome, stateDirectory })
    const access = { scope, home: directory, workspace: directory, hasSettings: () => false }
    const { problem, commit } = await nexus.refreshKept(scope, source, { ...at, access })
    assert.ok(problem === undefined && commit !== undefined)
  }
  for (const source of sources) await refresh(source)
  const base = timed(() => program('git', ['ls-remote', urls.sources[0]]))
  const all = timed(async () => nexus.resultsOf(await nexus.sideBySide(sources, refresh)))
  return [
    await row('refresh without news, × `ls-remote`', '≤ 1.3', { runs, base, other: timed(() => refresh(sources[0])) }),
    await row('ten sources of one host, × the same', '≤ 4', { runs, base, other: all }),
  ]
}

async function restored(bench) {
  const { nexus, fresh, runs, urls } = bench
  const directory = fresh()
  await place(bench, directory, { url: urls.many })
  const scope = scopeIn(bench, directory)
  const access = { scope, home: directory }
  const skills = join(scope.root, 'skills')
  const kept = join(directory, 'kept')
  cpSync(skills, kept, { recursive: true })
  const again = async () => {
    const due = await nexus.findToRestore(scope, nexus.lockOf(scope))
    assert.ok(due.length === MANY && due.every(({ isKept }) => isKept))
    await nexus.restore(scope, { due, wanted: await nexus.fetchLocked(scope, due, access) }, at)
  }
  const copy = async (to) => {
    await program('cp', ['-r', kept, join(to, 'copy')])
    await program('sync', ['-f', to])
  }
  const restore = timed(
    again,
    () => remove(skills),
    () => assert.equal(placed(directory), MANY * FILES),
  )
  const paths = globSync('*/*', { cwd: skills })
  const hash = timed(() => paths.map((path) => createHash('sha256').update(readFileSync(join(skills, path))).digest())) // oxfmt-ignore
  const verify = timed(
    () => nexus.verifyCopies(scope),
    undefined,
    (_, found) => assert.ok(found.length === MANY && found.every(({ drift }) => drift.length === 0)),
  )
  return [
    await row('frozen restore of 100 from the cache, × `cp -r` and `sync`', '≤ 2', { runs, base: timed(copy, fresh, remove), other: restore }), // oxfmt-ignore
    await row('verify of 100, × reading and hashing', '≤ 1.25', { runs, base: hash, other: verify }),
  ]
}
