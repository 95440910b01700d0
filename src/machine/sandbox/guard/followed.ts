/** followed: where protected places lead. The host acts upon the target of a link and upon what git's configuration names, under any name. */
import { existsSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { posix } from 'node:path'
import { bytesOf, codeOf, nameOf, readSmall } from '../../files/index.ts'

/** Most bytes of a git configuration that is read. */
const MAX_BYTES = 256 * 1024

/** Errors of files that git would not read either, or that are no configuration. */
const UNREADABLE = ['ENOENT', 'EACCES', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EFBIG']

const CONFIGURATION = /^config(?:\.worktree)?$/

/** Keys whose values git runs, or reads as configuration. */
const RUNS =
  /(?:hookspath|templatedir|fsmonitor|command|editor|pager|askpass|proxy|path|cmd|textconv|clean|smudge|process|driver|helper|program|hook|external|filter|update|uploadpack|receivepack|smtpserver|browser)\s*=/i

/** Keys whose values are paths of their own. */
const IS_PATH = /\b(?:hookspath|templatedir|path)\s*=/i

/** The number of links that the system follows on one way. */
const MAX_LINKS = 40
/** Configurations that one includes. */
const MAX_INCLUDED = 50
/** Nothing is there. */
const MISSING = Symbol('missing')

/** Whether a protected place may lead to another one: only links do, and configurations of git. */
export function mayLead(path: string, kind: string): boolean {
  return kind === 'link' || CONFIGURATION.test(posix.basename(path))
}

/**
 * Paths below the workspace to which protected links and git configurations lead: each link on the way, and its end. Where an end does not
 * exist it is the first directory that is missing, because what a command makes there is acted upon. `found` are protected places that exist.
 */
export function followPlaces(workspace: string, found: readonly string[]): string[] {
  const absolute = found.map((path) => posix.join(workspace, path))
  const configurations = [
    ...absolute.filter((path) => CONFIGURATION.test(posix.basename(path))).map((file) => inRepository(file, workspace)),
    ...outsideOf(workspace),
  ]
  const targets = [...absolute.flatMap(wayOf), ...configurations.flatMap(namedByGit)]
  const inside = targets.filter((target) => target.startsWith(`${workspace}/`))
  const known = new Set(found)
  return [...new Set(inside.map((target) => target.slice(workspace.length + 1)))].filter((path) => !known.has(path))
}

/** The places that decide where an absolute path leads: the links on the way, then the end or the first place that is missing. */
export function wayOf(path: string): string[] {
  const way: string[] = []
  const ahead = path.split('/').filter(Boolean)
  let at = ''
  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
    if (part === '..') at = posix.dirname(at)
    if (part === '..' || part === '.' || part === '') continue
    const next = `${at === '/' ? '' : at}/${part}`
    const text = linkText(next)
    if (text === MISSING) return [...way, next]
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

/** A configuration that git reads for a repository, and the directories from which it takes relative paths. */
interface Configuration {
  readonly file: string
  readonly roots: readonly string[]
}

/** A configuration in a git directory. Hooks and programs start at the top of its worktrees, wherever those are. */
function inRepository(file: string, workspace: string): Configuration {
  const git = posix.dirname(file)
  const named = /^[^\S\n]*worktree[^\S\n]*=(.*)$/im.exec(textOf(file))?.[1]
  const worktrees = named === undefined ? [] : [posix.resolve(git, plainValue(named))]
  for (const name of namesIn(`${git}/worktrees`)) {
    const link = textOf(`${git}/worktrees/${name}/gitdir`).trim()
    if (link !== '') worktrees.push(posix.dirname(posix.resolve(`${git}/worktrees/${name}`, link)))
  }
  return { file, roots: [...new Set([git, posix.dirname(git), workspace, ...worktrees])] }
}

/** Files outside the workspace that git in it reads: the user's settings, and those of the repository that the workspace is a part or a worktree of. */
function outsideOf(workspace: string): Configuration[] {
  const top = [...above(workspace)].find((directory) => existsSync(`${directory}/.git`))
  const files = [`${homedir()}/.gitconfig`, `${homedir()}/.config/git/config`, '/etc/gitconfig']
  if (top !== undefined) {
    const link = /^gitdir: (.*)/.exec(textOf(`${top}/.git`))?.[1]
    const git = posix.resolve(top, link ?? '.git')
    const shared = textOf(`${git}/commondir`).trim()
    files.push(`${posix.resolve(git, shared)}/config`, `${git}/config.worktree`)
  }
  const roots = [...new Set([top ?? workspace, workspace])]
  return files.map((file) => ({ file, roots }))
}

function* above(path: string): Generator<string> {
  for (let at = path; at !== '/'; at = posix.dirname(at)) yield at
}

/** Places among the values of a git configuration, and of those that it includes: `core.hooksPath`, `include.path`, programs of filters. */
function namedByGit({ file: first, roots: given }: Configuration): string[] {
  const places = wayOf(first)
  const files = new Set([first])
  // The loop also visits what is added meanwhile.
  for (const file of files) {
    const roots = [...new Set([posix.dirname(file), ...given])]
    for (const { words, isPath } of valuesOf(textOf(file))) {
      const ways = words.flatMap((word, index) => {
        const all = roots.map((root) => wayOf(posix.resolve(root, word.replace(/^~(?=\/)/, homedir))))
        return isPath ? all : all.filter((way) => isProgram(way.at(-1) ?? '', { word, isFirst: index === 0 }))
      })
      places.push(...ways.flat().filter((place) => !roots.includes(place)))
      if (isPath && files.size < MAX_INCLUDED) for (const way of ways) files.add(way.at(-1) ?? '')
    }
  }
  return places
}

/** Words of the values that git runs or reads; `isPath` when the value is a path. */
function valuesOf(text: string): { readonly words: string[]; readonly isPath: boolean }[] {
  let section = ''
  // A backslash at the end of a line continues its value.
  const lines = text.replace(/\\\r?\n/g, '').split('\n')
  return lines.map((line) => {
    section = /^\s*\[\s*([\w-]*)/.exec(line)?.[1]?.toLowerCase() ?? section
    const text = line.slice(line.indexOf('=') + 1)
    const isPath = section !== 'alias' && section !== 'pager' && IS_PATH.test(line)
    // Without ! an alias is a command of git.
    const isRun = section === 'alias' ? /^\s*"?!/.test(text) : section === 'pager' || RUNS.test(line)
    const value = isRun ? text : ''
    // Not from the first `=` of the line: the condition of an `includeIf` can contain one.
    const whole = isPath ? [plainValue(line.replace(/^.*?\b(?:hookspath|templatedir|path)\s*=/i, ''))] : []
    // A quoted program may have spaces in its name.
    const quoted = [...value.matchAll(/'([^']+)'|"([^"]+)"/g)].map(([, single, double]) => single ?? double ?? '')
    return { words: [...new Set([...value.split(/[\s"'!;|&]+/), ...quoted, ...whole])].filter(Boolean), isPath }
  })
}

/** A value as git reads it: without comment, quotes and escapes. Names of directories can contain spaces. */
function plainValue(value: string): string {
  const plain = value.replace(/"((?:\\.|[^"\\])*)"?|[#;].*|\\(.)/g, (_all, quoted?: string, escaped?: string) =>
    quoted === undefined ? (escaped ?? '') : quoted.replace(/\\(.)/g, '$1'),
  )
  return plain.trim()
}

/**
 * Whether a word names a program at `end` of its way. Most words are no paths, and directories of the user are often called as they are:
 * only a file is a program, and where there is none, a word that can only be a path.
 */
function isProgram(end: string, { word, isFirst }: { readonly word: string; readonly isFirst: boolean }): boolean {
  if (existsSync(end)) return statSync(end).isFile()
  return /^(?:\.{1,2}|~)?\//.test(word) || (isFirst && word.includes('/'))
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (UNREADABLE.includes(codeOf(error))) return []
    throw error
  }
}

function textOf(path: string): string {
  try {
    return new TextDecoder().decode(readSmall(path, { maxBytes: MAX_BYTES }).bytes)
  } catch (error) {
    if (UNREADABLE.includes(codeOf(error))) return ''
    throw error
  }
}
