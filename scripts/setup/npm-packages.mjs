// Are the packages of package-lock.json in node_modules; if not, `npm ci`.
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { ROOT, runQuietly, say } from './process.mjs'

/** True when every package of the lock that belongs on this machine is in node_modules in the locked version. */
export function packagesMatchLock() {
  const wanted = readPackages('package-lock.json')
  const installed = readPackages('node_modules/.package-lock.json')
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true
    if (installed[path] === undefined) return !belongsHere(entry)
    return installed[path].version === entry.version && existsSync(join(ROOT, path))
  })
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(join(ROOT, file), 'utf8')).packages
  } catch (error) {
    // No node_modules yet, or an install that was cut off before it wrote its list.
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return {}
    throw error
  }
}

/** Platform packages name their systems; those with a `libc` come in pairs of which npm picks one. */
function belongsHere(entry) {
  if (entry.optional !== true) return true
  const fits = (list, value) => list === undefined || list.includes(value)
  const isPlatformPackage = entry.os !== undefined || entry.cpu !== undefined
  return (
    isPlatformPackage && entry.libc === undefined && fits(entry.os, process.platform) && fits(entry.cpu, process.arch)
  )
}

/** `npm ci` with the development packages, whatever NODE_ENV says. */
export async function installPackages() {
  say('npm packages: npm ci (about 200 MB, half of it the pinned Node)')
  await runNpm(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'])
}

/** Runs npm, by preference with a Node outside of node_modules, because npm may be about to replace that directory. */
export async function runNpm(args, options = {}) {
  const own = resolve(ROOT, 'node_modules')
  const outside = (process.env.PATH ?? '').split(delimiter).filter((directory) => !resolve(directory).startsWith(own))
  const hasNpm = (directory) => isExecutable(join(directory, 'npm'))
  const npmFile = process.env.npm_execpath
  if (outside.some(hasNpm))
    return runQuietly('npm', args, { env: { ...process.env, PATH: outside.join(delimiter) }, ...options })
  if (npmFile !== undefined) return runQuietly(process.execPath, [npmFile, ...args], options)
  throw new Error('npm is not on the PATH; install Node with npm from https://nodejs.org')
}

/** True when that file may be run. */
export function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    // Missing and forbidden are the same here: it cannot be run.
    return false
  }
}
