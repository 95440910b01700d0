/** One step of change sets, in a process that kills itself before a call of the file system: `killed.ts OP ROOT NUMBER`. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import processes from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import {
  type Change,
  keep,
  recordsOf,
  recordWrite,
  recover,
  type SetsAt,
  takeChanges,
  undo,
} from '../../../src/machine/changes/index.ts'
import { createPace, Tree } from '../../../src/machine/files/index.ts'

/** A file becomes a directory, and the reverse. */
export const OLD = { 'a.txt': 'old', 'back/in': 'old', 'gone.txt': 'old', 'sub/c.txt': 'old', swap: 'old' }
export const NEW = { 'a.txt': 'new', back: 'new', 'd/b.txt': 'new', 'sub/c.txt': 'new', 'swap/in': 'new' }
export const HELD = { '.envrc': 'new', '.vscode/tasks.json': 'new' }
export type Op = 'take' | 'write' | 'keep' | 'undo'

export function prepare(root: string): void {
  put(join(root, 'work'), OLD)
  put(join(root, 'source'), { ...NEW, ...HELD })
  mkdirSync(join(root, 'state'))
}

function put(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
}

/** Every file of the workspace with its text. */
export function filesIn(root: string): Record<string, string> {
  const work = join(root, 'work')
  const files = readdirSync(work, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name).slice(work.length + 1))
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(work, path), 'utf8')]))
}

/** As the next start does it: what was under way is ended, and what writers left goes. */
export async function inSets<T>(root: string, work: (sets: SetsAt) => T | Promise<T>): Promise<T> {
  const workspace = join(root, 'work')
  const host = new Tree(workspace)
  try {
    const records = recordsOf(join(root, 'state'), workspace)
    await recover(records, host)
    for (const name of readdirSync(workspace, { recursive: true, encoding: 'utf8' }))
      if (name.includes('.nexus-part-')) rmSync(join(workspace, name))
    return await work({ records, host, workspace, limits: { keepDays: 1, maxBytes: 1_000 } })
  } finally {
    host.close()
  }
}

export async function take(op: Op, root: string, sets: SetsAt): Promise<void> {
  const { records, host } = sets
  const all = { paths: [], force: false }
  const [set] = records.list()
  if (op === 'take') return takeAll(root, sets)
  if (op === 'write') {
    const bytes = Buffer.from('new')
    const write = (mode?: number): Promise<void> =>
      host.write('d/b.txt', { bytes, makesParents: true, ...(mode !== undefined && { mode }) })
    return recordWrite(sets, { path: 'd/b.txt', bytes }, { maker: { tool: 'write_file' }, write })
  }
  if (!set) throw new Error('no set')
  await (op === 'keep' ? keep : undo)({ records, host, set }, all)
}

async function takeAll(root: string, { records, host, workspace, limits }: SetsAt): Promise<void> {
  const source = new Tree(join(root, 'source'))
  const paths = [...new Set([...Object.keys({ ...OLD, ...NEW, ...HELD }), 'd', '.vscode', 'swap', 'back'])].sort()
  const changes = paths.map((path): Change => {
    const [before, after] = [host.entry(path), source.entry(path)]
    const type = after ? (before ? 'changed' : 'added') : 'removed'
    return { path, type, kind: (after ?? before)?.kind === 'directory' ? 'directory' : 'file' }
  })
  const none = new Set<string>()
  const around = { never: none, named: none, opened: none, before: (path: string) => host.entry(path) !== undefined }
  await takeChanges({
    ...{ host, source, records, workspace, limits, changes, maker: { tool: 't' }, pace: createPace() },
    around: { ...around, after: (path) => source.entry(path) !== undefined },
    isStale: () => false,
  })
  source.close()
}

/** Calls that change something on the disk, or have git do it. */
const CALLS = ['openSync', 'writeSync', 'renameSync', 'linkSync', 'unlinkSync', 'fsync', 'appendFileSync', 'mkdirSync', 'rmdirSync', 'rmSync', 'fchmodSync'] as const // oxfmt-ignore

/** Kills this process before such a call; 0 kills it never. Returns what counts them. */
export function killAt(number: number): () => number {
  let count = 0
  const counted =
    <T>(real: (...args: unknown[]) => T) =>
    (...args: unknown[]): T => {
      if (++count === number) process.kill(process.pid, 'SIGKILL')
      return real(...args)
    }
  for (const name of CALLS) Object.assign(fs, { [name]: counted(fs[name] as (...args: unknown[]) => unknown) })
  Object.assign(processes, { spawn: counted(processes.spawn as (...args: unknown[]) => unknown) })
  syncBuiltinESMExports()
  return () => count
}

if (process.argv[1] === import.meta.filename) {
  const [op, root = '', at] = process.argv.slice(2)
  await inSets(root, async (sets) => {
    const count = killAt(Number(at))
    await take(op as Op, root, sets)
    fs.writeFileSync(1, String(count()))
  })
}
