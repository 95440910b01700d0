/** cgroup: a group of the kernel for each command, where Nexus was given one with memory and pids. Tested on plain files only. */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandLimits } from './protocol.ts'
import { MORE_PROCESSES } from './profile.ts'

/** The group of one command. */
export interface CommandGroup {
  /** The words of a command line that starts `program` in the group. */
  entered(program: readonly string[]): string[]
  /** Whether the kernel ended a process of it for its memory. */
  isOutOfMemory(): boolean
  remove(): void
}

/** Makes a group below that of the runner. */
export function openGroup(parent: string, id: number, limits: CommandLimits): CommandGroup {
  const directory = join(parent, `command-${id}`)
  mkdirSync(directory)
  const set = (file: string, value: string | number): void => writeFileSync(join(directory, file), String(value))
  set('memory.max', limits.memoryBytes)
  set('memory.swap.max', 0)
  // All processes end together: half a command is of no use.
  set('memory.oom.group', 1)
  set('pids.max', limits.processes + MORE_PROCESSES)
  return {
    entered: (program) => [
      '/bin/sh',
      '-c',
      'echo $$ > "$1/cgroup.procs" && shift && exec "$@"',
      'sh',
      directory,
      ...program,
    ],
    isOutOfMemory: () => /^oom_kill [1-9]/m.test(readIn(directory, 'memory.events')),
    remove: () => {
      try {
        rmdirSync(directory)
      } catch {
        // A process of it is still being taken down; the group goes with that of the runner.
      }
    },
  }
}

function readIn(directory: string, file: string): string {
  try {
    return readFileSync(join(directory, file), 'utf8')
  } catch {
    // This kernel does not say.
    return ''
  }
}
