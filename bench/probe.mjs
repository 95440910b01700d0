// One measurement in a process of its own: node probe.mjs VARIANT ROOT PROJECTS
// Prints { first, later, count, rss } as JSON: the first call (what a command pays), the median of two later ones (what a
// server pays), the number of skills, and the peak of memory in MiB.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { median } from './measure.mjs'
import { DISCOVERIES } from './peers.mjs'

const DIST = new URL('../dist/', import.meta.url)
const load = (name) => import(new URL(`${name}/index.js`, DIST))

/** What gating is measured with: programs are looked for where a machine has them, two variables are set. */
const FACTS = {
  target: 'bench',
  os: 'linux',
  hasBin: (name) => ['/usr/local/bin', '/usr/bin', '/bin'].some((directory) => existsSync(`${directory}/${name}`)),
  hasEnv: (name) => name === 'PATH' || name === 'HOME',
}

async function folderSource(root, keepIn) {
  const { createFolderSource, discover } = await load('skills/sources')
  const source = createFolderSource({ id: 'bench', tier: 'extra', rank: 0, trusted: true, path: root, keepIn })
  return () => discover([source])
}

const VARIANTS = {
  /** The base of every ratio: a loop that only reads the same files. */
  read: async (root) => () => {
    let count = 0
    for (const entry of readdirSync(root, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue
      readFileSync(`${root}/${entry.name}/SKILL.md`, 'utf8')
      count++
    }
    return count
  },
  'nexus, discover': async (root) => {
    const find = await folderSource(root)
    return async () => (await find()).skills.length
  },
  /** What a process before it read is kept, as in a Nexus home. */
  'nexus, discover, unchanged': async (root, projects) => {
    const directory = `${projects}/kept`
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const find = await folderSource(root, { directory, version: 'bench' })
    return async () => (await find()).skills.length
  },
  'nexus, discover + gate + catalog': async (root) => {
    const find = await folderSource(root)
    const { gate, NO_GATE_RULES } = await load('skills/gate')
    const { buildCatalog } = await load('skills/catalog')
    return async () => {
      const found = await find()
      const catalog = buildCatalog({ ...found, gated: gate(found.skills, FACTS, NO_GATE_RULES) })
      return catalog.skills.length + catalog.held.length + catalog.shadowed.length
    }
  },
  /** Every file read whole, parsed and checked as strictly as the standard asks. */
  'nexus, strict': async (root) => {
    const { checkStrict } = await load('skills/format')
    return () => {
      const names = readdirSync(root)
      for (const name of names) {
        const path = `${root}/${name}/SKILL.md`
        checkStrict(readFileSync(path), { path, directoryName: name, profile: 'spec' })
      }
      return names.length
    }
  },
}

const [variant, root, projects] = process.argv.slice(2)
const run = await (VARIANTS[variant]?.(root, projects) ?? DISCOVERIES[variant].open({ root, projects }))
const times = []
let count = 0
for (let call = 0; call < 3; call++) {
  const startedAt = performance.now()
  count = await run()
  times.push(performance.now() - startedAt)
}
const result = { first: times[0], later: median(times.slice(1)), count, rss: process.resourceUsage().maxRSS / 1024 }
process.stdout.write(`\n${JSON.stringify(result)}\n`)
