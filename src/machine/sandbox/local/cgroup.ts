/** cgroup: finds out whether the kernel limits commands, and makes the group of a runner. Tested on plain files only. */
import { accessSync, chownSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { errorCode } from '../../../kernel/index.ts'
import { GROUPS } from '../messages.ts'
import type { CommandLimits } from '../runner/protocol.ts'
import type { LocalSettings } from './options.ts'
import type { Identity, ProjectState } from './state.ts'

/** Where groups are, and in which one a process is: `/sys/fs/cgroup` and the text of `/proc/self/cgroup`. */
export interface GroupPlace {
  readonly root: string
  readonly own: string
}

/** The group that was given to this process, or why there is none, in words. */
export type FoundGroup = { readonly directory: string } | { readonly why: string }

const NEEDED = ['memory', 'pids'] as const

export function ownGroup(): GroupPlace {
  return { root: '/sys/fs/cgroup', own: read('/proc/self/cgroup') }
}

/** Changes nothing. */
export function findGroup({ root, own }: GroupPlace): FoundGroup {
  const path = /^0::(\/.*)$/m.exec(own)?.[1]
  if (path === undefined || read(join(root, 'cgroup.controllers')) === '') return { why: GROUPS.none() }
  const directory = join(root, path)
  const controllers = read(join(directory, 'cgroup.controllers')).split(/\s+/)
  const missing = NEEDED.filter((name) => !controllers.includes(name))
  if (missing.length > 0) return { why: GROUPS.notGiven({ directory, missing: missing.join(', ') }) }
  try {
    for (const name of ['', 'cgroup.procs', 'cgroup.subtree_control']) accessSync(join(directory, name), constants.W_OK)
    // A group that is not delegated belongs to the system, which would change it under us.
    if (path === '/') return { why: GROUPS.whole() }
    return { directory }
  } catch {
    return { why: GROUPS.closed({ directory }) }
  }
}

/** The group for a new runner of this process; undefined where none is given. */
export function openRunnerGroup(
  { isRoot, limits }: LocalSettings,
  { identity }: Pick<ProjectState, 'identity'>,
  liveDirectory: string,
): RunnerGroup | undefined {
  const found = findGroup(ownGroup())
  if ('why' in found) return undefined
  return makeRunnerGroup(found, basename(liveDirectory), { identity: isRoot ? identity : undefined, limits })
}

/** The group of one runner. */
export interface RunnerGroup {
  readonly directory: string
  /** Puts the runner into it. */
  enter(pid: number): void
  remove(): void
}

/**
 * Makes a group for a runner whose user may make groups in it. This process moves into one beside it, as a group with processes has no limits
 * for those below. Undefined where the kernel refuses a step.
 */
export function makeRunnerGroup(
  { directory }: { readonly directory: string },
  name: string,
  { identity, limits }: { readonly identity: Identity | undefined; readonly limits: CommandLimits },
): RunnerGroup | undefined {
  const [beside, group] = [join(directory, 'nexus'), join(directory, `runner-${name}`)]
  const self = join(group, 'self')
  const enable = NEEDED.map((controller) => `+${controller}`).join(' ')
  try {
    makeGroup(beside)
    for (const pid of read(join(directory, 'cgroup.procs')).split('\n').filter(Boolean))
      writeFileSync(join(beside, 'cgroup.procs'), pid)
    writeFileSync(join(directory, 'cgroup.subtree_control'), enable)
    makeGroup(group)
    writeFileSync(join(group, 'memory.max'), String(limits.projectMemoryBytes))
    writeFileSync(join(group, 'pids.max'), String(limits.projectProcesses))
    makeGroup(self)
    writeFileSync(join(group, 'cgroup.subtree_control'), enable)
    if (identity)
      for (const file of ['', 'cgroup.procs', 'cgroup.subtree_control', 'self', 'self/cgroup.procs'])
        chownSync(join(group, file), identity.uid, identity.gid)
  } catch {
    // The sampler limits commands then, as it does anyway.
    return undefined
  }
  return {
    directory: group,
    enter: (pid) => writeFileSync(join(self, 'cgroup.procs'), String(pid)),
    remove: () => {
      for (const each of [self, group]) removeGroup(each)
    },
  }
}

function makeGroup(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}

function removeGroup(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // A process is still in it; an empty group costs nothing.
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // This system has no such group, or does not let us look.
    return ''
  }
}
