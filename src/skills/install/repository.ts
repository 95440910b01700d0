import { type GitUser, type ProgramResult, readGitSettings, runGit } from '../../machine/host/index.ts'
import { Tree } from '../../machine/files/index.ts'
import { MANIFEST_LIMITS } from '../../machine/skill-files/index.ts'
import { lastLine, readBlobs, readRefs, readTree, type Refs, type TreeFile } from './git-output.ts'
import { hiddenName, sweep } from './names.ts'
import { installError, MESSAGES } from './messages.ts'

/** How repositories are reached. */
export interface GitAccess {
  readonly home: string
  readonly sshAgent?: string | undefined
  /** A directory that only this user can write to; repositories are kept there while they are read. */
  readonly workDirectory: string
  /** The part of the user's configuration that git needs. Default: it is read. */
  readonly settings?: Promise<GitUser['settings']> | undefined
  readonly signal?: AbortSignal | undefined
  /** Longest time of one run of git, in milliseconds. Default: five minutes. */
  readonly fetchMs?: number | undefined
  /** Hears now and then how much came. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

const MINUTE_MS = 60_000
const FETCH_MS = 5 * MINUTE_MS
const MAX_LIST_BYTES = 64 * 1024 * 1024
/** A repository may grow to this while it is fetched. */
const MAX_FETCHED_BYTES = 512 * 1024 * 1024
const WATCH_MS = 500

/**
 * A repository on a server, read without a checkout: its objects are fetched into a bare repository of our own, and files are taken from there as
 * bytes. So no link, hook, filter, submodule or embedded repository is ever met. Close it after use.
 */
export class Repository {
  readonly url: string
  readonly #access: GitAccess
  readonly #user: GitUser
  readonly #fetched = new Set<string>()
  readonly #sizes = new Map<string, number>()
  #directory: string | undefined
  #name = ''

  private constructor(url: string, access: GitAccess, user: GitUser) {
    this.url = url
    this.#access = access
    this.#user = user
  }

