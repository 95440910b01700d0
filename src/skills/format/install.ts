import type { InstallSpec, JsonValue } from '../../kernel/index.ts'
import { osNames } from './fields/table.ts'
import { isFine, rulesOf } from './strict/install-rules.ts'

/** Where something would be installed. */
export interface InstallGround {
  /** The target's system; any name that skills may write. */
  readonly os: string
  /** Whether the target has a program of that name. */
  readonly hasBin: (name: string) => boolean
  /** Absolute; what `~` means. */
  readonly home: string
  /** Absolute; where downloads go that name no directory of their own. */
  readonly toolsDirectory: string
  /** Whether system packages can be installed without sudo. */
  readonly isRoot: boolean
}

/** One install entry as commands for a person. `nexus skills deps --run` runs them when it is asked to. */
export interface InstallProposal {
  readonly id: string
  readonly kind: string
  readonly label?: string
  readonly bins: readonly string[]
  readonly os: readonly string[]
  /** One list of words for each command, in order; no shell is meant to read them. Empty when there is a `problem`. */
  readonly commands: readonly (readonly string[])[]
  /** Its first commands make a directory and fetch a file. */
  readonly download?: { readonly url: string; readonly file: string; readonly commands: number }
  /** The digest that the downloaded file must have, in lower-case hex. */
  readonly sha256?: string
  /** The one to take on the target; every download when there is nothing else. */
  readonly isChosen: boolean
  /** Why no command is proposed; completes "not proposed: …". */
  readonly problem?: string
}

/** The program that installs, and its words before the package. */
const INSTALLERS: Readonly<Record<string, readonly [program: string, ...words: string[]]>> = {
  brew: ['brew', 'install'],
  apt: ['apt-get', 'install', '-y'],
  uv: ['uv', 'tool', 'install'],
  node: ['npm', 'install', '-g', '--ignore-scripts'],
  npm: ['npm', 'install', '-g', '--ignore-scripts'],
  go: ['go', 'install'],
}

/** The first that the target has is taken, else the first. Source: contracts §2.3; apt is ours, for the system's own packages. */
const PREFERENCE = ['brew', 'apt', 'uv', 'node', 'npm', 'go', 'download']

/**
 * The install entries of a skill in the order written, each as validated commands, and the one to take on the target.
 * An entry for another system, of an unknown kind, or with a text that no installer may be given has a `problem` and no command.
 * Source: contracts §2.3 (kinds, commands, choice), §2.4 (no leading "-", no "..").
 */
export function proposeInstalls(specs: readonly InstallSpec[], ground: InstallGround): readonly InstallProposal[] {
  const made = specs.map((spec) => propose(spec, ground))
  const usable = made.filter(({ problem }) => problem === undefined)
  const packages = usable
    .filter(({ kind }) => kind !== 'download')
    .toSorted((a, b) => rank(a, ground) - rank(b, ground))
  const chosen = new Set(packages.length > 0 ? packages.slice(0, 1) : usable)
  return made.map((proposal) => (chosen.has(proposal) ? { ...proposal, isChosen: true } : proposal))
}

function rank({ kind }: InstallProposal, { hasBin }: InstallGround): number {
  const [program = ''] = INSTALLERS[kind] ?? []
  return PREFERENCE.indexOf(kind) + (hasBin(program) ? 0 : PREFERENCE.length)
}

function propose(spec: InstallSpec, ground: InstallGround): InstallProposal {
  const { id, kind, label, bins, os } = spec
  const plan = planFor(spec, ground)
  const said = { id, kind, label, bins, os, isChosen: false }
  return typeof plan === 'string' ? { ...said, commands: [], problem: plan } : { ...said, ...plan }
}

type Plan = Pick<InstallProposal, 'commands' | 'sha256' | 'download'>

