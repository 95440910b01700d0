// The command line, whole processes: against an empty Node script, and against the peers.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, pairs, printTable, ratios, runOnce, show, spread } from './measure.mjs'
import { peerCommands } from './peers.mjs'

const BIN = join(import.meta.dirname, '../dist/cli/bin.cjs')
const CONFIG = `skills:
  disabled_skills: [nobody-has-this]
  entries:
    github-helper-00000: { env: { GITHUB_HELPER_00000_TOKEN: bench } }
agents:
  - id: main
    tools: { profile: full, deny: [exec] }
`

/** Places that commands are run in, and what they are compared with. */
export function prepare(work) {
  const plain = join(work, 'plain')
  const configured = join(work, 'configured')
  for (const directory of [join(plain, '.git'), configured]) mkdirSync(directory, { recursive: true })
  writeFileSync(join(configured, 'nexus.yaml'), CONFIG)
  const empty = join(work, 'empty.mjs')
  writeFileSync(empty, '\n')
  const environment = (home) => ({
    ...{ ...process.env, HOME: home, NO_UPDATE_NOTIFIER: '1', DO_NOT_TRACK: '1', DISABLE_TELEMETRY: '1', CI: '1' },
  })
  let homes = 0
  /** Each command has a Nexus home of its own, where its first run keeps compiled code. */
  const nexus = (args, { cwd = plain, label = `nexus ${args.join(' ')}` } = {}) => {
    const home = join(work, 'homes', String(homes++))
    mkdirSync(home, { recursive: true })
    const env = { ...environment(home), NEXUS_HOME: join(home, '.nexus') }
    return { label, argv: [process.execPath, BIN, ...args], cwd, env }
  }
  const peers = (kind, options) =>
    peerCommands(kind, options).map(({ home = work, ...command }) => ({
      ...{ cwd: plain, ...command, env: environment(home) },
    }))
  return {
    ...{ work, nexus, configured, peers },
    empty: { label: 'empty Node script', argv: [process.execPath, empty], cwd: plain, env: environment(work) },
  }
}

/** Ratio, milliseconds and bytes of the output of a command, each pair with a run of `base`. */
function compare(base, command, runs) {
  try {
    const found = pairs(
      runs,
      () => runOnce(base),
      () => runOnce(command),
    )
    const ms = median(found.map(({ b }) => b.ms))
    return { ratio: spread(ratios(found, 'ms')), ms: show(ms), bytes: found.at(-1).b.stdout.length }
  } catch (error) {
    return { ratio: 'failed', ms: error.message.split('\n').slice(0, 2).join(' ').slice(0, 90), bytes: '' }
  }
}

/** Commands that need no skill. */
export function start(places, { runs }) {
  const ours = [['--version'], ['--help'], ['config', 'check']].map((args) => places.nexus(args))
  const rows = [...ours, ...places.peers('version')].map((command) => {
    const { ratio, ms } = compare(places.empty, command, runs)
    return [command.label, ratio, ms]
  })
  printTable('Start (× an empty Node script)', ['command', '× empty Node', 'ms'], rows)
}

/** Commands that look at `count` skills. */
export function lists(places, { root, projects, count, runs }) {
  const [, , , one] = readdirSync(root)
  const json = ['--json', '--skills-dir', root]
  const list = places.nexus(['skills', 'list', ...json], { label: 'nexus skills list' })
  const showOne = places.nexus(['skills', 'show', one, ...json], { label: 'nexus skills show' })
  const others = [
    places.nexus(['skills', 'list', ...json], { cwd: places.configured, label: 'nexus skills list, with nexus.yaml' }),
    places.nexus(['prompt', '--skills-dir', root], { label: 'nexus prompt' }),
  ]
  const rows = [list, showOne, ...others].map((command) => {
    const { ratio, ms, bytes } = compare(places.empty, command, runs)
    return [command.label, ratio, ms, memory(command, places.work), bytes]
  })
  printTable(`Commands, ${count} skills`, ['command', '× empty Node', 'ms', 'peak MiB', 'bytes out'], rows)
  const against = Object.entries({ list, show: showOne }).flatMap(([kind, ours]) =>
    places.peers(kind, { projects, one }).map((command) => {
      const { ratio, ms, bytes } = compare(ours, command, Math.min(runs, 3))
      return [command.label, ours.label, ratio, ms, bytes]
    }),
  )
  const header = ['command', 'ours', '× ours', 'ms', 'bytes out']
  printTable(`Peers' commands, ${count} skills (× ours in the same pair; more is slower)`, header, against)
}

/** Peak memory in MiB of a Node command, from a run of its own. */
function memory(command, work) {
  const probe = join(work, 'peak.cjs')
  const file = join(work, 'peak.txt')
  const report = `require('fs').writeFileSync(${JSON.stringify(file)}, String(process.resourceUsage().maxRSS))`
  writeFileSync(probe, `process.on('exit', () => ${report})\n`)
  try {
    const [node, ...args] = command.argv
    runOnce({ ...command, argv: [node, '--require', probe, ...args] })
    return show(Number(readFileSync(file, 'utf8')) / 1024)
  } catch {
    return 'failed'
  }
}
