// The command line, whole processes: against an empty Node script, against a process that only reads, against the peers.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
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

/** Places and scripts that commands are run in and compared with. */
export function prepare(work) {
  const home = join(work, 'home')
  const plain = join(work, 'plain')
  const configured = join(work, 'configured')
  for (const directory of [home, plain, configured]) mkdirSync(directory, { recursive: true })
  mkdirSync(join(plain, '.git'), { recursive: true })
  writeFileSync(join(configured, 'nexus.yaml'), CONFIG)
  const empty = join(work, 'empty.mjs')
  writeFileSync(empty, '\n')
  const reader = join(work, 'reader.mjs')
  writeFileSync(
    reader,
    `import fs from 'node:fs'
let count = 0
for (const entry of fs.readdirSync(process.argv[2], { withFileTypes: true })) {
  if (!entry.isDirectory()) continue
  fs.readFileSync(\`\${process.argv[2]}/\${entry.name}/SKILL.md\`, 'utf8')
  count++
}
fs.writeSync(1, \`\${count}\\n\`)
`,
  )
  const env = {
    ...process.env,
    HOME: home,
    NEXUS_HOME: join(home, '.nexus'),
    NO_UPDATE_NOTIFIER: '1',
    DO_NOT_TRACK: '1',
    DISABLE_TELEMETRY: '1',
    CI: '1',
  }
  const node = (label, ...argv) => ({ label, argv: [process.execPath, ...argv], cwd: plain, env })
  return {
    work,
    empty: node('empty Node script', empty),
    reader: (root) => node('only reads every SKILL.md', reader, root),
    nexus: (args, { cwd = plain, label = `nexus ${args.join(' ')}` } = {}) => ({ ...node(label, BIN, ...args), cwd }),
    configured,
    peers: (kind, options) =>
      peerCommands(kind, options).map((command) => ({
        ...command,
        cwd: command.cwd ?? plain,
        env: command.home === undefined ? env : { ...env, HOME: command.home },
      })),
  }
}

function compare(base, command, runs) {
  try {
    const found = pairs(
      runs,
      () => runOnce(base),
      () => runOnce(command),
    )
    return {
      ratio: spread(ratios(found, 'ms')),
      ms: show(median(found.map(({ b }) => b.ms))),
      bytes: found.at(-1).b.stdout.length,
    }
  } catch (error) {
    return { ratio: 'failed', ms: error.message.split('\n').slice(0, 2).join(' ').slice(0, 90), bytes: '' }
  }
}

export function start(places, { runs }) {
  const commands = [
    places.nexus(['--version']),
    places.nexus(['--help']),
    places.nexus(['config', 'check']),
    ...places.peers('version'),
  ]
  const rows = commands.map((command) => {
    const { ratio, ms } = compare(places.empty, command, runs)
    return [command.label, ratio, ms]
  })
  printTable('Start (× an empty Node script)', ['command', '× empty Node', 'ms'], rows)
}

export function lists(places, { root, projects, count, runs }) {
  const list = places.nexus(['skills', 'list', '--json', '--skills-dir', root], { label: 'nexus skills list --json' })
  const withConfig = { ...list, cwd: places.configured, label: 'nexus skills list --json, with a nexus.yaml' }
  const one = readdirSync(root)[3]
  const show1 = places.nexus(['skills', 'show', one, '--json', '--skills-dir', root], {
    label: 'nexus skills show --json',
  })
  const prompt = places.nexus(['prompt', '--skills-dir', root], { label: 'nexus prompt' })
  const reader = places.reader(root)
  const rows = [list, withConfig, show1, prompt].map((command) => {
    const first = compare(places.empty, command, runs)
    return [
      command.label,
      first.ratio,
      compare(reader, command, runs).ratio,
      first.ms,
      memory(command, places.work),
      first.bytes,
    ]
  })
  rows.push([reader.label, compare(places.empty, reader, runs).ratio, '1', '', memory(reader, places.work), ''])
  printTable(
    `Commands, ${count} skills`,
    ['command', '× empty Node', '× a process that only reads', 'ms', 'peak MiB', 'bytes out'],
    rows,
  )
  const against = ['list', 'show'].flatMap((kind) =>
    places.peers(kind, { projects, one }).map((command) => {
      const { ratio, ms, bytes } = compare(kind === 'list' ? list : show1, command, Math.min(runs, 3))
      return [command.label, `nexus skills ${kind}`, ratio, ms, bytes]
    }),
  )
  printTable(
    `Peers' commands, ${count} skills (× ours in the same pair; more is slower)`,
    ['command', 'ours', '× ours', 'ms', 'bytes out'],
    against,
  )
}

/** Peak memory in MiB of a Node command, from a run of its own. */
function memory(command, work) {
  const probe = join(work, 'peak.cjs')
  const file = join(work, 'peak.txt')
  writeFileSync(
    probe,
    `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(file)}, String(process.resourceUsage().maxRSS)))\n`,
  )
  try {
    runOnce({ ...command, argv: [command.argv[0], '--require', probe, ...command.argv.slice(1)] })
    return show(Number(process.getBuiltinModule('node:fs').readFileSync(file, 'utf8')) / 1024)
  } catch {
    return 'failed'
  }
}
