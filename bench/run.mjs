// npm run bench -- [what…] [--sizes 100,1000,10000] [--runs 7] [--peers all|light|none] [--tree plain|real]
//   what: commands  discovery  sandbox  store  agents  files  mcp  install  server  network; default all of them
//   npm run bench -- peers [heavy]      installs the peers below bench/ (heavy: more than 2 GB)
// Needs a build (npm run build). Everything is made in a temporary folder and removed again.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { lists, prepare, start } from './commands.mjs'
import { checkValues, discovery } from './discovery.mjs'
import { choosePeers, makeProjects, missingPeers } from './peers.mjs'
import { KINDS, makeTree } from './tree.mjs'

const PARTS = ['commands', 'discovery', 'sandbox', 'store', 'agents', 'files', 'mcp', 'install', 'server', 'network']

/** Parts that make what they need themselves. */
const OWN = {
  sandbox: () => import('./sandbox.mjs'),
  store: async (runs) => (await import('./store.mjs')).store({ runs }),
  agents: async (runs) => (await import('./agents.mjs')).agents(runs),
  files: async (runs) => (await import('./files.mjs')).files(runs),
  mcp: async (runs) => (await import('./mcp.mjs')).mcp(runs),
  install: async (runs) => (await import('./install.mjs')).install(runs),
  server: async (runs) => (await import('./server.mjs')).server(runs),
  network: async (runs) => (await import('./network.mjs')).network(runs),
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    sizes: { type: 'string', default: '100,1000,10000' },
    runs: { type: 'string', default: '7' },
    peers: { type: 'string', default: 'all' },
    tree: { type: 'string', default: 'plain' },
  },
})

function installPeers(heavy) {
  const folders = [import.meta.dirname, ...(heavy ? [join(import.meta.dirname, 'heavy')] : [])]
  return folders.every(
    (cwd) => spawnSync('npm', ['install', '--no-audit', '--no-fund'], { cwd, stdio: 'inherit' }).status === 0,
  )
    ? 0
    : 1
}

async function bench(parts, { sizes, runs, tree }) {
  const work = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-bench-')))
  try {
    console.log(
      `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, load ${loadavg()[0].toFixed(1)}, ${new Date().toISOString()}, ${runs} pairs, ${tree} tree`,
    )
    if (missingPeers().length > 0)
      console.log(`not installed, left out: ${missingPeers().join(', ')} (npm run bench -- peers [heavy])`)
    const places = prepare(join(work, 'places'))
    if (parts.includes('commands')) start(places, { runs })
    for (const count of parts.some((part) => !Object.hasOwn(OWN, part)) ? sizes : []) {
      const root = makeTree(join(work, String(count)), count, tree)
      const projects = join(work, 'projects', String(count))
      mkdirSync(projects, { recursive: true })
      makeProjects(root, projects)
      // What changed in the last 3 seconds is never kept.
      await setTimeout(4_000)
      await checkValues(root)
      if (parts.includes('discovery')) discovery({ root, projects, count, runs })
      if (parts.includes('commands')) lists(places, { root, projects, count, runs })
    }
    for (const part of parts) await OWN[part]?.(runs)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const wrong = positionals.find((part) => part !== 'peers' && part !== 'heavy' && !PARTS.includes(part))
if (wrong !== undefined) {
  console.error(`There is no part '${wrong}'. Parts: ${PARTS.join(', ')}`)
  process.exitCode = 2
} else if (!Object.hasOwn(KINDS, values.tree)) {
  console.error(`There is no tree '${values.tree}'. Trees: ${Object.keys(KINDS).join(', ')}`)
  process.exitCode = 2
} else if (positionals[0] === 'peers') {
  process.exitCode = installPeers(positionals.includes('heavy'))
} else if (!existsSync(join(import.meta.dirname, '../dist/cli/bin.cjs'))) {
  console.error('There is no build: npm run build')
  process.exitCode = 2
} else {
  choosePeers(values.peers)
  const sizes = values.sizes.split(',').map(Number)
  await bench(positionals.length > 0 ? positionals : PARTS, { sizes, runs: Number(values.runs), tree: values.tree })
}
