/** named: places in a workspace to which links with a held name, settings of git and its alternate objects lead. The host acts upon them under any name. */
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { posix } from 'node:path'
import { bytesOf, codeOf, nameOf, readSmall } from '../files/index.ts'
import { type GitSetting, listGitSettings } from '../host/index.ts'

/** Most bytes of a file that leads elsewhere. */
const MAX_BYTES = 256 * 1024
/** Errors of files that git would not read either. */
const UNREADABLE = ['ENOENT', 'EACCES', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EFBIG']
const CONFIGURATION = /^config(?:\.worktree)?$/
/** The number of links that the system follows on one way. */
const MAX_LINKS = 40
/** Configurations that are read for one workspace. */
const MAX_FILES = 50
/** Nothing is there. */
const MISSING = Symbol('missing')

/** Values of these are names, texts and addresses. Without `!` an alias is a command of git. */
const IS_DATA =
  /^(?:user|author|committer|branch|color|advice|i18n)\.|^(?:url|remote)\..*\.(?:url|pushurl|fetch|push|insteadof|pushinsteadof)$|^submodule\..*\.(?:url|branch|active)$|^init\.defaultbranch$|^core\.worktree$/
/** The value is a path, also without a slash. */
const IS_PATH = /(?:path|dir|file|template)$/
const INCLUDES = /^include(?:if\..*)?\.path$/s

/** Relative to the workspace. */
export interface Named {
  /** Held with all that is below. */
  readonly places: readonly string[]
  /** Words that are held where they are the path of a file. */
  readonly files: readonly string[]
}

/** Whether a held place may lead to another one: only links do, and configurations of git. */
export function mayLead(path: string, kind: string): boolean {
  return kind === 'link' || CONFIGURATION.test(posix.basename(path))
}

/** Places that follow from held ones in a workspace, and from settings of git outside it. */
export async function placesNamed(workspace: string, leading: readonly string[]): Promise<Named> {
  const absolute = leading.map((path) => posix.join(workspace, path))
  const places = absolute.flatMap(wayOf)
  const words: string[] = []
  const isConfiguration = (path: string): boolean => CONFIGURATION.test(posix.basename(path))
  const configurations = [...outsideOf(workspace), ...absolute.filter(isConfiguration)]
  // The loop also visits what is added meanwhile.
  for (const [index, file] of configurations.entries()) {
    if (index >= MAX_FILES) break
    const objects = posix.resolve(posix.dirname(file), 'objects')
    const others = file === '' ? [] : textOf(`${objects}/info/alternates`).split('\n').filter(Boolean)
    places.push(...others.flatMap((other) => wayOf(posix.resolve(objects, other))))
    const settings = await settingsOf(file)
    const roots = rootsOf(file, settings, workspace)
    const ways = (text: string): string[] => roots.flatMap((root) => wayOf(posix.resolve(root, atHome(text))))
    for (const [key, value] of settings) {
      if (IS_DATA.test(key) || (key.startsWith('alias.') && !value.startsWith('!'))) continue
      if (value.includes('/') || IS_PATH.test(key))
        places.push(...ways(value).filter((place) => !roots.includes(place)))
      words.push(...wordsOf(value).flatMap(ways))
      if (INCLUDES.test(key)) configurations.push(posix.resolve(posix.dirname(file), atHome(value)))
    }
  }
  const inside = (paths: readonly string[]): string[] => [
    ...new Set(
      paths.filter((path) => path.startsWith(`${workspace}/`)).map((path) => path.slice(workspace.length + 1)),
    ),
  ]
  const known = new Set(leading)
  return { places: inside(places).filter((path) => !known.has(path)), files: inside(words) }
}

/** Each may be the path of a program or a script in a command line, which is not parsed. */
function wordsOf(value: string): string[] {
  const quoted = [...value.matchAll(/'([^']+)'|"([^"]+)"/g)].map(([, single, double]) => single ?? double ?? '')
  return [...value.split(/[\s"'`\\!;|&<>()=,:$]+/), ...quoted].filter(Boolean)
}

function atHome(path: string): string {
  return path.replace(/^~(?=\/)/, homedir)
}

/** The settings in a file; all its values where git cannot read it. */
async function settingsOf(file: string): Promise<readonly GitSetting[]> {
  if (file !== '' && !existsSync(file)) return []
  const values = (): GitSetting[] =>
    textOf(file)
      .split('\n')
      .map((line) => ['path', line.slice(line.indexOf('=') + 1).trim()])
  return (await listGitSettings(file, homedir())) ?? values()
}

/** Directories from which relative paths in a configuration are taken: its own, and the tops of all its worktrees. */
function rootsOf(file: string, settings: readonly GitSetting[], workspace: string): string[] {
  const git = posix.dirname(file)
  const named = settings.flatMap(([key, value]) => (key === 'core.worktree' ? [posix.resolve(git, value)] : []))
  const links = namesIn(`${git}/worktrees`).map((name) => `${git}/worktrees/${name}`)
  const trees = links.map((at) => posix.dirname(posix.resolve(at, textOf(`${at}/gitdir`).trim())))
  const top = [...above(workspace)].find((directory) => existsSync(`${directory}/.git`))
  return [...new Set([git, posix.dirname(git), workspace, ...(top === undefined ? [] : [top]), ...named, ...trees])]
}

/** Files outside the workspace that git in it reads: the user's settings, and those of the repository that the workspace is a part or a worktree of. */
function outsideOf(workspace: string): string[] {
  const files = ['', `${homedir()}/.gitconfig`, `${homedir()}/.config/git/config`]
  const top = [...above(workspace)].find((directory) => existsSync(`${directory}/.git`))
  if (top === undefined) return files
  const link = /^gitdir: (.*)/.exec(textOf(`${top}/.git`))?.[1]
  const git = posix.resolve(top, link ?? '.git')
  const shared = textOf(`${git}/commondir`).trim()
  return [...files, `${posix.resolve(git, shared)}/config`, `${git}/config.worktree`]
}

function* above(path: string): Generator<string> {
  for (let at = path; at !== '/'; at = posix.dirname(at)) yield at
}

/** The places that decide where an absolute path leads: the links on the way, then its end, which need not exist. */
export function wayOf(path: string): string[] {
  const way: string[] = []
  const ahead = path.split('/').filter(Boolean)
  let at = ''
  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
    if (part === '..') at = posix.dirname(at)
    if (part === '..' || part === '.' || part === '') continue
    const next = `${at === '/' ? '' : at}/${part}`
    const text = linkText(next)
    if (text === MISSING) return [...way, posix.join(next, ...ahead)]
    if (text === undefined) {
      at = next
      continue
    }
    way.push(next)
    // It leads in a circle, so nothing acts upon its end.
    if (way.length > MAX_LINKS) return way
    ahead.unshift(...text.split('/'))
    if (text.startsWith('/')) at = ''
  }
  return [...way, at]
}

/** Undefined for what is not a link. What we cannot look into leads nowhere for us. */
function linkText(path: string): string | typeof MISSING | undefined {
  try {
    return nameOf(readlinkSync(bytesOf(path), 'buffer'))
  } catch (error) {
    return codeOf(error) === 'EINVAL' ? undefined : MISSING
  }
}

function namesIn(directory: string): string[] {
  return orNothing(() => readdirSync(directory), [])
}

function textOf(path: string): string {
  return orNothing(() => new TextDecoder().decode(readSmall(path, { maxBytes: MAX_BYTES }).bytes), '')
}

function orNothing<T>(read: () => T, nothing: T): T {
  try {
    return read()
  } catch (error) {
    if (UNREADABLE.includes(codeOf(error))) return nothing
    throw error
  }
}
