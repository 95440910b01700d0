import { resolve } from 'node:path'
import { installError, MESSAGES } from './messages.ts'

/** Where skills are to be got from, as a person or a lock file names it. */
export type Locator =
  | {
      readonly type: 'git'
      /** Its scheme is https, ssh, or http. */
      readonly url: string
      /** A branch, tag or commit. Default: the branch that the host names. */
      readonly ref?: string
      /** The directory below which skills are searched. */
      readonly path?: string
      /** From an address of a browser: a ref, a slash and perhaps a path. Only the server's list of refs can separate them. */
      readonly refAndPath?: string
      readonly skill?: string
    }
  | { readonly type: 'directory'; readonly path: string }
  | { readonly type: 'archive'; readonly path: string }
  | { readonly type: 'archive-url'; readonly url: string }

export interface LocatorRules {
  readonly cwd: string
  /** Hosts that the user's own nexus.yaml names; plain http is refused for all others but this machine. */
  readonly httpHosts?: readonly string[]
}

const ARCHIVE = /\.(?:zip|tar\.gz|tgz|skill)$/i
const REF = /^(?![-/.])(?!.*(?:\.\.|\/\/|@\{|\.lock(?:\/|$)))[A-Za-z0-9._/+@-]{1,200}(?<![/.])$/
const OWNER_REPO =
  /^([A-Za-z0-9][A-Za-z0-9-]{0,38})\/([A-Za-z0-9_.-]{1,100}?)(?:\.git)?((?:\/[^/@#]+)*)(?:@([^/@#]+))?$/
const SCP = /^([A-Za-z0-9._-]+)@([A-Za-z0-9.-]+):(?!\/\/)([^\s:]+)$/

/** Reads what a person typed after `nexus skills install`. Throws INVALID_ARGUMENT. */
export function readLocator(what: string, rules: LocatorRules): Locator {
  if (!TYPED.test(what)) throw installError('INVALID_ARGUMENT', MESSAGES.notALocator(what))
  if (/^(?:\.\.?(?:\/|$)|\/)/.test(what)) return localLocator(resolve(rules.cwd, what))
  const [address = '', fragment] = splitFragment(what)
  if (/^https?:/i.test(address)) return webLocator(address, fragment, rules)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) return gitLocator(address, fragment, rules)
  const [, user, host, path] = SCP.exec(address) ?? []
  if (path !== undefined) return gitLocator(`ssh://${user}@${host}/${path}`, fragment, rules)
  return shortLocator(what, { address, fragment, rules })
}

/** Not an option, without spaces and controls. */
// oxlint-disable-next-line no-control-regex
const TYPED = /^(?!-)[^\u0000-\u0020\u007f]{1,2000}$/

interface Split {
  readonly address: string
  readonly fragment: string | undefined
  readonly rules: LocatorRules
}

/** `owner/repo`, with a path or `@skill` after it, of GitHub. */
function shortLocator(what: string, { address, fragment, rules }: Split): Locator {
  const [, owner, repo = '', rest = '', skill] = OWNER_REPO.exec(address) ?? []
  if (owner === undefined || isDots(repo)) throw installError('INVALID_ARGUMENT', MESSAGES.notALocator(what))
  const inRepository = gitLocator(`https://github.com/${owner}/${repo}`, fragment, rules)
  const below = rest === '' ? inRepository : { ...inRepository, path: checkPath(rest.slice(1)) }
  return skill === undefined ? below : { ...below, skill }
}

/** The address of a repository, checked. Throws INVALID_ARGUMENT for one that git must not be given. */
export function checkGitUrl(text: string, rules: Pick<LocatorRules, 'httpHosts'> = {}): string {
  const url = UNQUOTED.test(text) ? URL.parse(text) : null
  if (!url || !/^[^-.]/.test(url.hostname)) throw installError('INVALID_ARGUMENT', MESSAGES.notALocator(text))
  const shown = `${url.protocol}//${url.host}${url.pathname}`
  if (!['https:', 'ssh:', 'http:'].includes(url.protocol))
    throw installError('INVALID_ARGUMENT', MESSAGES.schemeRefused(shown))
  checkUser(url, shown)
  checkEncrypted(url, rules)
  if (url.search !== '' || url.hash !== '' || !/^\/[^-]/.test(url.pathname))
    throw installError('INVALID_ARGUMENT', MESSAGES.notALocator(shown))
  return url.href.replace(/\/+$/, '')
}

// oxlint-disable-next-line no-control-regex
const UNQUOTED = /^[^\u0000-\u0020\u007f"'\\]+$/

/** A password in an address ends up in locks and logs. Only ssh needs a name. */
function checkUser({ protocol, username, password }: URL, shown: string): void {
  if (username.startsWith('-')) throw installError('INVALID_ARGUMENT', MESSAGES.notALocator(shown))
  if (password === '' && (username === '' || protocol === 'ssh:')) return
  throw installError('INVALID_ARGUMENT', MESSAGES.passwordInUrl(shown))
}

function checkEncrypted(
  { protocol, hostname, host, pathname }: URL,
  { httpHosts = [] }: Pick<LocatorRules, 'httpHosts'>,
): void {
  if (protocol !== 'http:' || isLoopback(hostname) || httpHosts.includes(hostname)) return
  throw installError('INVALID_ARGUMENT', MESSAGES.plainHttp(`${protocol}//${host}${pathname}`))
}

/** A branch, tag or commit that may be given to git. Throws INVALID_ARGUMENT. */
export function checkRef(ref: string): string {
  if (REF.test(ref)) return ref
  throw installError('INVALID_ARGUMENT', MESSAGES.refRefused(ref))
}

/** A directory inside a repository. Throws INVALID_ARGUMENT. */
export function checkPath(path: string): string {
  const parts = path.replace(/\/+$/, '').split('/')
  if (path.length <= 512 && parts.every((part) => part !== '' && !isDots(part) && !/[\p{C}\\]/u.test(part)))
    return parts.join('/')
  throw installError('INVALID_ARGUMENT', MESSAGES.pathRefused(path))
}

function isDots(part: string): boolean {
  return part === '.' || part === '..'
}

function localLocator(path: string): Locator {
  return ARCHIVE.test(path) ? { type: 'archive', path } : { type: 'directory', path }
}

function splitFragment(what: string): [string, string | undefined] {
  const at = what.indexOf('#')
  return at < 0 ? [what, undefined] : [what.slice(0, at), what.slice(at + 1)]
}

function gitLocator(address: string, fragment: string | undefined, rules: LocatorRules): Locator & { type: 'git' } {
  const url = checkGitUrl(address, rules)
  if (fragment === undefined) return { type: 'git', url }
  // `#ref@skill` is how the npm `skills` writes it.
  const at = fragment.lastIndexOf('@')
  if (at <= 0) return { type: 'git', url, ref: checkRef(fragment) }
  return { type: 'git', url, ref: checkRef(fragment.slice(0, at)), skill: fragment.slice(at + 1) }
}

/** `/tree/` and `/blob/` of GitHub, with `/-/` before them of GitLab, and `/src/branch/` of Gitea. */
const BROWSED = /^(\/.+?)(?:\/-)?\/(?:tree|blob|src\/(?:branch|tag|commit))\/(.+)$/

function webLocator(address: string, fragment: string | undefined, rules: LocatorRules): Locator {
  const url = URL.parse(address)
  if (!url) throw installError('INVALID_ARGUMENT', MESSAGES.notALocator(address))
  if (ARCHIVE.test(url.pathname)) return checkArchiveUrl(url.href, rules)
  const browsed = BROWSED.exec(url.pathname)
  // `?tab=readme-ov-file` of a page is nothing that git is given, and neither is the part of it to which a fragment leads.
  if (!browsed) return gitLocator(address.replace(/\?.*$/, '').replace(/\/+$/, ''), url.search === '' ? fragment : undefined, rules) // oxfmt-ignore
  const [, repository = '', after = ''] = browsed
  const refAndPath = decoded(after)
    .replace(/\/+$/, '')
    .replace(/\/SKILL\.md$/, '')
  for (const part of refAndPath.split('/'))
    if (isDots(part)) throw installError('INVALID_ARGUMENT', MESSAGES.pathRefused(after))
  return { ...gitLocator(`${url.origin}${repository}`, undefined, rules), refAndPath }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw installError('INVALID_ARGUMENT', MESSAGES.pathRefused(path))
  }
}

/** The address of an archive, checked. Throws INVALID_ARGUMENT. */
export function checkArchiveUrl(text: string, rules: Pick<LocatorRules, 'httpHosts'>): Locator {
  const url = URL.parse(text)
  if (!url || !ARCHIVE.test(url.pathname) || !/^https?:$/.test(url.protocol))
    throw installError('INVALID_ARGUMENT', MESSAGES.notALocator(text))
  checkUser(url, `${url.origin}${url.pathname}`)
  checkEncrypted(url, rules)
  return { type: 'archive-url', url: url.href }
}

export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

/** The host that is contacted; undefined for what is on this machine. */
export function hostOfLocator(locator: Locator): string | undefined {
  return 'url' in locator ? new URL(locator.url).host : undefined
}
