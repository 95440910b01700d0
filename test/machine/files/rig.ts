import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync, linkSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, truncateSync, writeFileSync,
} from 'node:fs' // oxfmt-ignore
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { type Holding, Tree } from '../../../src/machine/files/index.ts'

export const SECRET = 'OUTSIDE-SECRET'

/** Why the way through descriptors cannot be tested here. */
export const noDescriptors = process.platform === 'linux' ? false : '/proc/self/fd exists on Linux only'

/** Why no process can exchange two names here. */
export const noExchange =
  process.platform !== 'linux' || spawnSync('python3', ['--version']).error
    ? 'needs Linux and python3 for renameat2'
    : false

/** A fresh directory by its real path, removed after the test whatever it holds. */
export function freshDirectory(t: Pick<TestContext, 'after'>): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-files-')))
  t.after(() => {
    chmodSync(directory, 0o755)
    execFileSync('rm', ['-rf', directory])
  })
  return directory
}

/** A tree that is closed after the test. */
export function openTree(t: Pick<TestContext, 'after'>, path: string, holding?: Holding): Tree {
  const tree = new Tree(path, { holding })
  t.after(() => tree.close())
  return tree
}

/** A root, and around it what no step may touch: `outside/`, `root-evil/`, and a link to the root. Inside: a little of everything. */
export async function hostileRoot(t: TestContext): Promise<{ above: string; root: string }> {
  const above = freshDirectory(t)
  const root = join(above, 'root')
  for (const name of ['root/sub', 'root/a', 'outside', 'root-evil']) mkdirSync(join(above, name), { recursive: true })
  for (const name of ['outside.txt', 'outside/secret.txt', 'root-evil/secret.txt'])
    writeFileSync(join(above, name), SECRET)
  for (const name of ['SKILL.md', 'sub/file.txt', 'a/file.txt', 'a..b', '...', '-rf', '..%2foutside.txt'])
    writeFileSync(join(root, name), 'inside')
  writeFileSync(join(root, 'utf16.txt'), Buffer.from('\uFEFFtext\n', 'utf16le'))
  for (const [name, target] of [
    ['link-to-passwd', '/etc/passwd'],
    ['inner-link', 'sub/file.txt'],
    ['up', '..'],
    ['self', 'self'],
    ['linked-sub', 'sub'],
    ['chain', 'up'],
    ['dangling-out', join(above, 'outside/new.txt')],
    ['outside-directory', join(above, 'outside')],
  ] as const)
    symlinkSync(target, join(root, name))
  symlinkSync('root', join(above, 'root-link'))
  linkSync(join(above, 'outside/secret.txt'), join(root, 'hardlink-to-secret'))
  writeFileSync(join(root, 'sparse'), '')
  truncateSync(join(root, 'sparse'), 5 * 2 ** 30)
  execFileSync('mkfifo', [join(root, 'fifo')])
  const server = createServer().listen(join(root, 'socket'))
  await once(server, 'listening')
  t.after(() => server.close())
  return { above, root }
}

/** Exchanges a directory inside with a link to one outside, as fast as it can, until the test ends. Returns the root. */
export async function attack(t: TestContext): Promise<{ root: string; outside: string }> {
  // Hooks run in the order of their registration: the attacker ends before its directory is removed.
  let attacker: ChildProcessByStdio<null, Readable, null> | undefined
  t.after(async () => {
    if (attacker?.kill('SIGKILL') && attacker.exitCode === null) await once(attacker, 'exit')
  })
  const directory = freshDirectory(t)
  const [root, outside] = [join(directory, 'root'), join(directory, 'outside')]
  mkdirSync(join(root, 'sub'), { recursive: true })
  mkdirSync(outside)
  writeFileSync(join(root, 'sub/f'), 'inside')
  for (const name of ['f', 'secret']) writeFileSync(join(outside, name), 'SECRET!')
  symlinkSync(outside, join(root, 'evil'))
  const script = `import ctypes, sys
exchange = ctypes.CDLL(None, use_errno=True).renameat2
a, b = sys.argv[1].encode(), sys.argv[2].encode()
print("ready" if exchange(-100, a, -100, b, 2) == 0 else "unable", flush=True)
while True: exchange(-100, a, -100, b, 2)`
  attacker = spawn('python3', ['-c', script, join(root, 'sub'), join(root, 'evil')], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [said] = (await once(attacker.stdout, 'data')) as [Buffer]
  if (!said.toString().startsWith('ready')) t.skip('this file system cannot exchange names')
  return { root, outside }
}

/** Runs work as another user when we are root, so that rights are real. */
export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work()
  process.setegid?.(65_534)
  process.seteuid?.(65_534)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
}
