/** usage: what all processes of a command use together, from /proc. Linux only. */
import { readFileSync } from 'node:fs'
import { descendantsOf } from './process-tree.ts'

export interface Usage {
  /** Private and shared memory that is not from files, with what is swapped out. */
  readonly memoryBytes: number
  /** Processes and threads. */
  readonly tasks: number
  /** CPU time, also of processes that ended. */
  readonly cpuSeconds: number
}

/** Clock ticks of /proc, which Linux fixes for programs. */
const TICKS_PER_SECOND = 100
const KIB = 1024

/** Sums over a process and all below it. What forks share is added for each, so it is an upper bound. */
export function usageOf(pid: number): Usage {
  const all = [pid, ...descendantsOf(pid)].map(ofProcess)
  const sum = (part: keyof Usage): number => all.reduce((total, each) => total + each[part], 0)
  return { memoryBytes: sum('memoryBytes'), tasks: sum('tasks'), cpuSeconds: sum('cpuSeconds') }
}

/** The memory by shares of pages: exact and slow. A process that does not let us look, as bubblewrap, counts whole. */
export function sharesOf(pid: number): number {
  return [pid, ...descendantsOf(pid)].reduce((total, each) => total + shareOf(each), 0)
}

function shareOf(pid: number): number {
  const text = read(pid, 'smaps_rollup')
  if (text === '') return ofProcess(pid).memoryBytes
  return ['Pss_Anon', 'Pss_Shmem', 'SwapPss'].reduce((total, key) => total + kib(text, key), 0)
}

function ofProcess(pid: number): Usage {
  const status = read(pid, 'status')
  const stat = read(pid, 'stat')
  // The name in brackets may contain anything; the third field follows it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = [11, 12, 13, 14].reduce((total, index) => total + (Number(fields[index]) || 0), 0)
  return {
    memoryBytes: kib(status, 'RssAnon') + kib(status, 'RssShmem') + kib(status, 'VmSwap'),
    tasks: Number(fields[17]) || 0,
    cpuSeconds: ticks / TICKS_PER_SECOND,
  }
}

function kib(text: string, key: string): number {
  return Number(new RegExp(`^${key}:\\s*(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * KIB
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    // It is gone, or does not let us look.
    return ''
  }
}
