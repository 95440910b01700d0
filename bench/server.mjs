// What a server feels: the prompt of many skills, a rescan while it serves, and how soon it watches.
// Run by run.mjs in a process of its own: node server.mjs prompt|rescan|watch ROOT
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { printTable, show, spread } from './measure.mjs'
import { locate } from './peers.mjs'

const DIST = new URL('../dist/', import.meta.url)
const room = (name) => import(new URL(`${name}/index.js`, DIST))
const ANYTHING = { target: 'bench', os: 'linux', hasBin: () => true, hasEnv: () => true }

async function openCatalog(root) {
  const { createFolderSource, discover } = await room('sources')
  const { gate, NO_GATE_RULES } = await room('gate')
  const { buildCatalog } = await room('catalog')
  const source = createFolderSource({ id: 'bench', tier: 'extra', rank: 0, trusted: true, path: root })
  return async () => {
    const found = await discover([source])
    return buildCatalog({ ...found, gated: gate(found.skills, ANYTHING, NO_GATE_RULES) })
  }
}

async function prompt(root) {
  const { renderIndex } = await room('catalog')
  const catalog = await (await openCatalog(root))()
  const times = []
  let index
  for (let call = 0; call < 11; call++) {
    const startedAt = performance.now()
    index = renderIndex(catalog)
    times.push(performance.now() - startedAt)
  }
  printTable(
    `Prompt of ${catalog.skills.length} skills`,
    ['first, ms', 'later, ms', 'characters', 'named', 'left out'],
    [
      [
        show(times[0]),
        spread(times.slice(1)),
        index.characters,
        index.items.filter(({ shown }) => shown !== 'omitted').length,
        index.items.filter(({ shown }) => shown === 'omitted').length,
      ],
    ],
  )
}

/** What others in the process feel while some work goes on: the longest stall, and the longest pause for collecting garbage. */
async function felt(work) {
  const pauses = []
  const observer = new PerformanceObserver((list) => pauses.push(...list.getEntries().map(({ duration }) => duration)))
  observer.observe({ entryTypes: ['gc'] })
  await sleep(50)
  const monitor = monitorEventLoopDelay({ resolution: 1 })
  monitor.enable()
  await sleep(20)
  monitor.reset()
  pauses.length = 0
  const startedAt = performance.now()
  await work()
  const ms = performance.now() - startedAt
  await sleep(20)
  monitor.disable()
  observer.disconnect()
  return { ms, stallMs: monitor.max / 1e6, gcMs: Math.max(0, ...pauses) }
}

/** The longest that one turn of the event loop has the processor, in milliseconds: what others on the machine do is not in it. */
async function longestTurn(work) {
  const now = () => {
    // Only this call brings what the next one tells up to date; else it goes in steps of 4 ms.
    process.cpuUsage()
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let isGoing = true
  let longest = 0
  let last = now()
  const turn = () => {
    const at = now()
    longest = Math.max(longest, at - last)
    last = at
    if (isGoing) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  await new Promise((resolve) => setImmediate(resolve))
  isGoing = false
  return longest
}

/** A runtime that looks again, and one that notices an edit, with Node's own size of the young generation or another. */
async function rescan(root, flag) {
  const { createFolderSource, createRuntime } = await import(new URL('public/index.js', DIST))
  const source = createFolderSource({ id: 'bench', tier: 'extra', rank: 0, trusted: true, path: root })
  const runtime = await createRuntime({ sources: [source], facts: ANYTHING })
  const names = readdirSync(root)
  const read = () => names.forEach((name) => readFileSync(`${root}/${name}/SKILL.md`, 'utf8'))
  const file = `${root}/${names[0]}/SKILL.md`
  const text = readFileSync(file)
  let isEdited = false
  let told
  const edit = () => {
    isEdited = !isEdited
    const isTold = new Promise((resolve) => (told = resolve))
    writeFileSync(file, isEdited ? `${text}\n` : text)
    return isTold
  }
  const rows = []
  const row = async (what, work, hasTotal) => {
    const rounds = []
    for (let round = 0; round < 8; round++) {
      const startedAt = performance.now()
      read()
      const readMs = performance.now() - startedAt
      rounds.push({ ...(await felt(work)), readMs, turnMs: await longestTurn(work) })
    }
    const later = rounds.slice(1)
    const of = (key) => spread(later.map((each) => each[key]))
    const against = hasTotal ? spread(later.map(({ ms, readMs }) => ms / readMs)) : '–'
    rows.push([what, of('stallMs'), of('gcMs'), of('turnMs'), against])
  }
  await row('refresh', () => runtime.refresh(), true)
  const watcher = await runtime.watch({ debounceMs: 20, keepAlive: true, onReload: () => told?.() })
  try {
    await row('an edit', edit, false)
  } finally {
    writeFileSync(file, text)
  }
  await watcher.close()
  await runtime.close()
  const header = ['what', 'longest stall, ms', 'longest GC, ms', 'longest turn, ms of processor', '× reading the files']
  printTable(`Rescan of ${names.length} skills in a server, ${flag ?? 'Node as it is'}`, header, rows)
  if (flag !== undefined) return
  // What stalls most is moving what survives: less at a time when the young generation is small.
  const small = ['--max-semi-space-size=4', process.argv[1], 'rescan', root, '--max-semi-space-size=4']
  spawnSync(process.execPath, small, { stdio: 'inherit' })
}

/** Time until a watcher is ready, ours and chokidar's in turn; every change from then on must be told. */
async function watch(root) {
  const { createFolderSource, watchSources } = await room('sources')
  const source = createFolderSource({ id: 'bench', tier: 'extra', rank: 0, trusted: true, path: root })
  const chokidar = locate('chokidar', 'index.js')
  const watchFolder = chokidar === undefined ? undefined : (await import(pathToFileURL(chokidar).href)).watch
  const ours = async () => {
    const startedAt = performance.now()
    const watcher = await watchSources([source], { onChange: () => {} })
    const ms = performance.now() - startedAt
    await watcher.close()
    return { ms, mode: watcher.mode }
  }
  const theirs = async () => {
    const startedAt = performance.now()
    const watcher = watchFolder(root)
    await new Promise((resolve) => watcher.on('ready', resolve))
    const ms = performance.now() - startedAt
    await watcher.close()
    return ms
  }
  const first = await ours()
  const mine = []
  const against = []
  for (let round = 0; round < 5; round++) {
    const { ms } = await ours()
    mine.push(ms)
    if (watchFolder !== undefined) against.push(ms / (await theirs()))
  }
  printTable(
    `Watcher ready (${first.mode})`,
    ['first, ms', 'later, ms', '× chokidar'],
    [[show(first.ms), spread(mine), spread(against)]],
  )
}

const [what, root, flag] = process.argv.slice(2)
await { prompt, rescan, watch }[what](root, flag)
