// What a confined `true` costs: our sandbox, bubblewrap alone with the same confinement, and a plain process, in turn; and what a large
// workspace and many changes cost. Run it as a normal user too: root works in a copy, which has a limit of 20,000 files.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { median, printTable, show, spread } from './measure.mjs'

const ROUNDS = 30
const DEPENDENCY_FILES = 60_000

const ended = (file, args, options) =>
  new Promise((resolve, reject) => {
    spawn(file, args, { stdio: 'ignore', ...options })
      .on('error', reject)
      .on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${file}: exit code ${code}`))))
  })

// A root of its own in a place that other users can enter: commands run as another user where we are root.
const work = mkdtempSync(join(tmpdir(), 'nexus-bench-sandbox-'))
chmodSync(work, 0o755)
const workspace = join(work, 'workspace')
mkdirSync(workspace)
const system =
  '--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --ro-bind /etc /etc --dev /dev --proc /proc --tmpfs /tmp'
const bwrap = [
  ...system.split(' '),
  '--bind',
  workspace,
  '/work',
  '--chdir',
  '/work',
  ...'--unshare-all --new-session --die-with-parent --clearenv --cap-drop ALL -- true'.split(' '),
]

const { createSandbox } = await import(new URL('../dist/machine/sandbox/index.js', import.meta.url))
const sandbox = await createSandbox({ kind: 'local', projectId: 'bench', nexusHome: join(work, 'home') })
/** The same with ten programs of a home, each an installation of its own. */
function withPrograms() {
  const person = join(work, 'person')
  const names = Array.from({ length: 10 }, (_, index) => `tool-${index}`)
  for (const name of names) {
    const directory = join(person, '.local/share/uv/tools', name)
    mkdirSync(join(directory, 'bin'), { recursive: true })
    writeFileSync(join(directory, 'bin', name), '#!/bin/sh\n', { mode: 0o755 })
    for (let file = 0; file < 200; file++) writeFileSync(join(directory, `m${file}.py`), '')
  }
  const programs = { names, home: person, path: [], variable: () => undefined }
  return createSandbox({ kind: 'local', projectId: 'bench-programs', nexusHome: join(work, 'home'), programs })
}
const mounting = await withPrograms()

/** A workspace with 60,000 files in `node_modules` beside an empty one: the first command of each, and later ones. */
async function measureDependencies() {
  const times = { empty: [], full: [], 'empty, later': [], 'full, later': [] }
  const timed = async (name, directory) => {
    const at = performance.now()
    const { exitCode, stderr } = await sandbox.run({ command: 'true', workspace: directory })
    if (exitCode !== 0) throw new Error(stderr)
    times[name].push(performance.now() - at)
  }
  let full = join(work, 'full')
  for (let file = 0; file < DEPENDENCY_FILES; file++) {
    const directory = join(full, 'node_modules', `p${Math.floor(file / 60)}`)
    if (file % 60 === 0) mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, `f${file}.js`), '')
  }
  for (let round = 0; round < 5; round++) {
    const empty = join(work, `empty-${round}`)
    mkdirSync(empty)
    // At another path it is a workspace that the sandbox has not seen.
    const moved = join(work, `full-${round}`)
    renameSync(full, moved)
    full = moved
    await timed('empty', empty)
    await timed('full', full)
    await timed('empty, later', empty)
    await timed('full, later', full)
  }
  const against = (name, base) => spread(times[name].map((ms, round) => ms / times[base][round]))
  printTable(
    `${DEPENDENCY_FILES} files in node_modules`,
    ['command', 'ms', '× in an empty workspace'],
    [
      ['first', show(median(times.full)), against('full', 'empty')],
      ['later', show(median(times['full, later'])), against('full, later', 'empty, later')],
    ],
  )
}

/** A large workspace beside an empty one, and 1,000 of its files changed beside `cp -r` and `sync` of as many. */
async function measureLarge() {
  const files = process.getuid() === 0 ? 18_000 : 100_000
  const [large, empty, part] = ['large', 'none', 'part'].map((name) => join(work, name))
  mkdirSync(empty)
  for (let file = 0; file < files; file++) {
    const directory = join(large, `d${Math.floor(file / 1_000)}`, `e${Math.floor(file / 100) % 10}`)
    if (file % 100 === 0) mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, `f${file % 100}`), 'x'.repeat(200))
  }
  const run = async (command, directory) => {
    const at = performance.now()
    const { exitCode, stderr, notes } = await sandbox.run({ command, workspace: directory })
    if (exitCode !== 0 || notes.length > 0) throw new Error(`${stderr} ${notes.join(' ')}`)
    return performance.now() - at
  }
  const timedEnd = async (file, args) => {
    const at = performance.now()
    await ended(file, args)
    return performance.now() - at
  }
  const first = await run('true', large)
  await run('true', empty)
  const rows = []
  for (let round = 0; round < 15; round++)
    rows.push({
      bare: await timedEnd('bwrap', bwrap),
      empty: await run('true', empty),
      large: await run('true', large),
    })
  const changes = []
  for (let round = 0; round < 5; round++) {
    const only = await run('for f in d1/*/*; do printf x > /tmp/x; done', large)
    const delays = monitorEventLoopDelay({ resolution: 1 })
    delays.enable()
    const taken = (await run(`for f in d1/*/*; do printf ${round} > $f; done`, large)) - only
    delays.disable()
    await ended('sync', [])
    const copied = await timedEnd('sh', ['-c', `cp -r ${join(large, 'd1')} ${part} && sync`])
    rmSync(part, { recursive: true })
    changes.push({ taken, copied, stall: delays.max / 1e6 })
  }
  const of = (list, key, base) => spread(list.map((row) => row[key] / row[base]))
  printTable(
    `A workspace of ${files} files (the first command took ${show(first)} ms)`,
    ['', 'ms', 'ratio'],
    [
      ['true, × bubblewrap alone', show(median(rows.map((row) => row.large))), of(rows, 'large', 'bare')],
      ['true, × in an empty workspace', show(median(rows.map((row) => row.large))), of(rows, 'large', 'empty')],
      [
        '1,000 changed files taken back, × cp -r and sync of as many',
        show(median(changes.map((row) => row.taken))),
        of(changes, 'taken', 'copied'),
      ],
      ['longest stall of the event loop meanwhile', show(median(changes.map((row) => row.stall))), ''],
    ],
  )
}

/** A copy of 18,000 files, as root has it: the first one beside `cp -r`, later commands beside `git status`. */
async function measureMirror() {
  const [large, copy] = ['mirrored', 'copied'].map((name) => join(work, name))
  for (let file = 0; file < 18_000; file++) {
    const directory = join(large, `d${Math.floor(file / 100)}`)
    if (file % 100 === 0) mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, `f${file % 100}`), 'x'.repeat(1_900))
  }
  const git = (...args) => ended('git', ['-c', 'safe.directory=*', '-c', 'gc.auto=0', '-C', large, ...args])
  await git('init', '-q')
  await git('add', '.')
  await git('-c', 'user.name=u', '-c', 'user.email=e', 'commit', '-qm', 'x')
  await git('repack', '-adq')
  const timed = async (step) => {
    const at = performance.now()
    await step()
    return performance.now() - at
  }
  const mirrors = await createSandbox({
    kind: 'local',
    projectId: 'mirror',
    nexusHome: join(work, 'home'),
    workspaceMode: 'mirror',
  })
  const delays = monitorEventLoopDelay({ resolution: 1 })
  try {
    await mirrors.run({ command: 'true', workspace })
    await timed(() => ended('cp', ['-r', large, `${copy}-0`]))
    delays.enable()
    const first = await timed(() => mirrors.run({ command: 'true', workspace: large }))
    const copied = await timed(() => ended('cp', ['-r', large, copy]))
    const later = []
    for (let round = 0; round < 7; round++) {
      const status = await timed(() => git('status'))
      later.push({ status, ms: await timed(() => mirrors.run({ command: 'true', workspace: large })) })
    }
    printTable(
      'A copy of 18,000 files',
      ['', 'ms', 'ratio'],
      [
        ['first copy, × cp -r', show(first), show(first / copied)],
        [
          'later command, × git status',
          show(median(later.map(({ ms }) => ms))),
          spread(later.map(({ ms, status }) => ms / status)),
        ],
        ['longest stall of the event loop', show(delays.max / 1e6), ''],
      ],
    )
  } finally {
    await mirrors.close()
  }
}