  /** `url` is one that `checkGitUrl` returned. Contacts nobody yet. */
  static async open(url: string, access: GitAccess): Promise<Repository> {
    const settings = await (access.settings ?? readGitSettings(access.home, access.signal))
    return new Repository(url, access, { home: access.home, sshAgent: access.sshAgent, settings })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#directory === undefined) return
    using tree = new Tree(this.#access.workDirectory)
    await tree.removeAll(this.#name)
  }

  /** Every branch and tag. Throws NETWORK_FAILED. */
  async refs(): Promise<Refs> {
    const output = await this.#git(['ls-remote', '--symref', '--', this.url, 'HEAD', 'refs/heads/*', 'refs/tags/*'])
    return readRefs(new TextDecoder().decode(output))
  }

  /** Fetches a commit with its directories; files come with `files`. */
  async fetchCommit(commit: string): Promise<readonly TreeFile[]> {
    await this.#make()
    const shallow = ['--depth=1', '--filter=blob:none', 'origin', commit]
    await this.#fetchObjects(shallow)
    const output = await this.#git(['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', commit])
    return readTree(output)
  }

  /** Fetches files in one request, those that are not here yet. */
  async prefetch(wanted: readonly Pick<TreeFile, 'id'>[]): Promise<void> {
    const missing = [...new Set(wanted.map(({ id }) => id))].filter((id) => !this.#fetched.has(id))
    if (missing.length === 0) return
    for (const id of missing) this.#fetched.add(id)
    await this.#fetchObjects(['--filter=blob:none', '--stdin', 'origin'], `${missing.join('\n')}\n`)
  }

  /** The bytes of files. Throws LIMIT_EXCEEDED. */
  async files(wanted: readonly TreeFile[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const ids = [...new Set(wanted.map(({ id }) => id))]
    if (ids.length === 0) return new Map()
    await this.measure(wanted)
    let total = 0
    for (const { path, id } of wanted) {
      const size = this.sizeOf(id)
      total += size
      if (size > MANIFEST_LIMITS.maxFileBytes) throw installError('LIMIT_EXCEEDED', MESSAGES.fileTooLarge(path, size))
    }
    if (total > MAX_LIST_BYTES) throw installError('LIMIT_EXCEEDED', MESSAGES.tooMuch(total))
    const output = await this.#git(['cat-file', '--batch'], `${ids.join('\n')}\n`, 2 * MAX_LIST_BYTES)
    return readBlobs(output)
  }

  /** The size of a file that was measured. */
  sizeOf(id: string): number {
    return this.#sizes.get(id) ?? 0
  }

  /** Fetches files, and asks for the sizes of those that are not known yet. */
  async measure(wanted: readonly Pick<TreeFile, 'id'>[]): Promise<void> {
    await this.prefetch(wanted)
    const ids = [...new Set(wanted.map(({ id }) => id))].filter((id) => !this.#sizes.has(id))
    if (ids.length === 0) return
    const output = await this.#git(['cat-file', '--batch-check'], `${ids.join('\n')}\n`)
    for (const line of new TextDecoder().decode(output).trimEnd().split('\n')) {
      const [id = '', kind, size] = line.split(' ')
      if (kind !== 'blob') throw installError('NETWORK_FAILED', MESSAGES.objectMissing(this.url))
      this.#sizes.set(id, Number(size))
    }
  }

  async #fetchObjects(args: readonly string[], input?: string): Promise<void> {
    const quiet = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-gc']
    await this.#git([...quiet, ...args], input)
  }

  async #make(): Promise<void> {
    if (this.#directory !== undefined) return
    const { workDirectory } = this.#access
    using work = new Tree(workDirectory)
    await sweep(work, '')
    this.#name = hiddenName('new')
    work.makeDirectory(this.#name, { mode: 0o700 })
    this.#directory = `${workDirectory}/${this.#name}`
    const files: readonly (readonly [string, string])[] = [
      ['HEAD', 'ref: refs/heads/none\n'],
      ['config', repositoryConfig(this.url)],
      ['objects/info/.keep', ''],
      ['refs/heads/.keep', ''],
    ]
    for (const [path, text] of files)
      await work.write(`${this.#name}/${path}`, { bytes: Buffer.from(text), makesParents: true })
  }

  async #git(args: readonly string[], input = '', maxOutputBytes = MAX_LIST_BYTES): Promise<Uint8Array> {
    const directory = this.#directory
    const stop = new AbortController()
    const watch = setInterval(() => void this.#watchSize(stop), WATCH_MS)
    watch.unref()
    const { signal, fetchMs = FETCH_MS } = this.#access
    try {
      const ended = await runGit({
        args: [...(directory === undefined ? [] : [`--git-dir=${directory}`]), ...args],
        cwd: directory ?? '/',
        input,
        timeoutMs: fetchMs,
        maxOutputBytes,
        protocols: [new URL(this.url).protocol.slice(0, -1)],
        user: this.#user,
        signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
      })
      if (ended.type === 'ended' && ended.code === 0) return ended.stdout
      throw this.#failure(ended)
    } finally {
      clearInterval(watch)
    }
  }

  async #watchSize(stop: AbortController): Promise<void> {
    if (this.#directory === undefined) return
    let bytes = 0
    const tree = new Tree(this.#directory)
    try {
      await tree.walk({ visit: ({ path }) => void (bytes += tree.entry(path)?.size ?? 0) })
    } catch {
      // A file of git went away meanwhile; the next look sees the rest.
    } finally {
      tree.close()
    }
    this.#access.onBytes?.(bytes)
    if (bytes > MAX_FETCHED_BYTES)
      stop.abort(installError('LIMIT_EXCEEDED', MESSAGES.repositoryTooLarge(this.url, MAX_FETCHED_BYTES)))
  }

  #failure(ended: ProgramResult) {
    if (ended.type === 'failed' && ended.reason === 'refused')
      return installError('NETWORK_FAILED', MESSAGES.noGit(ended.why))
    if (ended.type === 'failed' && ended.reason === 'time')
      return installError('TIMEOUT', MESSAGES.gitSlow(this.url, ended.why))
    if (ended.type === 'failed' && ended.reason === 'output')
      return installError('LIMIT_EXCEEDED', MESSAGES.repositoryTooLarge(this.url, MAX_LIST_BYTES))
    const said = new TextDecoder().decode(ended.stderr ?? new Uint8Array())
    return installError('NETWORK_FAILED', MESSAGES.gitFailed(this.url, lastLine(said)))
  }
}

function repositoryConfig(url: string): string {
  return [
    '[core]',
    '\trepositoryformatversion = 1',
    '\tbare = true',
    '[extensions]',
    '\tpartialClone = origin',
    '[remote "origin"]',
    // `checkGitUrl` lets no quote, backslash or control character through.
    `\turl = "${url}"`,
    '\tpromisor = true',
    '\tpartialclonefilter = blob:none',
    '',
  ].join('\n')
}
