import type { SkillSearch } from '../skills/catalog/index.ts'
import {
  type Clock,
  type HostRule,
  type ServiceKey,
  serviceKey,
  type Services,
  type TargetFacts,
} from '../kernel/index.ts'
import type { Loader } from '../skills/load/index.ts'
import type { NetOptions } from '../machine/net/index.ts'
import type { Protecting, Sandbox } from '../machine/sandbox/index.ts'
import type { OutcomeLimits } from './bound.ts'
import type { CommandWords } from './command-words.ts'
import { toolError, TOOLS } from './messages.ts'
import type { SearchSettings } from './web/search-providers.ts'

/** Limits of one command, and the lists of allowed and blocked words. */
export interface ExecutionSettings extends CommandWords {
  /** Default time limit of a command in milliseconds; 30,000 when absent. Source: contracts §3.2. */
  readonly timeoutMs?: number
  /** Longest time a caller may ask for; 600,000 when absent. */
  readonly maxTimeoutMs?: number
  /** Most bytes kept of stdout and of stderr, each; the sandbox's default when absent. */
  readonly maxOutputBytes?: number | undefined
  /** The file in which a person raises `execution.timeoutMs`. */
  readonly settingsFile?: string
  /** The hosts that commands may reach; absent: none. */
  readonly network?: NetworkSettings
  /** Where this machine has a program that commands may not see. */
  readonly findOnHost?: (program: string) => string | undefined
}

/** The hosts of commands. Those of one skill are in its entry. */
export interface NetworkSettings {
  readonly allowed: readonly HostRule[]
  /** They win over all that is allowed. */
  readonly denied: readonly HostRule[]
  /** Nothing is reached, whatever settings and people say. */
  readonly isClosed?: boolean
  /** How hosts are reached: the user's own proxy and certificates. */
  readonly net?: NetOptions
  /** Files with all certificates that programs of commands trust; absent: those of the system. */
  readonly certificates?: readonly string[] | undefined
}

/** Settings of tools that work on files, besides the workspace. */
export interface FileSettings extends Partial<Protecting> {
  /** The directory that `~` means. */
  readonly home?: string
  /** Absolute paths that no tool reads or changes: the home and the state of Nexus. */
  readonly privatePaths?: readonly string[]
  /** Extensions of files that may be read and written, with or without the dot; absent = all. */
  readonly allowedExtensions?: readonly string[]
  /** Most bytes of a file that is read; default 10 MiB. */
  readonly maxReadBytes?: number
  /** Most bytes of a file that a change set can hold; a larger one is changed only when a person agrees. Default: any. */
  readonly maxUndoBytes?: number
  /** Most of a file in one answer; default 1,900 lines and 50,000 bytes, so that the answer is not cut again. */
  readonly answer?: OutcomeLimits
}

/** How the web tools reach the web. */
export interface WebSettings {
  /** Proxy, limits, and in tests lookups and connections. `origins` are addresses of the user's own services that pages may be read from. */
  readonly net?: NetOptions
  /** The service that answers searches; without it there is no web_search. */
  readonly search?: SearchSettings
}

/** Text without secrets, and without the beginning of one where it was cut off. */
export type RedactText = (text: string, isCut: boolean) => string

// The services that the built-in tools use; `SKILL_COMMANDS` is beside its type.
export const LOADER = serviceKey<Loader>('loader')
export const SKILL_SEARCH = serviceKey<SkillSearch>('skillSearch')
export const SANDBOX = serviceKey<Sandbox>('sandbox')
/** Absolute path of the directory that commands work in. */
export const WORKSPACE = serviceKey<string>('workspace')
/** Facts about the place where commands run. */
export const TARGET = serviceKey<Pick<TargetFacts, 'os' | 'network' | 'skillsDirectory'>>('target')
export const FILES = serviceKey<FileSettings>('files')
export const EXECUTION = serviceKey<ExecutionSettings>('execution')
/** The time that tools wait by; the real one when absent. */
export const CLOCK = serviceKey<Clock>('clock')
/** Present where agents may have the web tools. */
export const WEB = serviceKey<WebSettings>('web')
export const REDACT_TEXT = serviceKey<RedactText>('redactText')

/** An empty container for one agent. */
export function createServices(): Services {
  const services = new Map<string, unknown>()
  // A value is only ever set under a key of its own type.
  const read = <T>({ name }: ServiceKey<T>): T | undefined => services.get(name) as T | undefined
  return {
    register: ({ name }, service) => {
      services.set(name, service)
    },
    get: read,
    require: <T>(key: ServiceKey<T>) => {
      if (services.has(key.name)) return read(key) as T
      throw toolError(TOOLS.noService(key.name, [...services.keys()]))
    },
    has: ({ name }) => services.has(name),
    names: () => [...services.keys()],
    unregister: (key) => {
      const service = read(key)
      services.delete(key.name)
      return service
    },
    clear: () => services.clear(),
  }
}
