// After a change of packages: adds to package-lock.json the platform packages that npm left out because the registry
// in use does not carry them. Without their entries `npm ci` refuses the lock on any machine. See docs/decisions.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './setup/process.mjs'

const FILE = join(ROOT, 'package-lock.json')
/** Words in the names of platform packages, and the words of npm for the same. */
const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32']
const PROCESSORS = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64']

/** Optional dependencies in the lock that have no entry of their own: `[name, version, dev]`. */
export function missingEntries(lock) {
  return Object.values(lock.packages).flatMap((entry) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => lock.packages[`node_modules/${name}`] === undefined)
      .map(([name, version]) => ({ name, version, dev: entry.dev === true })),
  )
}

/** The entry of a platform package, as far as its name tells. npm fills in the digest when it can. */
function toEntry({ name, version, dev }) {
  const words = name.split('/').at(-1).split('-')
  const os = SYSTEMS.find((system) => words.includes(system))
  const cpu = PROCESSORS.find((processor) => words.includes(processor))
  if (os === undefined || cpu === undefined)
    throw new Error(`${name} names no platform; run npm install where it can be had`)
  const libc = words.some((word) => word.startsWith('musl'))
    ? 'musl'
    : words.some((word) => word.startsWith('gnu'))
      ? 'glibc'
      : undefined
  return { version, cpu: [cpu], ...(dev && { dev }), ...(libc && { libc: [libc] }), optional: true, os: [os] }
}

if (import.meta.filename === process.argv[1]) {
  const lock = JSON.parse(readFileSync(FILE, 'utf8'))
  const missing = missingEntries(lock)
  for (const item of missing) lock.packages[`node_modules/${item.name}`] = toEntry(item)
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')))
  writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(`${missing.length} entries added`)
}
