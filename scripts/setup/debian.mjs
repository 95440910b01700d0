// The programs that the local sandbox needs on Linux. macOS brings its own sandbox.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isExecutable } from './npm-packages.mjs'
import { runQuietly, say } from './process.mjs'

/** Command to Debian package. */
const NEEDED = { bwrap: 'bubblewrap', socat: 'socat' }
const APT = '/usr/bin/apt-get'

/** Commands that the sandbox needs and that are not on the PATH; none on other systems than Linux. */
export function missingCommands() {
  if (process.platform !== 'linux') return []
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/bin']
  return Object.keys(NEEDED).filter((name) => !directories.some((directory) => isExecutable(join(directory, name))))
}

/** Installs them when we are root and apt-get is there; otherwise says what to type. Never stops the setup. */
export async function installCommands() {
  const packages = missingCommands().map((name) => NEEDED[name])
  const byHand = existsSync(APT)
    ? `${process.getuid() === 0 ? '' : 'sudo '}apt-get update && ${process.getuid() === 0 ? '' : 'sudo '}apt-get install -y ${packages.join(' ')}`
    : `install ${packages.join(', ')} with your package manager`
  if (process.getuid() !== 0 || !existsSync(APT)) {
    say(`the sandbox needs ${packages.join(', ')}; to add: ${byHand}`)
    return 'skipped'
  }
  say(`Debian packages: apt-get install ${packages.join(' ')}`)
  try {
    await aptInstall(packages)
    return 'done'
  } catch (error) {
    say(`apt-get failed, so commands of skills cannot run yet; to try by hand: ${byHand}\n${error.message}`)
    return 'skipped'
  }
}

async function aptInstall(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const install = () =>
    runQuietly(APT, ['install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', ...packages], { env })
  try {
    await install()
  } catch {
    // A fresh machine has no package lists, or old ones.
    await runQuietly(APT, ['update'], { env })
    await install()
  }
}
