// What a confined `true` costs: our sandbox, bubblewrap alone with the same confinement, and a plain process, in turn.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, printTable, show, spread } from './measure.mjs'

const ROUNDS = 30

const ended = (file, args, options) =>
  new Promise((resolve, reject) => {
    spawn(file, args, { stdio: 'ignore', ...options })
      .on('error', reject)
      .on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${file}: exit code ${code}`))))
  })

// A root of its own in a place that other users can enter: commands run as another user where we are root.
const work = mkdtempSync(join(tmpdir(), 'nexus-bench-sandbox-'))
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

const { createSandbox } = await import(new URL('../dist/sandbox/index.js', import.meta.url))
const sandbox = await createSandbox({ kind: 'local', projectId: 'bench', nexusHome: join(work, 'home') })
try {
  const startedAt = performance.now()
  await sandbox.run({ command: 'true', workspace })
  const firstMs = performance.now() - startedAt
  const variants = {
    'plain spawn': () => ended('true', []),
    'bubblewrap alone': () => ended('bwrap', bwrap),
    'nexus, local sandbox': async () => {
      const { exitCode, stderr } = await sandbox.run({ command: 'true', workspace })
      if (exitCode !== 0) throw new Error(stderr)
    },
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
  console.log(`\nThe first command also starts the runner: ${show(firstMs)} ms.`)
} finally {
  await sandbox.close()
  rmSync(work, { recursive: true, force: true })
}
