/** reached: which limit a command has reached, in words for its result. Pure. */
import type { CommandLimits } from './protocol.ts'
import type { Usage } from './usage.ts'

const MIB = 1024 * 1024

/** One command. Undefined while it is within its limits. */
export function reachedBy(usage: Usage, limits: CommandLimits): string | undefined {
  if (usage.memoryBytes > limits.memoryBytes)
    return note(`all its processes together used more than ${size(limits.memoryBytes)} of memory`, 'memoryBytes')
  if (usage.tasks > limits.processes)
    return note(`it had more than ${limits.processes} processes and threads`, 'processes')
  if (limits.cpuSeconds !== undefined && usage.cpuSeconds > limits.cpuSeconds)
    return note(`it used more than ${limits.cpuSeconds} s of CPU time`, 'cpuSeconds')
  return undefined
}

/** All commands of a project; `by` says of which part they use too much. */
export function reachedTogether(
  all: readonly Usage[],
  { projectMemoryBytes, projectProcesses, projectCpuSeconds }: CommandLimits,
): { readonly note: string; readonly by: keyof Usage } | undefined {
  const sum = (part: keyof Usage): number => all.reduce((total, each) => total + each[part], 0)
  if (sum('memoryBytes') > projectMemoryBytes) {
    const why = `the commands of this project together used more than ${size(projectMemoryBytes)} of memory, this one the most`
    return { by: 'memoryBytes', note: note(why, 'projectMemoryBytes') }
  }
  if (sum('tasks') > projectProcesses) {
    const why = `the commands of this project together had more than ${projectProcesses} processes and threads, this one the most`
    return { by: 'tasks', note: note(why, 'projectProcesses') }
  }
  if (projectCpuSeconds !== undefined && sum('cpuSeconds') > projectCpuSeconds) {
    const why = `the running commands of this project together used more than ${projectCpuSeconds} s of CPU time, this one the most`
    return { by: 'cpuSeconds', note: note(why, 'projectCpuSeconds') }
  }
  return undefined
}

export function reachedDisk(leastBytes: number): string {
  return `Nexus ended the command: less than ${size(leastBytes)} of its disk was left. Free space, or lower execution.limits.freeDiskBytes in ~/.nexus/nexus.yaml.`
}

/** The kernel ended it, in a cgroup. */
export function reachedInGroup(limits: Pick<CommandLimits, 'memoryBytes'>): string {
  return note(`all its processes together used ${size(limits.memoryBytes)} of memory`, 'memoryBytes')
}

function note(why: string, setting: keyof CommandLimits): string {
  return `Nexus ended the command: ${why}. Use less, or raise execution.limits.${setting} in ~/.nexus/nexus.yaml.`
}

function size(bytes: number): string {
  return bytes >= 1024 * MIB ? `${+(bytes / 1024 / MIB).toFixed(1)} GiB` : `${Math.round(bytes / MIB)} MiB`
}
