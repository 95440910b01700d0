// The peers: where they are installed, their discovery in process, and their command lines. Those that are not installed are
// left out and named. NEXUS_BENCH_PEERS may name more folders (separated by ":") that hold a node_modules with peers.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const LIGHT = Object.keys(JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')).devDependencies)
const GIVEN = (process.env.NEXUS_BENCH_PEERS ?? '').split(':').filter((place) => place !== '')
const PLACES = [import.meta.dirname, join(import.meta.dirname, 'heavy'), ...GIVEN]

/** Which peers take part, in this process and those it starts: `all` that are installed, the `light` ones, or `none`. */
export function choosePeers(which) {
  process.env.NEXUS_BENCH_WHICH = which
}

/** A path inside an installed package, or undefined where it is not installed or takes no part. */
export function locate(name, file = '') {
  const which = process.env.NEXUS_BENCH_WHICH ?? 'all'
  if (which === 'none' || (which === 'light' && !LIGHT.includes(name))) return undefined
  const place = PLACES.find((each) => existsSync(join(each, 'node_modules', name, 'package.json')))
  return place === undefined ? undefined : join(place, 'node_modules', name, file)
}

const load = (name, file) => import(pathToFileURL(locate(name, file)).href)

/** The folders in which the peers' commands find the skills. Returns the folder that holds them. */
export function makeProjects(skills, work) {
  for (const link of ['openskills/.agent/skills', 'skills/.agents/skills', 'skillkit/.claude/skills']) {
    mkdirSync(dirname(join(work, link)), { recursive: true })
    symlinkSync(skills, join(work, link))
  }
  mkdirSync(join(work, 'openclaw/.openclaw'), { recursive: true })
  // It loads at most 200 skills a source by default.
  const settings = {
    agents: { defaults: { workspace: dirname(skills) } },
    skills: { limits: { maxCandidatesPerRoot: 20_000, maxSkillsLoadedPerSource: 20_000 } },
  }
  writeFileSync(join(work, 'openclaw/.openclaw/openclaw.json'), JSON.stringify(settings))
  return work
}

/**
 * Discovery in process. `open` imports the package, which is not measured, and gives a function that finds everything anew and
 * returns how many skills it found.
 */
export const DISCOVERIES = {
  openskills: {
    package: 'openskills',
    async open({ projects }) {
      process.chdir(join(projects, 'openskills'))
      const source = readFileSync(locate('openskills', 'dist/cli.js'), 'utf8')
      const from = source.indexOf('// src/utils/skills.ts')
      const to = source.indexOf('// src/commands/list.ts', from)
      const { findAllSkills } = await extracted('openskills', `${source.slice(from, to)}\nexport { findAllSkills }`)
      return () => findAllSkills().length
    },
  },
  skills: {
    package: 'skills',
    async open({ projects }) {
      process.chdir(join(projects, 'skills'))
      const source = readFileSync(locate('skills', 'dist/cli.mjs'), 'utf8')
        .replace(/\nmain\(\)\.finally[^\n]*\n/, '\n')
        .replace(/export \{\s*\};?\s*$/, 'export { listInstalledSkills };')
      const { listInstalledSkills } = await extracted('skills', source)
      return async () => (await listInstalledSkills({ global: false })).length
    },
  },
  'skills-ref, properties': {
    package: 'skills-ref',
    async open({ root }) {
      const { readProperties } = await load('skills-ref', 'dist/index.js')
      return async () => countOf(root, async (skill) => (await readProperties(skill)).name)
    },
  },
  'skills-ref, validate': {
    package: 'skills-ref',
    async open({ root }) {
      const { validate } = await load('skills-ref', 'dist/index.js')
      return async () => countOf(root, (skill) => validate(skill))
    },
  },
  skillkit: {
    package: '@skillkit/core',
    async open({ root }) {
      const { findAllSkills } = await load('@skillkit/core', 'dist/index.js')
      return () => findAllSkills([root]).length
    },
  },
  elizaOS: {
    package: '@elizaos/plugin-agent-skills',
    async open({ root }) {
      const { FileSystemSkillStore, loadSkillFromStorage } = await load('@elizaos/plugin-agent-skills', 'dist/index.js')
      return async () => {
        const store = new FileSystemSkillStore(root)
        await store.initialize?.()
        let count = 0
        for (const name of await store.listSkills())
          if (await loadSkillFromStorage(store, name, { validate: true })) count++
        return count
      }
    },
  },
  pi: {
    package: '@mariozechner/pi-coding-agent',
    async open({ root }) {
      const { loadSkillsFromDir } = await load('@mariozechner/pi-coding-agent', 'dist/core/skills.js')
      return () => loadSkillsFromDir({ dir: root, source: 'project' }).skills.length
    },
  },
  openclaw: {
    package: 'openclaw',
    async open({ root, projects }) {
      process.env.HOME = join(projects, 'openclaw')
      const dist = locate('openclaw', 'dist')
      const file = readdirSync(dist).find((name) => /^plugin-skills-.*\.mjs$/.test(name))
      const alias = /loadSkillRootRecords as (\w+)/.exec(readFileSync(join(dist, file), 'utf8'))[1]
      const loadRecords = (await load('openclaw', `dist/${file}`))[alias]
      const limits = { maxCandidatesPerRoot: 20_000, maxSkillsLoadedPerSource: 20_000 }
      return () => loadRecords({ dir: root, source: 'openclaw-workspace', config: { skills: { limits } } }).length
    },
  },
  deepagents: {
    package: 'deepagents',
    async open({ root }) {
      const { listSkills } = await load('deepagents', 'dist/index.js')
      return () => listSkills({ projectSkillsDir: root }).length
    },
  },
  Mastra: {
    package: '@mastra/core',
    async open({ root }) {
      const { Workspace, LocalSkillSource, LocalFilesystem } = await load('@mastra/core', 'dist/workspace/index.js')
      const basePath = dirname(root)
      return async () => {
        const workspace = new Workspace({
          skillSource: new LocalSkillSource({ basePath }),
          skills: ['./skills'],
          filesystem: new LocalFilesystem({ basePath }),
        })
        return (await workspace.skills.list()).length
      }
    },
  },
}

