// What a server feels: the prompt of many skills, a rescan while it serves, and how soon it watches.
// Run by run.mjs in a process of its own: node server.mjs prompt|rescan|watch ROOT
import { readdirSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
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

async function rescan(root) {
  const scan = await openCatalog(root)
  const rounds = 7
  const stalls = []
  const against = []
  let total = 0
  for (let round = 0; round < rounds; round++) {
    const readAt = performance.now()
    for (const name of readdirSync(root)) readFileSync(`${root}/${name}/SKILL.md`, 'utf8')
    const readMs = performance.now() - readAt
    await new Promise((resolve) => setTimeout(resolve, 50))
    const monitor = monitorEventLoopDelay({ resolution: 1 })
    monitor.enable()
    await new Promise((resolve) => setTimeout(resolve, 20))
    monitor.reset()
    const startedAt = performance.now()
    const catalog = await scan()
    const ms = performance.now() - startedAt
    await new Promise((resolve) => setTimeout(resolve, 20))
    monitor.disable()
    if (round === 0) continue
    stalls.push(monitor.max / 1e6)
    against.push(ms / readMs)
    total = catalog.skills.length + catalog.held.length
  }
  printTable(
    `Rescan of ${total} skills in a server`,
    ['longest stall of the event loop, ms', 'whole rescan × reading the files'],
    [[spread(stalls), spread(against)]],
  )
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

const [what, root] = process.argv.slice(2)
await { prompt, rescan, watch }[what](root)
