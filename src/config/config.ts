import type { Diagnostic, JsonObject, PermissionDelta, PresetInput } from '../kernel/index.ts'
import type { MODEL_PROVIDERS, Settings } from './schema/schema.ts'

/** The model that the configuration names. Key variables and defaults are the model room's business. */
export interface ModelConfig {
  readonly provider: (typeof MODEL_PROVIDERS)[number]
  readonly name: string
  readonly baseUrl?: string
  /** Absent also when a command gives it: `openSecrets` reads either. */
  readonly apiKey?: string | undefined
  /** Whether there is an `apiKey`, be it one that a command gives when it is needed. */
  readonly hasApiKey: boolean
  readonly api?: 'chat' | 'responses'
  /** Most tokens of one request with its answer. */
  readonly contextTokens?: number | undefined
  /** Money for a million tokens. */
  readonly price?:
    | { readonly input: number; readonly output: number; readonly cachedInput?: number | undefined }
    | undefined
}

/** Settings of one skill. They apply only to copies from trusted sources. */
export interface SkillEntry {
  readonly enabled?: boolean
  /** Absent also when a command gives it: `openSecrets` reads either. */
  readonly apiKey?: string | undefined
  /** Whether there is an `apiKey`, be it one that a command gives when it is needed. */
  readonly hasApiKey: boolean
  readonly env: Readonly<Record<string, string>>
  readonly config: JsonObject
  /** Hosts that commands of the skill may reach. */
  readonly network: readonly string[]
  /** The command that installs what it needs. */
  readonly setup?: string
  /** Commands get placeholders for the values of `apiKey` and `env`. */
  readonly isMasked: boolean
  /** Those of `network` that get masked values: the ones that a file of the user names. Absent where nothing is masked. */
  readonly keyHosts?: readonly string[] | undefined
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

export interface AgentConfig extends Omit<NonNullable<Settings['agents']>[number], 'extends' | 'permissions'> {
  /** Differences from the preset. */
  readonly permissions?: PermissionDelta
}

type OwnForm = 'model' | 'skills' | 'agents' | 'permissions' | 'tools' | 'execution' | 'store' | 'search'

/** All settings, with the defaults filled in; frozen all the way down. What needs another form than in a file is named here. */
export interface Config extends Omit<Settings, OwnForm> {
  readonly model?: ModelConfig
  readonly skills: Omit<Settings['skills'], 'entries'> & { readonly entries: ReadonlyMap<string, SkillEntry> }
  readonly agents: readonly AgentConfig[]
  readonly permissions: Omit<Settings['permissions'], 'presets'> & {
    readonly presets: Readonly<Record<string, PresetInput>>
  }
  readonly tools: { readonly groups: ReadonlyMap<string, readonly string[]>; readonly settings: JsonObject }
  readonly execution: Omit<Settings['execution'], 'sandbox'> & { readonly sandbox: 'local' | 'none' }
  /** `openSecrets` reads the address. */
  readonly store: Omit<Settings['store'], 'url'> & { readonly hasUrl: boolean }
  /** `hasApiKey`: be it one that a command gives when it is needed. */
  readonly search: Omit<Settings['search'], 'apiKey'> & { readonly hasApiKey: boolean }
  /** The merged files as plain data, without defaults: what a skill's `requires.config` asks for. */
  readonly values: JsonObject
}

/** A place in what was read: a file, `command line` or `environment`; without any of them the default holds. */
export interface Origin {
  readonly path: string
  readonly line?: number
  readonly column?: number
  /** The place there: an item of a list may have another number than in all files together. */
  readonly keys?: readonly (string | number)[]
}

/** One file, checked, restricted and resolved. */
export interface Layer {
  readonly path: string
  /** With the names of the file; an item of a list that does not count leaves a gap (`undefined`), so that the others keep their number. */
  readonly document: JsonObject
  /** Absent for the command line and the environment. */
  readonly text?: string
  /** A file of the workspace, trusted or not: it says nothing that only the user may say. */
  readonly isWorkspace?: boolean
  /** The file is a profile: one agent, without a list around it. */
  readonly isProfile?: boolean
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
    /** The sign that made it the workspace; absent when nothing did and it is the working directory. */
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
  /** Left out because a reference leads nowhere: values, or the source, server or model around them. */
  readonly broken: readonly BrokenReference[]
  /** The files that were read, in the order of their weight: later ones win. */
  readonly files: readonly string[]
  /** Values that must never be shown: hand them to `createRedactor`. Those of commands come from `openSecrets`. */
  readonly secrets: readonly string[]
  /** All documents, lightest first: for `explainConfig`. */
  readonly layers: readonly Layer[]
  /** A variable of the environment in which it was loaded, as it was then. */
  variable(name: string): string | undefined
  /** The text of a file that was read, secrets and all: never shown. */
  textOf(path: string): string | undefined
}
