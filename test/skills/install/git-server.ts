/** A git server over HTTP on this machine, and repositories of skills for it. */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const IDENTITY = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' } // oxfmt-ignore

/** Runs git as a person on the server. Throws with what it says. */
export function git(cwd: string, ...args: string[]): string {
  const ended = spawnSync('git', args, {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: cwd, ...IDENTITY },
  })
  if (ended.status !== 0) throw new Error(`git ${args.join(' ')}: ${ended.stderr}`)
  return ended.stdout.trim()
}

export function skillText(name: string, more = ''): string {
  return `---\nname: ${name}\ndescription: Does ${name}. Use it for ${name}.\n${more}---\n\n# ${name}\n`
}

/** A repository on the server, as a person works on it. */
export class Upstream {
  readonly directory: string
  /** The repository of the server. */
  readonly bare: string

  constructor(root: string, name: string) {
    this.bare = join(root, 'served', `${name}.git`)
    this.directory = join(root, 'work', name)
    for (const each of [this.bare, this.directory]) mkdirSync(each, { recursive: true })
    git(this.bare, 'init', '-q', '--bare', '-b', 'main')
    for (const setting of ['uploadpack.allowFilter', 'uploadpack.allowAnySHA1InWant', 'http.receivepack'])
      git(this.bare, 'config', setting, 'true')
    git(this.directory, 'init', '-q', '-b', 'main')
  }

  write(path: string, content: string | Uint8Array, mode = 0o644): this {
    const file = join(this.directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    chmodSync(file, mode)
    return this
  }

  /** Commits everything and publishes it; returns the commit. */
  publish(ref = 'main'): string {
    git(this.directory, 'add', '-A')
    git(this.directory, 'commit', '-q', '--allow-empty', '-m', 'change')
    git(this.directory, 'push', '-q', '--force', this.bare, `HEAD:${ref.includes('/') ? ref : `refs/heads/${ref}`}`)
    return git(this.directory, 'rev-parse', 'HEAD')
  }

  /** git in the repository of the server itself. */
  onServer(...args: string[]): string {
    return git(this.bare, ...args)
  }
}

export interface GitServer {
  readonly root: string
  url(name: string): string
  upstream(name: string): Upstream
  /** Paths of the requests until now. */
  readonly requests: readonly string[]
  stop(): Promise<void>
}

/** Serves the repositories of a directory of its own until the test ends. An old server speaks the first protocol only. */
export async function startGitServer(
  t: { after: (fn: () => unknown) => void },
  { isOld = false } = {},
): Promise<GitServer> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-git-')))
  mkdirSync(join(root, 'served'), { recursive: true })
  const requests: string[] = []
  const server = createServer((request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?')
    requests.push(`${request.method} ${path}`)
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        ...IDENTITY,
        GIT_PROJECT_ROOT: join(root, 'served'),
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_PROTOCOL: isOld ? '' : String(request.headers['git-protocol'] ?? ''),
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: request.method ?? 'GET',
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
        REMOTE_ADDR: '127.0.0.1',
      },
    })
    request.pipe(backend.stdin).on('error', () => undefined)
    let head: Buffer | undefined = Buffer.alloc(0)
    backend.stdout.on('data', (chunk: Buffer) => {
      if (head === undefined) return void response.write(chunk)
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      for (const line of head.subarray(0, end).toString('latin1').split('\r\n')) {
        const [name = '', value = ''] = line.split(/: (.*)/s)
        if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10)
        else response.setHeader(name, value)
      }
      response.write(head.subarray(end + 4))
      head = undefined
    })
    backend.stdout.on('end', () => response.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  t.after(async () => {
    await stop()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })
  return {
    root,
    requests,
    stop,
    url: (name) => `http://127.0.0.1:${port}/${name}.git`,
    upstream: (name) => new Upstream(root, name),
  }
}