/** The commands, or why there are none. */
function planFor(spec: InstallSpec, ground: InstallGround): Plan | string {
  const { kind, os } = spec
  const [here = ''] = osNames([ground.os])
  if (os.length > 0 && !osNames(os).includes(here)) return `it is for ${os.join(', ')}, and the target is ${here}`
  return problemIn(spec) ?? (kind === 'download' ? planDownload(spec, ground) : planPackage(spec, ground))
}

/** Why an entry is refused, by the first member that is wrong. */
function problemIn({ kind, details }: InstallSpec): string | undefined {
  const rules = rulesOf(kind)
  const wrong = rules?.find((rule) => !isFine(detail(details, rule.key), rule))
  if (!rules) return `${kind} is no kind of installer that is known`
  return wrong && `${wrong.key} is ${detail(details, wrong.key) === undefined ? 'missing' : `not ${wrong.wanted}`}`
}

function planPackage({ kind, details }: InstallSpec, { isRoot }: InstallGround): Plan {
  const [{ key } = { key: '' }] = rulesOf(kind) ?? []
  const value = String(detail(details, key))
  // Outside of a module go wants a version.
  const name = kind === 'go' && !value.includes('@') ? `${value}@latest` : value
  const asRoot = kind === 'apt' && !isRoot ? ['sudo'] : []
  return { commands: [[...asRoot, ...(INSTALLERS[kind] ?? []), name]] }
}

function planDownload({ bins, details }: InstallSpec, ground: InstallGround): Plan | string {
  const directory = directoryFor(detail(details, 'targetDir'), ground)
  if (directory === undefined) return 'targetDir is no directory for programs'
  const { href: url, pathname } = new URL(String(detail(details, 'url')))
  const file = `${directory}/${fileName(pathname)}`
  const sha256 = detail(details, 'sha256')
  return {
    commands: [
      ['mkdir', '-p', directory],
      ['curl', '-fL', '--proto', '=https', '-o', file, url],
      ...afterDownload(file, directory, details, bins.length > 0),
    ],
    download: { url, file, commands: 2 },
    sha256: sha256 === undefined ? undefined : String(sha256).toLowerCase(),
  }
}

/** The last part of the address, in characters that mean nothing to a shell or a path. */
function fileName(pathname: string): string {
  const name = pathname
    .slice(pathname.lastIndexOf('/') + 1)
    .replaceAll(/[^A-Za-z0-9._+-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 100)
  return name === '' ? 'download' : name
}

function directoryFor(given: JsonValue | undefined, { home, toolsDirectory }: InstallGround): string | undefined {
  if (given === undefined) return toolsDirectory
  const path = String(given).replace(/\/+$/, '')
  if (!path.startsWith('~/')) return `${toolsDirectory}/${path}`
  return HOME_DIRECTORIES.test(path) ? `${home}${path.slice(1)}` : undefined
}

/** Where programs of a person lie; a file named authorized_keys must not end up in ~/.ssh. */
const HOME_DIRECTORIES = /^~\/(?:bin|\.local\/bin|\.(?:nexus|openclaw|clawdbot)\/tools)(?:\/|$)/

/** Unpacks an archive, or makes a program out of the file. */
function afterDownload(
  file: string,
  directory: string,
  details: InstallSpec['details'],
  isProgram: boolean,
): readonly (readonly string[])[] {
  const archive = detail(details, 'archive') ?? /\.(zip|tar\.gz|tgz|tar\.bz2|tbz2|tar\.xz|txz|tar)$/i.exec(file)?.[1]
  if (archive === undefined || detail(details, 'extract') === false) return isProgram ? [['chmod', '+x', file]] : []
  if (String(archive).toLowerCase() === 'zip') return [['unzip', '-o', file, '-d', directory]]
  const strip = Number(detail(details, 'stripComponents') ?? 0)
  return [['tar', '-xf', file, '-C', directory, ...(strip === 0 ? [] : [`--strip-components=${strip}`])]]
}

/** An own value; nothing and null are the same. */
function detail(details: InstallSpec['details'], key: string): JsonValue | undefined {
  return Object.hasOwn(details, key) ? (details[key] ?? undefined) : undefined
}