async function countOf(root, works) {
  let count = 0
  for (const name of readdirSync(root)) {
    try {
      if (await works(join(root, name))) count++
    } catch {
      // It refuses this one; the count tells.
    }
  }
  return count
}

/** Packages that export nothing: a module made of their own text, beside it so that its imports are found. */
async function extracted(name, text) {
  const file = locate(name, `dist/nexus-bench-${process.pid}.mjs`)
  writeFileSync(file, text)
  try {
    return await import(pathToFileURL(file).href)
  } finally {
    rmSync(file)
  }
}

const COMMANDS = {
  'skills-ref': ['skills-ref', 'dist/cli.js'],
  openskills: ['openskills', 'dist/cli.js'],
  skills: ['skills', 'bin/cli.mjs'],
  skillkit: ['skillkit', 'dist/cli.js'],
  pi: ['@mariozechner/pi-coding-agent', 'dist/cli.js'],
  openclaw: ['openclaw', 'openclaw.mjs'],
}

/** The peers' commands for one kind of work, as `{ label, argv, cwd, home }`. */
export function peerCommands(kind, { projects, one } = {}) {
  const at = (name) => (projects === undefined ? undefined : join(projects, name))
  const kinds = {
    version: Object.keys(COMMANDS).map((peer) => [peer, ['--version']]),
    list: [
      ['openskills', ['list'], at('openskills')],
      ['skills', ['list', '--json'], at('skills')],
      ['skillkit', ['list', '--json'], at('skillkit')],
      ['openclaw', ['skills', 'list', '--json'], at('openclaw'), at('openclaw')],
    ],
    show: [
      ['openskills', ['read', one], at('openskills')],
      ['openclaw', ['skills', 'info', one], at('openclaw'), at('openclaw')],
    ],
  }
  return kinds[kind].flatMap(([peer, args, cwd, home]) => {
    const file = locate(...COMMANDS[peer])
    if (file === undefined) return []
    return [{ label: `${peer} ${args.join(' ')}`, argv: [process.execPath, file, ...args], cwd, home }]
  })
}

/** Names of the peers that are not installed. */
export function missingPeers() {
  return [...new Set(Object.values(DISCOVERIES).map((peer) => peer.package))].filter(
    (name) => locate(name) === undefined,
  )
}