try {
  const startedAt = performance.now()
  await sandbox.run({ command: 'true', workspace })
  const firstMs = performance.now() - startedAt
  const mountedAt = performance.now()
  const { notes } = await mounting.run({ command: 'tool-9', workspace })
  if (notes.length > 0) throw new Error(notes.join(' '))
  const firstMountedMs = performance.now() - mountedAt
  const runIn = async (of) => {
    const { exitCode, stderr } = await of.run({ command: 'true', workspace })
    if (exitCode !== 0) throw new Error(stderr)
  }
  const variants = {
    'plain spawn': () => ended('true', []),
    'bubblewrap alone': () => ended('bwrap', bwrap),
    'nexus, local sandbox': () => runIn(sandbox),
    'nexus, ten programs of a home': () => runIn(mounting),
  }
  const times = Object.fromEntries(Object.keys(variants).map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    const names = Object.keys(variants)
    for (const name of round % 2 ? names : names.reverse()) {
      const at = performance.now()
      await variants[name]()
      times[name].push(performance.now() - at)
    }
  }
  const against = (name, base) => spread(times[name].map((ms, round) => ms / times[base][round]))
  printTable(
    'A confined `true`',
    ['variant', 'ms', '× bubblewrap alone', '× plain spawn'],
    Object.keys(variants).map((name) => [
      name,
      show(median(times[name])),
      against(name, 'bubblewrap alone'),
      against(name, 'plain spawn'),
    ]),
  )
  console.log(`\nTen programs, × without: ${against('nexus, ten programs of a home', 'nexus, local sandbox')}`)
  console.log(
    `The first command also starts the runner: ${show(firstMs)} ms; with ten programs ${show(firstMountedMs)}.`,
  )
  await measureDependencies()
  await measureLarge()
  await measureMirror()
} finally {
  await sandbox.close()
  await mounting.close()
  rmSync(work, { recursive: true, force: true })
}
