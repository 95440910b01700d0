// The Node that package-lock.json pins (devDependency `node`). Its install script may be blocked by npm settings.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { runNpm } from './npm-packages.mjs'
import { ROOT, say } from './process.mjs'

const OWN_BINARY = 'node_modules/node/bin/node'
const LINK = 'node_modules/.bin/node'
const OLDEST_MAJOR = 24

/** Path of the pinned Node when it is there and runs in the locked version. */
export function pinnedNode() {
  const file = join(ROOT, LINK)
  if (!existsSync(file)) return undefined
  const answer = spawnSync(file, ['--version'], { encoding: 'utf8' })
  return answer.stdout?.trim() === `v${pinnedVersion()}` ? file : undefined
}

function pinnedVersion() {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  return lock.packages['node_modules/node'].version
}

/** Fetches the binary for this platform from npm without running any install script. */
export async function installPinnedNode() {
  const version = pinnedVersion()
  say(`Node ${version}: fetching it from npm`)
  const staging = mkdtempSync(join(ROOT, 'node_modules/.node-'))
  try {
    const name = platformPackage()
    // A package.json keeps npm in that directory; `--prefix` would also move npm's own settings.
    writeFileSync(join(staging, 'package.json'), '{}')
    const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    await runNpm(['install', ...flags, `${name}@${version}`], { cwd: staging })
    place(join(staging, 'node_modules', name, 'bin/node'))
  } catch (error) {
    if (Number.parseInt(process.versions.node, 10) < OLDEST_MAJOR) throw needNode(version, error)
    say(`Node ${version} cannot be had (${firstLine(error)}); going on with ${process.version}`)
    return 'skipped'
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  return 'done'
}

/** The names that the npm package `node` itself uses. */
function platformPackage() {
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'
  return [prefix, process.platform === 'win32' ? 'win' : process.platform, process.arch].join('-')
}

function place(binary) {
  chmodSync(binary, 0o755)
  mkdirSync(join(ROOT, 'node_modules/node/bin'), { recursive: true })
  mkdirSync(join(ROOT, 'node_modules/.bin'), { recursive: true })
  renameSync(binary, join(ROOT, OWN_BINARY))
  rmSync(join(ROOT, LINK), { force: true })
  symlinkSync('../node/bin/node', join(ROOT, LINK))
}

function firstLine(error) {
  return error.message.split('\n', 1)[0]
}

function needNode(version, cause) {
  return new Error(
    `Nexus needs Node ${OLDEST_MAJOR} or newer; this is ${process.version}, and Node ${version} could not be fetched.\n` +
      `Install it (npm install -g node@${OLDEST_MAJOR}, or https://nodejs.org) and try again.\n${cause.message}`,
    { cause },
  )
}
