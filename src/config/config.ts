import type { Diagnostic, JsonObject, PermissionDelta, PresetInput } from '../kernel/index.ts'
import type { MODEL_PROVIDERS } from './schema/schema.ts'
import type { LOADERS } from './schema/skills.ts'

/** The model that the configuration names. Key variables and defaults are the model room's business. */
export interface ModelConfig {
  readonly provider: (typeof MODEL_PROVIDERS)[number]
  readonly name: string
  readonly baseUrl?: string
  /** Absent also when a command gives it: `openSecrets` reads either. */
  readonly apiKey?: string
  /** Whether there is an `apiKey`, be it one that a command gives when it is needed. */
  readonly hasApiKey: boolean
  readonly api?: 'chat' | 'responses'
}

/** Where skills come from besides the standard places. `git` and `registry` are checked but not fetched yet. */
export type SourceConfig =
  | { readonly type: 'local'; readonly path: string; readonly nested?: boolean }
  | {
      readonly type: 'git'
      readonly url: string
      readonly branch?: string
      readonly path?: string
      readonly refresh?: string
    }
  | { readonly type: 'registry'; readonly url: string; readonly auth?: string }

/** Settings of one skill. They apply only to copies from trusted sources. */
export interface SkillEntry {
  readonly enabled?: boolean
  /** Absent also when a command gives it: `openSecrets` reads either. */
  readonly apiKey?: string
  /** Whether there is an `apiKey`, be it one that a command gives when it is needed. */
  readonly hasApiKey: boolean
  readonly env: Readonly<Record<string, string>>
  readonly config: JsonObject
  /** Everything that was left out because what it refers to cannot be had. */
  readonly broken: readonly BrokenReference[]
}

/** A reference that leads nowhere. */
export interface BrokenReference {
  /** Below the entry: `apiKey`, `env.NAME`, `config.…`; of a whole configuration the dotted path. */
  readonly at: string
  /** Completes "the value …": `refers to GH, which is not set`. */
  readonly problem: string
  readonly fix: string
}

export interface SkillsConfig {
  readonly load: { readonly extraDirs: readonly string[]; readonly watch: boolean; readonly watchDebounceMs: number }
  readonly skillDirs: readonly string[]
  readonly disabledSkills: readonly string[]
  /** Groups of built-in tools (`web_search`, `file_ops`, `shell`) that agents have; absent = all. */
  readonly builtin?: readonly string[]
  /** Modules with tools: absolute paths or names of packages, each with `#export` or without. */
  readonly custom: readonly string[]
  readonly sources: readonly SourceConfig[]
  readonly entries: ReadonlyMap<string, SkillEntry>
  readonly surface: readonly (typeof LOADERS)[number][]
  readonly prompt: { readonly budgetChars: number; readonly style: 'markdown' | 'xml' | 'list' | 'names' }
  readonly refreshOnCall: boolean
}

export interface AgentConfig {
  readonly id: string
  /** Preset of permissions; absent where neither the agent nor `permissions.defaultPreset` names one. */
  readonly preset?: string
  /** What is different from the preset. */
  readonly permissions?: PermissionDelta
  /** Absent: all skills; a list: only these; empty: none. */
  readonly skills?: readonly string[]
  readonly instructions?: string
  readonly tools: {
    readonly profile: 'minimal' | 'coding' | 'messaging' | 'full'
    readonly allow: readonly string[]
    readonly ask: readonly string[]
    readonly deny: readonly string[]
  }
  /** Id of another agent, whose rules are evaluated beside those of this one and never decide. */
  readonly shadow?: string
}

export interface PermissionsConfig {
  readonly presets: Readonly<Record<string, PresetInput>>
  /** Tools that a trusted agent confirms besides the usual ones. */
  readonly destructiveTools: readonly string[]
}

export interface ExecutionConfig {
  readonly sandbox: 'local' | 'none'
  readonly timeoutMs: number
  readonly maxOutputBytes: number
  readonly uidBase?: number
  readonly workspace: {
    readonly mode: 'mirror' | 'direct'
    readonly maxFiles?: number
    readonly maxBytes?: number
    /** Protected names that commands may change. */
    readonly writable: readonly string[]
  }
  readonly limits: {
    readonly processes?: number
    readonly openFiles?: number
    readonly fileSizeBytes?: number
    readonly dataBytes?: number
    readonly sharedMemoryBytes?: number
  }
}

