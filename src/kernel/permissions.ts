/** permissions: what a person writes about the permissions of agents. */

/** Differences for one tool, or for all that an entry covers. Absent fields are inherited. */
export interface ToolPermission {
  readonly enabled?: boolean
  /** Absolute directories; null inherits, [] none. */
  readonly allowedPaths?: readonly string[] | null
  /** 0 means no limit. */
  readonly timeoutMs?: number
  /** true asks under every preset; false silences the preset's own question. */
  readonly requiresConfirmation?: boolean
}

/** A preset of the configuration. Source: contracts §1.7; decisions, "presets". */
export interface PresetInput {
  readonly extends?: string
  readonly allowedPaths?: readonly string[] | null
  readonly blockedPaths?: readonly string[]
  /** A list: only hosts that it contains, as `CallLimits.networkDomains` has them. */
  readonly network?: boolean | readonly string[]
  readonly disableTools?: readonly string[]
  readonly tools?: Readonly<Record<string, ToolPermission>>
  readonly defaultToolTimeoutMs?: number
}

/** Differences of an agent from its preset: disabled, then enabled, then single tools. */
export interface PermissionDelta {
  readonly disableTools?: readonly string[]
  readonly enableTools?: readonly string[]
  readonly allowedPaths?: readonly string[] | null
  readonly network?: boolean | readonly string[]
  readonly addBlockedPaths?: readonly string[]
  readonly toolOverrides?: Readonly<Record<string, ToolPermission>>
}