/** Where state is kept. Only the user's own file says so. */
export interface StoreConfig {
  readonly type: 'sqlite' | 'postgres' | 'memory'
  /** With sqlite: the file; default in the state directory. */
  readonly path?: string
  /** Whether `store.url` is set; `openSecrets` reads it. */
  readonly hasUrl: boolean
  readonly pool: {
    readonly maxConnections?: number
    readonly connectTimeoutMs?: number
    readonly statementTimeoutMs?: number
    readonly idleTimeoutMs?: number
  }
  /** Which events are kept. */
  readonly events: { readonly maxAgeMs: number; readonly maxRows: number }
}

/** The search service that answers web_search. */
export interface SearchConfig {
  /** Absent: there is no web_search. */
  readonly provider?: 'brave' | 'searxng'
  /** Whether there is an `apiKey`, be it one that a command gives when it is needed. */
  readonly hasApiKey: boolean
  readonly url?: string
  readonly maxResults: number
}

/** All settings, with the defaults filled in; frozen all the way down. */
export interface Config {
  readonly model?: ModelConfig
  readonly skills: SkillsConfig
  readonly agents: readonly AgentConfig[]
  readonly permissions: PermissionsConfig
  readonly tools: { readonly groups: ReadonlyMap<string, readonly string[]>; readonly settings: JsonObject }
  readonly execution: ExecutionConfig
  readonly store: StoreConfig
  /** `openSecrets` reads its key. */
  readonly search: SearchConfig
  /** Tools, groups and patterns that `nexus mcp` offers besides the skill tools and run_command. */
  readonly mcp: { readonly tools: readonly string[] }
  readonly limits: {
    readonly maxIterations: number
    readonly toolTimeoutMs: number
    readonly maxConcurrentTools: number
  }
  /** The merged files as plain data, without defaults: what a skill's `requires.config` asks for. */
  readonly values: JsonObject
}

/** A place in what was read: a file, `command line` or `environment`; without any of them the default holds. */
export interface Origin {
  readonly path: string
  readonly line?: number
  readonly column?: number
  /** What the place is called there: an item of a list may have another number than in all files together. */
  readonly keys?: readonly (string | number)[]
}

/** One file, checked, restricted and resolved. */
export interface Layer {
  readonly path: string
  /** As in the file; an item of a list that does not count leaves a gap (`undefined`), so that the others keep their number. */
  readonly document: JsonObject
  /** Absent for the command line and the environment. */
  readonly text?: string
  /** The file is a profile: one agent, without a list around it. */
  readonly isProfile?: boolean
  /** Where the file says `execution.sandbox`, when that is under another name. */
  readonly sandboxAt?: readonly (string | number)[]
}

/** The configuration of one place, and how it came about. */
export interface LoadedConfig {
  readonly config: Config
  readonly diagnostics: readonly Diagnostic[]
  readonly workspace: {
    /** Real path. */
    readonly directory: string
    /** False also when an edit lost the trust: see `lost`. */
    readonly trusted: boolean
    /** What made it the workspace; absent when nothing did and it is the working directory. */
    readonly marker?: 'nexus.yaml' | '.nexus' | '.git'
    /** Its files that were read, by path: the one found there, and one named by the caller that is inside. */
    readonly files: readonly string[]
    /** Names of settings that were edited since they were trusted; then only the stricter settings of their file apply. */
    readonly lost: readonly string[]
  }
  /** Whether `nexusHome` is part of the workspace, so that what is in it is not the user's word. */
  readonly homeIsWorkspace: boolean
  readonly nexusHome: string
  readonly stateDirectory: string
  /** What was left out because what it refers to cannot be had: values, or the source, server or model around them. */
  readonly broken: readonly BrokenReference[]
  /** The files that were read, in the order of their weight: later ones win. */
  readonly files: readonly string[]
  /** Values that must never be shown: hand them to `createRedactor`. Those of commands come from `openSecrets`. */
  readonly secrets: readonly string[]
  /** What was laid over what, lightest first: for `explainConfig`. */
  readonly layers: readonly Layer[]
  /** The text of a file that was read, secrets and all: never shown. */
  textOf(path: string): string | undefined
}
